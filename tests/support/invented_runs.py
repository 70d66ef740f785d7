"""Runs of all four aspects on an invented corpus, with outputs that mean harm among them."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from spor_tasks.core.sample import Hidden, Orders, Sample, Triple
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.copy_rule import COPY_RULE
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE
from spor_tasks.metrics.parent import PARENT, Parent
from tests.support.result_files import rows_of, write_rows

HOSTILE = (
    "</script><script>window.broken = true</script>",
    '<img src=x onerror="window.broken = true"> <b>bold</b> &amp; &lt;i&gt;',
    "Greyport\u202elies by\u2066 the sea\u200b.",
    "half \ud800 a pair, an 😀 astral letter before Cold Sound",
    "| a | b |\r\x1b[31m `x` \\textbf{y} $z$ & 100%_{#}",
    '" onmouseover="window.broken = true" x="',
)
EVIL_MODEL = 'models/</script><img src=x onerror="window.broken=true">\u202e$\\frac'

_TOWNS = ("Greyport", "Saltmere", "Wickham", "Lowdean", "Harl", "Thornby")
_FACTS = (
    ("sea", "Cold Sound"),
    ("harbour", "Old Basin"),
    ("known for", "smoked eel"),
    ("twin town", "Brunnvik"),
)


def town(number, name=None):
    """A sample of two, three or four units."""
    name = name or _TOWNS[number % len(_TOWNS)]
    facts = _FACTS[: 2 + number % 3]
    units = tuple(Triple(name, predicate, told.replace(" ", "_")) for predicate, told in facts)
    told = _tell(name, [unit.object for unit in units])
    category = ("Harbour", "Town")[number % 2]
    return Sample(f"town{number:012d}", "mini", units, (told,), context={"category": category})


def ordered(number):
    sample = town(number)
    given = tuple(range(len(sample.units)))
    return replace(sample, challenge=Orders((given, given[::-1]), (given,)))


def copying(number):
    name = _TOWNS[number % len(_TOWNS)]
    return replace(town(number, "Entity 1"), challenge=Hidden(((name, "Entity 1"),)))


def _tell(name, told):
    return f"{name} has the {' and the '.join(told)}.".replace("_", " ")


def outputs(sample, number):
    """What a run makes of a sample, and what of it in reverse; hostile in every other one."""
    objects = [unit[-1] for unit in sample.units]
    texts = (
        _tell("Greyport", objects),
        HOSTILE[number // 2 % len(HOSTILE)],
        _tell("Entity 1", objects[:-1]),
        HOSTILE[number // 2 % len(HOSTILE)],
        "",
        _tell("Entity 1", objects) + "\nAnd on the next line it goes on.",
        "The town is known for its eel. The town is known for its eel",
    )
    return texts[number % len(texts)], _tell("Greyport", objects[::-1])


class _Task(NamedTuple):
    """A task: the samples by number, the outputs of each, and the metrics."""

    aspect: str
    part: str | None
    arms: tuple[str | None, ...]
    sample: Callable[[int], Sample]
    texts: int
    metrics: tuple[Metric, ...]


def _values(metrics, sample, texts):
    lines = [text.partition("\n")[0] for text in texts]
    judged = (metric.judge_one(sample, *lines).values for metric in metrics)
    return {name: value for values in judged for name, value in values.items()}


_PARENT = (PARENT, Parent(full_table=True))
_TASKS = (
    _Task("systematicity", None, (None, "atom", "combination"), town, 1, _PARENT),
    _Task("order_invariance", "main", ("original", "match"), ordered, 2, (ORDER_INVARIANCE,)),
    _Task("order_invariance", "cwio", ("original", "match"), town, 1, (CWIO,)),
    _Task("rule_learnability", None, (None, "original"), copying, 1, (COPY_RULE,)),
)


def write(folder, count=24, models=("base", EVIL_MODEL)):
    """Write results and samples of every aspect, model and arm; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = [(task, arm, model) for task in _TASKS for arm in task.arms for model in models]
    for number, (task, arm, model) in enumerate(runs):
        file = folder / f"results_{number:02d}.json"
        _write(file, task, arm, model, shift=number, count=count)
    return folder


def _write(file, task, arm, model, *, shift, count):
    name = "_".join(filter(None, ["spor", task.aspect, "mini", task.part]))
    samples = list(map(task.sample, range(count)))
    texts = [outputs(sample, number + shift) for number, sample in enumerate(samples)]
    written = [pair[: task.texts] for pair in texts]
    scores = [_values(task.metrics, *pair) for pair in zip(samples, written, strict=True)]
    settings = {"arm": arm, "task": name, "aspect": task.aspect, "part": task.part}
    write_rows(file, rows_of(samples, written, scores), model=model, **settings)
