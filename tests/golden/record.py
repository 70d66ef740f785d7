# ruff: noqa: E402 - the path is set before imports
"""The net: digests of all that must not change, recorded once and compared after every change.

    python tests/golden/record.py --check [PART…] [--quick] [--only PATTERN]
    python tests/golden/record.py --write [PART…] [--only PATTERN]     # then read the diff

``--check`` prints every key that differs, and exits with 1 if there is one. A part is a function in
``PARTS`` with a file of its own beside this one, which has a line for each key. A key is
`corpus/protocol/aspect…`; a value holds counts, scores and the beginnings of SHA-256 digests, no
text of any corpus. ``--quick`` takes the embedded corpora alone. The folders that SPOR_DATA_DIR,
VIGGO_DATA_DIR, LOGICNLG_DATA_DIR and TABFACT_DATA_DIR name hold the other corpora; keys whose data
is not here are skipped.
"""

import argparse
import fnmatch
import hashlib
import itertools
import json
import os
import random
import sys
import tempfile
from functools import cache, partial
from pathlib import Path

import yaml

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

from spor_tasks.core import named
from spor_tasks.core.codec import to_row
from spor_tasks.core.contracts import Score
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.core.named import benchmark
from spor_tasks.core.sample import views
from spor_tasks.harness import task_files
from spor_tasks.metrics.groups import GROUPS, TWINS, judge_all
from spor_tasks.metrics.learned import ExpressedFacts
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.metrics.scores import metric, metrics_for, over_groups
from spor_tasks.metrics.tally import columns_of
from spor_tasks.prompts.exchanged import twins, with_twins
from spor_tasks.prompts.styles import prompted, prompts_of
from tests.support import compmctg
from tests.support.classifiers import Judge, share_of_words
from tests.support.tiny_bases import save_base
from training.config import parse_config
from training.lora import train
from training.objectives.likelihood import Likelihood as Tuning

EMBEDDED = ("mini", "totto_mini", "logicnlg_mini", "compmctg_mini")
OWN = ("totto", "logicnlg", "compmctg")  # benchmarks without aspects; the others are SPOR's
STYLES = ("causal", "seq2seq", "instruction")


def specs():
    """Yield all sets that are recorded, each split of those that have splits."""
    for spec in named.available():
        name = spec.sets
        on_units = spec.benchmark != "spor" or name.corpus in {"webnlg", "e2e", "viggo", "mini"}
        if on_units and name.protocol != "tabfact" and "discrim" not in name.protocol:
            for part in spec.splits or (name.part,):
                yield benchmark(spec.benchmark).find(**{**name.named, "part": part})


def _is_a_split(spec):
    """Say whether sets are of a split of CompMCTG: all have the same requests, and few a score."""
    return spec.benchmark == "compmctg" and spec.sets.protocol != "original"


def load(spec):
    return benchmark(spec.benchmark).load(spec)


def sha(value):
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:12]


def key_of(spec):
    aspect, corpus, protocol, part = spec.sets.named.values()
    return "/".join(filter(None, [corpus, protocol, None if aspect in OWN else aspect, part]))


# --- Parts ----------------------------------------------------------------------------------------


def some(samples, number=30):
    """Return samples from the first to the last, evenly apart."""
    size = len(samples)
    places = (place * size // number for place in range(number))
    return [samples[place] for place in (places if size > number else range(size))]


def of_samples(samples):
    """Return number, digest of the ids in order, digest of the rows."""
    rows, ids = hashlib.sha256(), []
    for sample in samples:
        row = dict(to_row(sample))
        row.pop("unseen", None)  # of CompMCTG, which a split says of its requests
        rows.update(json.dumps(row, ensure_ascii=False).encode())
        ids.append(sample.id)
    return [len(ids), sha(ids), rows.hexdigest()[:12]]


def sets(spec):
    """Every test set and arm: number, order of ids, rows."""
    pair = load(spec)
    found = {"test": of_samples(pair.test)}
    if spec.benchmark == "compmctg":
        found["unseen"] = sha([s.id for s in pair.test if s.context["unseen"]])
    for arm, samples in pair.arms.items():
        try:
            found[f"arm {arm}"] = of_samples(samples)
        except CorpusError:
            found[f"arm {arm}"] = None  # not here
    if spec.sets.protocol == "twin":
        for arm, samples in with_twins(pair).arms.items():
            found[f"twins {arm}"] = [of_samples(samples), of_samples(twins(samples))]
    return found


def prompts(spec):
    """What a model reads of 30 samples of every test set, in each style."""
    shown = some(load(spec).test)
    return {
        style: sha([prompts_of(prompted(sample, style)) for sample in shown]) for style in STYLES
    }


def rows(spec):
    """The training pairs of every arm, in each style: number, digests of 30 and of all."""
    found = {}
    for (arm, samples), style in itertools.product(load(spec).arms.items(), STYLES[:2]):
        try:
            made = (pair for sample in samples for pair in Tuning.pairs(sample, style))
            pairs = [(pair.prompt, pair.text) for pair in made]
        except CorpusError:
            continue
        found[f"{arm} {style}"] = [len(pairs), sha(some(pairs)), sha(pairs)]
    return found


def demonstrations():
    """What stands before prompts: chosen for each sample, or drawn with ``--num_fewshot 3``."""
    for spec in specs():
        if spec.benchmark == "compmctg" or "c2f" in str(spec.sets.part):
            continue
        for arm in spec.arms if spec.sets.in_context else ():
            yield f"{key_of(spec)}/icl_{arm}", partial(_contexts, spec.task_name(arm), None)
        if spec.sets.in_context:
            yield f"{key_of(spec)}/fewshot", partial(_contexts, spec.task, 3)


def _contexts(task_name, fewshot):
    task = task_files.manager().load(task_name)["tasks"][task_name]
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


def scores(spec):
    """Every score of a task on invented outputs."""
    samples = some(load(spec).test, 200)
    alone = map(_metric, SCORED_ALONE.get(key_of(spec), ()))
    found = {}
    for each in (*metrics_for(spec.judging.scores), *alone):
        write = _likelihood if each.answers == "likelihoods" else _output
        outputs = [
            tuple(write(sample, number) for number, _ in enumerate(views(sample)))
            for sample in samples
        ]
        cut = 40 if "sp_acc" in {info.name for info in each.scores} else None
        found |= judged(each, samples[:cut], outputs[:cut])
    return found


def _metric(name):
    """Return a registered metric; those that need a classifier have one that looks for words."""
    return ExpressedFacts(Judge(share_of_words)) if name == "facts" else metric(name)


def judged(each, samples, outputs):
    """Return each score with a digest of what every output adds to it."""
    has_twins = any(sample.twin is not None for sample in samples)
    own = {info.name for info in each.scores}
    own |= {str(Score(name, TWINS)) for name in own if has_twins}
    all_infos = over_groups(each.scores, (*([TWINS] if has_twins else []), *GROUPS))
    infos = [info for info in all_infos if info.name in own | shown_scores()]
    names = {info.name for info in infos}
    values = [found.values for found in judge_all(each, samples, outputs, names)]
    return {
        info.name: [repr(column.value), sha([found.get(info.name) for found in values])]
        for info, column, _ in columns_of(infos, values)
    }


@cache
def shown_scores():
    """Return the scores of all sets."""
    return {
        str(score)
        for spec in named.available()
        for score in (*spec.judging.scores, *spec.judging.displayed)
    }


def _likelihood(sample, number):
    rng = random.Random(f"{sample.id} {number}")
    log, tokens = -round(rng.uniform(5, 60), 3), rng.randrange(5, 25)
    return Likelihood(log, tokens, 4 * tokens)


def _output(sample, number):
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


def _flat(settings):
    if isinstance(settings, str):
        yield settings
    else:
        yield from itertools.chain.from_iterable(map(_flat, settings))


_FILE = yaml.safe_load((HERE / "trainings.yaml").read_text("utf-8"))
TRAININGS = {name: tuple(_flat(each)) for name, each in _FILE["trainings"].items()}


def losses(base, *settings):
    """The loss of each step of a short training, in nats."""
    with tempfile.TemporaryDirectory() as folder:
        save_base(base, Path(folder, "base"))
        places = (f"model.path={folder}/base", f"output={folder}/adapter")
        tuned = train(parse_config("{}", (*settings, *places)), progress=False)
        return [round(loss, 6) for loss in tuned.losses]


def of_sets(value, wanted):
    """Return what yields a key for all sets that are wanted."""
    return lambda: ((key_of(spec), partial(value, spec)) for spec in specs() if wanted(spec))


PARTS = {
    "sets": of_sets(sets, lambda _: True),
    "prompts": of_sets(prompts, lambda spec: not _is_a_split(spec)),
    # The arms of twins are those of the original sets, and those of splits parts of all texts.
    "rows": of_sets(rows, lambda spec: not _is_a_split(spec) and spec.sets.protocol != "twin"),
    "demonstrations": demonstrations,
    "scores": of_sets(
        scores, lambda spec: not _is_a_split(spec) or spec.sets.corpus == "compmctg_mini"
    ),
    "losses": lambda: ((name, partial(losses, *each)) for name, each in TRAININGS.items()),
}

# --- Data -----------------------------------------------------------------------------------------


def stand_ins(folder):
    """Let golden examples and test cases stand for ToTTo and CompMCTG, which are not at hand."""
    os.environ |= {"TOTTO_DATA_DIR": f"{folder}/totto", "COMPMCTG_DATA_DIR": f"{folder}/compmctg"}
    real = Path(os.environ.get("SPOR_DATA_DIR") or "/nowhere")
    examples = real.parent.parent / "golden/totto/examples.jsonl.gz"
    if examples.is_file():
        lines = [json.dumps(row["example"]) + "\n" for _, row in read_rows(examples)]
        (folder / "totto").mkdir()
        for part in ("train", "dev"):
            (folder / f"totto/totto_{part}_data.jsonl").write_text("".join(lines), "utf-8")
    if (real.parent / "CompMCTG" / "test_cases").is_dir():
        (folder / "compmctg").mkdir()
        compmctg.write_datasets(folder / "compmctg", real)


# --- Recording and comparing ----------------------------------------------------------------------


def compute(part, *, quick, only):
    """Yield keys with their values, None where the data is not here."""
    for key, value in PARTS[part]():
        is_embedded = part == "losses" or key.partition("/")[0] in EMBEDDED
        if (quick and not is_embedded) or not fnmatch.fnmatch(key, only):
            continue
        try:
            found = value()
        except CorpusError:
            found = None
        yield key, json.loads(json.dumps(found))


def read(part):
    path = HERE / f"{part}.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def write(part, recorded):
    lines = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in recorded.items()
    )
    (HERE / f"{part}.json").write_text(f"{{\n{lines}\n}}\n", "utf-8")


def differences(part, *, quick=False, only="*"):
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


def changes(before, now):
    """Yield what of a value differs; what is recorded as missing may be there now."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            other = now.get(key)
            if value is None or other == value or (other is None and key in now):
                continue  # data that is missing here, or was missing there
            yield f"{key} was {value!s:.150}, is {other!s:.150}"
    elif isinstance(before, list) and all(isinstance(each, float) for each in before):
        if len(before) != len(now) or any(
            abs(a - b) > 2e-6 for a, b in zip(before, now, strict=True)
        ):
            yield f"was {before}, is {now}"
    elif before not in {None, now} if isinstance(before, str) else before != now:
        yield f"was {before!s:.150}, is {now!s:.150}"


def main():
    parser = argparse.ArgumentParser(description="Record or compare what must not change.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", nargs="*", choices=[*PARTS, []], metavar="PART")
    action.add_argument("--write", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--quick", action="store_true", help="embedded corpora alone")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="of keys")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stand_ins(Path(folder))
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
