# ruff: noqa: ANN401, PLC0415 - one adapter for modules that will move, imported when needed
"""The net: digests of all that must not change, recorded once and compared after every change.

    python tests/golden/record.py --check [PART…] [--quick] [--only PATTERN]
    python tests/golden/record.py --write [PART…] [--only PATTERN]     # then read the diff
    python tests/golden/record.py --drop PATTERN                       # keys of what was removed

``--check`` prints every key that differs, and exits with 1 if there is one. A part is a function in
``PARTS`` with a file of its own beside this one. A key is `corpus/protocol/aspect…`; a value holds
counts, scores and the beginnings of SHA-256 digests, no text of any corpus. ``--quick`` takes the
embedded corpora alone. The folders that SPOR_DATA_DIR, VIGGO_DATA_DIR, LOGICNLG_DATA_DIR and
TABFACT_DATA_DIR name hold the other corpora; keys whose data is not here are skipped. Only the
first section knows the modules of the library: where these move, change it and nothing else.
"""

import argparse
import difflib
import fnmatch
import hashlib
import itertools
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

EMBEDDED = ("mini", "totto_mini", "logicnlg_mini", "compmctg_mini")
OWN = ("totto", "logicnlg", "compmctg")  # benchmarks without aspects; the others are SPOR's
STYLES = ("causal", "seq2seq", "instruction")
Name: TypeAlias = tuple[str, str, str, str | None]  # aspect, corpus, protocol, part
Style: TypeAlias = Any
Keys: TypeAlias = Iterator[tuple[str, Callable[[], Any]]]  # with what computes the value of each

# --- The library ----------------------------------------------------------------------------------


def set_names() -> Iterator[Name]:
    """Yield the names of all sets that stay."""
    from spor_tasks.core.registry import registry

    for benchmark in registry().names("benchmark"):
        for spec in registry().get("benchmark", benchmark).sets():
            name = spec.name
            on_units = benchmark != "spor" or name.corpus in {"webnlg", "e2e", "viggo", "mini"}
            if on_units and name.protocol != "tabfact" and "discrim" not in name.protocol:
                for part in spec.splits or (name.part,):
                    yield tuple(name._replace(part=part))


def find_set(name: Name) -> Any:
    """Return what a benchmark declares about sets."""
    from spor_tasks.core.sample import SetName

    return _benchmark(name).find(SetName(*name))


def load_set(name: Name) -> Any:
    """Return the sets."""
    from spor_tasks.core.contracts import SetName

    return _benchmark(name).load(SetName(*name))


def _benchmark(name: Name) -> Any:
    from spor_tasks.core.registry import registry

    return registry().get("benchmark", name[0] if name[0] in OWN else "spor")


def row_of(sample: Any) -> dict[str, Any]:
    from spor_tasks.core.codec import to_row

    return dict(to_row(sample))


def prompts_of(sample: Any, style: Style) -> tuple[str, ...]:
    """Return all that a model reads of a sample."""
    from spor_tasks.prompts import styles

    return styles.prompts_of(styles.prompted(sample, style))


def twin_pair(pair: Any) -> Any:
    """Return sets whose arms have only samples with twins; fails where there are none."""
    from spor_tasks.prompts.exchanged import with_twins

    return with_twins(pair)


def twins_of(samples: Iterable[Any]) -> Iterable[Any]:
    from spor_tasks.prompts.exchanged import twins

    return twins(samples)


def training_pairs(arm: Any, style: Style) -> Iterator[tuple[str, str]]:
    from training.data import make_pairs
    from training.objectives.likelihood import Likelihood

    for pair in make_pairs(arm.samples, style, Likelihood.pairs, limit=None, seed=0):
        yield pair.prompt, pair.text


def task_named(name: str) -> Any:
    """Return lm-eval's task."""
    from spor_tasks.harness import task_files

    return task_files.manager().load(name)["tasks"][name]


def metrics_of(scores: Iterable[str]) -> Iterable[Any]:
    """Return the metrics of a task that reports these scores."""
    from spor_tasks.harness.adapt import metrics_for

    return metrics_for(scores)


def metric_named(name: str) -> Any:
    """Return a registered metric; those that need a classifier have one that looks for words."""
    from spor_tasks.metrics.base import metric
    from spor_tasks.metrics.learned import Facts
    from tests.support.classifiers import WordClassifier

    return Facts(WordClassifier()) if name == "facts" else metric(name)


def judged(metric: Any, samples: Sequence[Any], outputs: Sequence[Any]) -> dict[str, Any]:
    """Return each score with a digest of what every output adds to it."""
    from spor_tasks.metrics import base
    from spor_tasks.metrics.groups import TWINS, name_over

    shown = shown_scores()
    has_twins = any(sample.twin is not None for sample in samples)
    own = {info.name for info in metric.scores}
    own |= {name_over(name, TWINS) for name in own if has_twins}
    all_infos = base.with_groups(metric.scores, has_twins=has_twins)
    infos = [info for info in all_infos if info.name in own | shown]
    names = {info.name for info in infos}
    tally = base.Tally(infos)
    values = [each.values for each in base.judge_all(metric, samples, outputs, names)]
    for of_sample in values:
        tally.add(of_sample)
    return {
        score.name: [repr(score.value), sha([each.get(score.name) for each in values])]
        for score in tally.scores("")
    }


@cache
def shown_scores() -> set[str]:
    """Return the scores of all sets."""
    from spor_tasks.core.registry import registry

    benchmarks = (registry().get("benchmark", name) for name in registry().names("benchmark"))
    specs = (spec for each in benchmarks for spec in each.sets())
    return {name for spec in specs for name in (*spec.scores, *spec.displayed)}


def likelihoods_asked(metric: Any) -> bool:
    return str(metric.answers) == "likelihoods"


def likelihood(log: float, tokens: int) -> Any:
    from spor_tasks.metrics.likelihood import Likelihood

    return Likelihood(log, tokens, 4 * tokens)


def scored_file(path: Path, metric: str, corpus: str) -> dict[str, str]:
    """Return the scores of `spor score`."""
    from spor_tasks.evaluation import scoring

    return {each.name: repr(each.value) for each in scoring.score(path, metric, corpus).scores}


def losses_of(settings: Sequence[str]) -> list[float]:
    """Return the losses of a short training, on the tiny random base in the folder."""
    from training.config import parse_config
    from training.lora import train

    return list(train(parse_config("{}", settings), progress=False).losses)


def save_base(name: str, folder: Path) -> None:
    from tests.support.tiny_bases import save_base

    save_base(name, folder)


def spor(*arguments: str) -> None:
    """Run a command of `spor`."""
    import contextlib
    import io

    from spor_tasks.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        status = main(arguments)
    assert status in {0, 1}, arguments


def missing_data() -> Any:
    from spor_tasks.core.errors import CorpusError

    return CorpusError


# --- Parts ----------------------------------------------------------------------------------------


def sha(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:12]


def key_of(name: Name) -> str:
    aspect, corpus, protocol, part = name
    return "/".join(filter(None, [corpus, protocol, None if aspect in OWN else aspect, part]))


def some(samples: Sequence[Any], number: int = 30) -> list[Any]:
    """Return samples from the first to the last, evenly apart."""
    size = len(samples)
    return (
        [samples[place * size // number] for place in range(number)]
        if size > number
        else [*samples]
    )


def of_samples(samples: Iterable[Any]) -> list[Any]:
    """Return number, digest of the ids in order, digest of the rows."""
    rows, ids = hashlib.sha256(), []
    for sample in samples:
        row = row_of(sample)
        row.pop("unseen", None)  # of CompMCTG, which a split says of its requests
        rows.update(json.dumps(row, ensure_ascii=False).encode())
        ids.append(sample.id)
    return [len(ids), sha(ids), rows.hexdigest()[:12]]


def sets() -> Keys:
    """Every test set and arm: number, order of ids, rows."""
    for name in set_names():
        yield key_of(name), partial(_set, name)


def _set(name: Name) -> dict[str, Any]:
    pair = load_set(name)
    found: dict[str, Any] = {"test": of_samples(pair.test.samples)}
    if name[0] == "compmctg":
        found["unseen"] = sha([s.id for s in pair.test.samples if s.context["unseen"]])
    for arm in pair.arms:
        try:
            found[f"arm {arm.name}"] = of_samples(arm.samples)
        except missing_data():
            found[f"arm {arm.name}"] = None  # not here
    if name[2] == "twin":
        for arm in twin_pair(pair).arms:
            found[f"twins {arm.name}"] = [
                of_samples(arm.samples),
                of_samples(twins_of(arm.samples)),
            ]
    return found


def prompts() -> Keys:
    """What a model reads of 30 samples of every test set, in each style."""
    for name in set_names():
        if name[0] != "compmctg" or name[2] == "original":  # all splits ask for the same
            yield key_of(name), partial(_prompts, name)


def _prompts(name: Name) -> dict[str, str]:
    shown = some(load_set(name).test.samples)
    return {style: sha([prompts_of(sample, style) for sample in shown]) for style in STYLES}


def rows() -> Keys:
    """The training pairs of every arm, in each style: number, digests of 30 and of all."""
    for name in set_names():
        # The arms of twins are those of the original sets, and those of splits parts of all texts.
        if name[2] != "twin" and (name[0] != "compmctg" or name[2] == "original"):
            yield key_of(name), partial(_rows, name)


def _rows(name: Name) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for arm, style in itertools.product(load_set(name).arms, STYLES[:2]):
        try:
            pairs = list(training_pairs(arm, style))
        except missing_data():
            continue
        found[f"{arm.name} {style}"] = [len(pairs), sha(some(pairs)), sha(pairs)]
    return found


def demonstrations() -> Keys:
    """What stands before prompts: chosen for each sample, or drawn with ``--num_fewshot 3``."""
    for name in set_names():
        spec = find_set(name)
        if name[0] == "compmctg" or "c2f" in str(name[3]):
            continue
        for arm in spec.arms if spec.in_context else ():
            yield f"{key_of(name)}/icl_{arm}", partial(_contexts, spec.task_name(arm), None)
        if spec.in_context:
            yield f"{key_of(name)}/fewshot", partial(_contexts, spec.task, 3)


def _contexts(task_name: str, fewshot: int | None) -> dict[str, Any]:
    task = task_named(task_name)
    if fewshot:
        task.set_config("num_fewshot", fewshot)
        task.set_fewshot_seed(1234)
    docs = task.eval_docs
    chosen = [
        [[each["id"] for each in doc.get(field) or ()] for doc in docs]
        for field in ("demonstrations", "demonstrations_twin")
    ]
    read = [
        task.fewshot_context(doc, num_fewshot=task.config.num_fewshot) for doc in some(docs, 10)
    ]
    return {
        "docs": [len(docs), sha(list(docs["id"]))],
        "chosen": sha(chosen),
        "contexts": sha(read),
    }


SCORED_ALONE = {
    "logicnlg_mini/published": ("sp_acc", "truth"),
    "logicnlg/published": ("sp_acc",),
    "mini/strict/systematicity": ("facts",),
    "compmctg_mini/original": ("distinct", "mini_attributes"),
}


def scores() -> Keys:
    """Every score of a task on invented outputs, and those of the golden files."""
    for name in set_names():
        if name[0] != "compmctg" or name[2] == "original" or name[1] == "compmctg_mini":
            yield key_of(name), partial(_scores, name)
    yield from _golden_scores()


def _scores(name: Name) -> dict[str, Any]:
    spec, pair = find_set(name), load_set(name)
    samples = some(pair.test.samples, 200)
    alone = map(metric_named, SCORED_ALONE.get(key_of(name), ()))
    found: dict[str, Any] = {}
    for metric in (*metrics_of(spec.scores), *alone):
        write = _likelihood if likelihoods_asked(metric) else _output
        outputs = [
            tuple(write(sample, number) for number, _ in enumerate(prompts_of(sample, "causal")))
            for sample in samples
        ]
        cut = 40 if "sp_acc" in {info.name for info in metric.scores} else None
        found |= judged(metric, samples[:cut], outputs[:cut])
    return found


def _likelihood(sample: Any, number: int) -> Any:
    rng = random.Random(f"{sample.id} {number}")
    return likelihood(-round(rng.uniform(5, 60), 3), rng.randrange(5, 25))


def _output(sample: Any, number: int) -> str:
    """Return a reference, a part of it, one out of order, the words of the units, or nothing."""
    rng = random.Random(f"{sample.id} {number}")
    text = str(sample.references[0] if sample.references else sample.context.get("prefix", ""))
    words = text.split() or [" ".join(unit) for unit in sample.units]
    match rng.randrange(6):
        case 0 | 1:
            return " ".join(words)
        case 2:
            return " ".join(words[: len(words) // 2])
        case 3:
            return " ".join(rng.sample(words, len(words)))
        case 4:
            return " ".join(part.replace("_", " ") for unit in sample.units for part in unit)
    return ""


def _golden_scores() -> Keys:
    folder = golden_folder()
    for kind, metric in (
        ("parent", "parent"),
        ("order", "order"),
        ("cwio", "cwio"),
        ("rule", "copy_rule"),
    ):
        for corpus in ("webnlg", "e2e"):
            file = folder / f"{kind}_{corpus}.jsonl.gz"
            yield f"golden/{kind}_{corpus}", partial(_of_file, file, metric, corpus)
    for system in ("GPT_gpt2_12.65", "field_infusing"):
        outputs = data("LOGICNLG_DATA_DIR") / "outputs" / f"{system}.json"
        yield f"golden/{system}", partial(_of_file, outputs, "logicnlg_bleu", "logicnlg")
    yield "golden/totto", partial(_totto, folder / "totto")


def _of_file(file: Path, metric: str, corpus: str) -> dict[str, str]:
    if not file.is_file():
        raise missing_data()("is not here", where=file)
    return scored_file(file, metric, corpus)


def _totto(folder: Path) -> dict[str, Any]:
    """Score the golden predictions, of which each file has some of the golden examples."""
    name = ("totto", "totto", "published", None)
    spec, samples = find_set(name), list(load_set(name).test.samples)
    files: dict[str, list[Any]] = {}
    for row in read_gzip(folder / "predictions.jsonl.gz"):
        files.setdefault(row["file"], []).append((samples[row["id"]], (row["prediction"],)))
    return {
        f"{file} {name}": value
        for file, of_file in files.items()
        for metric in metrics_of(spec.scores)
        for name, value in judged(metric, *zip(*of_file, strict=True)).items()
    }


_SHORT = (
    *("optimization.max_steps=6", "optimization.epochs=null", "optimization.learning_rate=1e-2"),
    "selection.policy=last",
)
_MINI = ("data.aspect=systematicity", "data.corpus=mini", "data.arm=atom", *_SHORT)
_LOGIC = ("data.aspect=logicnlg", "data.corpus=logicnlg_mini", "data.arm=train", *_SHORT)
_MCTG = (
    *("data.aspect=compmctg", "data.corpus=compmctg_mini", "data.arm=train", "data.protocol=acd"),
    *("data.part='0'", "optimization.batch_size=8", *_SHORT),
)
_PUBLISHED = (
    *("optimization.clip_norm=1.0", "optimization.schedule=linear", "optimization.warmup=0.25"),
    *("optimization.optimizer=transformers", "optimization.weight_decay=0.01"),
)
_DCG = "{contrasts: 3, code_vectors: 2, task_vectors: 3}"
_PREFIX = "{contrasts: 3, length: 2, width: 3}"
TRAININGS: Mapping[str, tuple[str, ...]] = {
    **{f"lora/{base}": (base, *_MINI) for base in ("gpt2", "llama", "t5", "bart")},
    "lora/all-linear": ("llama", *_MINI, "lora.target_modules=all-linear", "lora.lora_dropout=0.3"),
    "lora/packing": ("llama", *_MINI, "optimization.packing=true"),
    "lora/grouped": ("llama", *_MINI, "optimization.group_by_length=true", "data.limit=60"),
    "lora/accumulated": ("llama", *_MINI, "optimization.gradient_accumulation=2"),
    "lora/bfloat16": ("llama", *_MINI, "optimization.precision=bfloat16"),
    "lora/seed": ("llama", *_MINI, "optimization.seed=3"),
    "full": ("llama", *_MINI, "method=full", *_PUBLISHED),
    "totto": (
        *("llama", "data.aspect=totto", "data.corpus=totto_mini", "data.arm=train", *_SHORT),
        *("optimization.cut=right", "optimization.max_length=120", "method=full"),
    ),
    "logicnlg": ("gpt2", *_LOGIC),
    "adversarial": ("gpt2", *_LOGIC, "objective=adversarial"),
    "reward": (
        "gpt2",
        *_LOGIC,
        "objective=reward",
        "objective_settings={reward: truth, max_tokens: 4}",
    ),
    "coarse_to_fine": (
        *("gpt2", *_LOGIC, "data.part=c2f", "data.limit=24", "optimization.batch_size=16"),
        *("objective=coarse_to_fine", "objective_settings={template_epochs: 1}"),
    ),
    "compmctg": ("gpt2", *_MCTG),
    "dcg": ("gpt2", *_MCTG, "method=codes", "objective=dcg", f"objective_settings={_DCG}"),
    "contrastive_prefix": (
        *("gpt2", *_MCTG, "method=codes", "objective=contrastive_prefix"),
        f"objective_settings={_PREFIX}",
    ),
    "meta": ("gpt2", *_MCTG, "objective=meta", "objective_settings={weight: 0.5}"),
    "meta/published": (
        *("gpt2", *_MCTG, *_PUBLISHED, "objective=meta"),
        "objective_settings={weight: 0.5, variant: published, sample_combinations: 2}",
    ),
    "meta/dcg": (
        *("gpt2", *_MCTG, "method=codes", "objective=meta"),
        f"objective_settings={{weight: 0.5, of: dcg, of_settings: {_DCG}}}",
    ),
    "meta/contrastive_prefix": (
        *("gpt2", *_MCTG, "method=codes", "objective=meta"),
        f"objective_settings={{weight: 0.5, of: contrastive_prefix, of_settings: {_PREFIX}}}",
    ),
}


def losses() -> Keys:
    """The loss of each step of short trainings, of every objective, in nats."""
    for name, (base, *settings) in TRAININGS.items():
        yield name, partial(_losses, base, settings)


def _losses(base: str, settings: Sequence[str]) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        save_base(base, Path(folder, "base"))
        places = (f"model.path={folder}/base", f"output={folder}/adapter")
        return [round(loss, 6) for loss in losses_of((*settings, *places))]


BASELINES = (
    ("copy-input", ("spor_mini", "totto_mini", "logicnlg_mini", "compmctg_mini_original")),
    ("nearest-training-text", ("spor_mini", "totto_mini", "logicnlg_mini")),
)


def report() -> Keys:
    """The report of systems without a model, on the embedded corpora of all four benchmarks."""
    yield "report", _report


def _report() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        for name, tasks in BASELINES:
            spor("baseline", name, *tasks, "--limit", "40", "--results", f"{folder}/results")
        spor("report", f"{folder}/results", "--out", f"{folder}/report")
        files = [Path(folder, "report", name) for name in NAMED]
        texts = {file.name: file.read_text("utf-8").splitlines() for file in files}
    return {name: texts[name] if name.endswith(".md") else sha(texts[name]) for name in NAMED}


NAMED = ("report.md", "report.tex", "report.csv")
PARTS = {
    part.__name__: part for part in (sets, prompts, rows, demonstrations, scores, losses, report)
}

# --- Data -----------------------------------------------------------------------------------------


def data(variable: str) -> Path:
    return Path(os.environ.get(variable) or "/nowhere")


def golden_folder() -> Path:
    return data("SPOR_DATA_DIR").parent.parent / "golden"


def read_gzip(path: Path) -> Iterator[dict[str, Any]]:
    import gzip

    if not path.is_file():
        raise missing_data()("is not here", where=path)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def stand_ins(folder: Path) -> None:
    """Let golden examples and test cases stand for ToTTo and CompMCTG, which are not at hand."""
    os.environ |= {"TOTTO_DATA_DIR": f"{folder}/totto", "COMPMCTG_DATA_DIR": f"{folder}/compmctg"}
    examples, cases = golden_folder() / "totto/examples.jsonl.gz", data("SPOR_DATA_DIR").parent
    if examples.is_file():
        lines = [json.dumps(row["example"]) + "\n" for row in read_gzip(examples)]
        (folder / "totto").mkdir()
        for part in ("train", "dev"):
            (folder / f"totto/totto_{part}_data.jsonl").write_text("".join(lines), "utf-8")
    for file in (cases / "CompMCTG/test_cases").glob("cases_*.jsonl"):
        place = folder / "compmctg" / file.stem.removeprefix("cases_")
        place.mkdir(parents=True)
        rows = map(json.loads, file.read_text("utf-8").splitlines())
        texts = [json.dumps({"review": row.pop("text"), **row}) + "\n" for row in rows]
        (place / "gen.jsonl").write_text("".join(texts), "utf-8")


# --- Recording and comparing ----------------------------------------------------------------------


def compute(part: str, *, quick: bool, only: str) -> Iterator[tuple[str, Any]]:
    """Yield keys with their values, None where the data is not here."""
    for key, value in PARTS[part]():
        is_embedded = part in {"losses", "report"} or key.partition("/")[0] in EMBEDDED
        if (quick and not is_embedded) or not fnmatch.fnmatch(key, only):
            continue
        try:
            found = value()
        except missing_data():
            found = None
        yield key, json.loads(json.dumps(found))


def read(part: str) -> dict[str, Any]:
    path = HERE / f"{part}.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def write(part: str, recorded: Mapping[str, Any]) -> None:
    lines = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in recorded.items()
    )
    (HERE / f"{part}.json").write_text(f"{{\n{lines}\n}}\n", "utf-8")


def differences(part: str, *, quick: bool = False, only: str = "*") -> list[str]:
    """Return the recorded keys whose values are others now, or that are no longer there."""
    recorded = {key: value for key, value in read(part).items() if fnmatch.fnmatch(key, only)}
    found = dict(compute(part, quick=quick, only=only))
    gone = [] if quick else [f"{part} {key}: is gone" for key in recorded if key not in found]
    changed = [
        f"{part} {key}: {inner}"
        for key, value in recorded.items()
        if found.get(key) is not None
        for inner in changes(value, found[key])
    ]
    return gone + changed


def changes(before: Any, now: Any) -> Iterator[str]:
    """Yield what of a value differs; what is recorded as missing may be there now."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            other = now.get(key)
            if value is None or other == value or (other is None and key in now):
                continue  # data that is missing here, or was missing there
            if key == "report.md":
                yield from list(difflib.unified_diff(value, other or [], lineterm="", n=0))[2:40]
                continue
            yield f"{key} was {value!s:.150}, is {other!s:.150}"
    elif isinstance(before, list) and all(isinstance(each, float) for each in before):
        if len(before) != len(now) or any(
            abs(a - b) > 2e-6 for a, b in zip(before, now, strict=True)
        ):
            yield f"was {before}, is {now}"
    elif before not in {None, now} if isinstance(before, str) else before != now:
        yield f"was {before!s:.150}, is {now!s:.150}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Record or compare what must not change.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", nargs="*", choices=[*PARTS, []], metavar="PART")
    action.add_argument("--write", nargs="*", choices=[*PARTS, []], metavar="PART")
    action.add_argument("--drop", metavar="PATTERN")
    parser.add_argument("--quick", action="store_true", help="embedded corpora alone")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="of keys")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stand_ins(Path(folder))
        if options.drop:
            for part in PARTS:
                kept = {k: v for k, v in read(part).items() if not fnmatch.fnmatch(k, options.drop)}
                write(part, kept)
            return 0
        if options.write is not None:
            for part in options.write or PARTS:
                for key, value in compute(part, quick=options.quick, only=options.only):
                    if value is not None:
                        write(part, read(part) | {key: value})
            return 0
        found = [
            line
            for part in options.check or PARTS
            for line in differences(part, quick=options.quick, only=options.only)
        ]
    print("\n".join(found) or "equal")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
