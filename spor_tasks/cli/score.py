"""`spor score`: score a file of outputs, without lm-eval."""

import argparse
import dataclasses
import gc
import json
import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spor_tasks.cli.arguments import add_include_path, positive
from spor_tasks.cli.following import given, then
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import require_new, write_rows, writing
from spor_tasks.core.registry import registry
from spor_tasks.core.terminal import columns
from spor_tasks.core.visible import visible
from spor_tasks.text import filters

if TYPE_CHECKING:
    from spor_tasks.evaluation.score import Difference, Result
    from spor_tasks.metrics.base import Metric

HELP = "score a file of outputs, without lm-eval"

_INTRODUCTION = """\
Score files of outputs, without lm-eval, as in

  spor score out.txt --task spor_systematicity_e2e
  spor score ours.txt theirs.txt --references testset_w_refs.csv --metric parent,chrf
  spor score outputs.jsonl --corpus webnlg --metric parent --interval

Each FILE has the outputs of one system. All systems stand in one table; each further one is
compared with the first by paired tests. Of a task, or of a file of references, a FILE is plain text
with a line for each sample, in their order. A sample with two prompts, or with a twin, has as many
lines, one after another. Rows of JSON that have an `output` may stand for lines.

Otherwise FILE is JSON Lines or a JSON list. Each line is a sample in the published fields with its
`output`:

  {"data": [["Ada", "born in", "Low"]], "texts": ["Ada was born in Low."], "output": "Low is hers."}

`spor baseline copy-input TASK --out FILE` writes such lines, with outputs to replace. A file
samples_*.jsonl of lm-eval's --log_samples is read as well. The metric order reads `output_1` and
`output_2`; a sample with a `twin` has twice as many. Some corpora read other forms too:

  logicnlg                a .json file of the published format
  totto                   a .txt file without --references is for the development set
  fyelp amazon yelp       lines with a `text` and a value for each aspect
  mixture compmctg_mini

Files may be gzipped, and `-` is standard input. `spor tasks list` names the tasks of each corpus,
and `spor tasks show TASK` the metrics of one, which are the default of --metric with --task."""

_MODELS = ("model", "label", "device", "batch_size", "classifiers", "ppl_model")
"""The options of the models that some metrics need."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = _INTRODUCTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="the outputs of a system, as above"
    )
    parser.add_argument(
        "--task", metavar="NAME", help="the task that they are outputs of, with its scores"
    )
    add_include_path(parser)
    names = registry().names
    parser.add_argument(
        "--metric",
        type=lambda text: text.split(","),
        metavar="NAME,…",
        help=f"one or more of {', '.join(names('metric'))} (default: those of the task)",
    )
    parser.add_argument(
        "--corpus",
        metavar="NAME_OR_FILE",
        help=f"one of {', '.join(names('corpus'))}; or a file with a corpus of your own, whose "
        "test samples (or all, if none are marked) the outputs are for",
    )
    parser.add_argument(
        "--references",
        type=Path,
        metavar="EXAMPLES",
        help="the samples to which the lines of FILE are the outputs: in the corpus's own format, "
        "or in any that `spor tasks make` reads. Of fyelp, amazon, yelp, mixture and "
        "compmctg_mini: a row of `unseen.jsonl`, which says what training left out",
    )
    parser.add_argument(
        "--lang", metavar="CODE", help="the language of the texts in XML that has several, as `ru`"
    )
    parser.add_argument(
        "--lowercase", action="store_true", help="score outputs and references in lower case"
    )
    parser.add_argument(
        "--filter",
        type=lambda text: () if text == "none" else tuple(text.split(",")),
        metavar="NAME,…",
        help="what to cut from each output before it is scored, in this order: "
        f"{', '.join(filters.FILTERS)} (default: {filters.DEFAULT[0]}, as in the tasks, and "
        "none of CompMCTG); `none` scores the whole output",
    )
    parser.add_argument(
        "--per-sample",
        type=Path,
        metavar="OUT",
        help="write each row with its scores to this file; of several FILEs, with its `system`",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace an existing file of --per-sample"
    )
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FILE2",
        help="the outputs of the system that all are compared with (default: the first FILE)",
    )
    parser.add_argument("--interval", action="store_true", help="add 95 %% intervals")
    parser.add_argument("--json", action="store_true", help="print JSON, with signatures")
    judges = parser.add_argument_group(
        "models as judges", "what judges a text in the metrics facts, nli_acc, bleurt and mctg_ppl"
    )
    judges.add_argument(
        "--model", metavar="PATH_OR_NAME", help="its folder, or its name on the hub"
    )
    judges.add_argument(
        "--label", help="its class that means yes, if the checkpoint does not name it"
    )
    judges.add_argument(
        "--device", help="its device (default: a GPU if there is one, else the CPU)"
    )
    judges.add_argument("--batch-size", type=positive, metavar="N", help="its batch size, 32")
    judges.add_argument(
        "--classifiers",
        metavar="FOLDER",
        help="metric compmctg: has a folder with a classifier for each aspect",
    )
    judges.add_argument(
        "--ppl-model",
        metavar="PATH_OR_NAME",
        help="metric compmctg: a causal model, for perplexity too",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Score the outputs, and print the scores with their signatures."""
    from spor_tasks.evaluation.score import score

    read = filter(None, (*options.files, options.compare, options.references, options.corpus))
    out: Path | None = options.per_sample
    if out and any(Path(file).exists() and out.exists() and out.samefile(file) for file in read):
        what, remedy = "is read, too, and would be replaced", "Name another file."
        raise ConfigError(what, where=out, remedy=remedy)
    require_new(out, overwrite=options.overwrite)
    gc.disable()  # all rows stay to the end: a sixth of the time would go into looking for others
    try:
        result = score(
            options.files,
            task=options.task,
            metrics=_metrics(options),
            corpus=options.corpus,
            references=options.references,
            lang=options.lang,
            include=options.include_path,
            baseline=options.compare,
            filters=options.filter,
            lowercase=options.lowercase,
            intervals=options.interval,
        )
    finally:
        gc.enable()
    systems = result.systems[: len(options.files)]
    if options.per_sample:
        named = len(systems) > 1
        rows = (
            {"system": system.name, **row} if named else row
            for system in systems
            for row in system.evidence()
        )
        with writing(options.per_sample):
            write_rows(options.per_sample, rows)
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if options.json:
        print(json.dumps(_row(result), indent=2))
    else:
        _print(result, intervals=options.interval)
    if options.per_sample:
        print(visible(options.per_sample), file=sys.stderr if options.json else sys.stdout)
    if not (options.interval or result.comparisons):
        same = [*given(options, "task", "corpus", "references", "lang", *_MODELS)]
        if options.metric:
            same += ["--metric", ",".join(options.metric)]
        if options.filter is not None:
            same += ["--filter", ",".join(options.filter) or "none"]
        if options.include_path:
            same += ["--include_path", options.include_path]
        same += ["--lowercase"] if options.lowercase else []
        then("spor", "score", *options.files, "OTHER", *same)


def _metrics(options: argparse.Namespace) -> "list[str | Metric]":
    """Return the metrics that are asked for, with their models.

    Raises:
        ConfigError: a model is given that no metric takes, or several.
    """
    from spor_tasks.evaluation.score import metric, takes_model

    asked: list[str | Metric] = [*(options.metric or ())]
    told = {key: getattr(options, key) for key in _MODELS if key != "ppl_model"}
    settings = {key: value for key, value in told.items() if value is not None}
    own = {key: settings[key] for key in ("device", "batch_size") if key in settings}
    if "compmctg" in asked:  # accuracy, if there are classifiers, beside Dist-3 and perplexity
        place = asked.index("compmctg")
        asked.insert(place + 1, "distinct")
        if options.ppl_model:
            asked.insert(place + 1, metric("mctg_ppl", model=options.ppl_model, **own))
        if settings == own:
            print(
                "Accuracy was not measured: name classifiers with --classifiers.", file=sys.stderr
            )
            del asked[place]
            settings = {}
    elif options.ppl_model:
        what = "only the metric compmctg takes --ppl-model"
        raise ConfigError(what, remedy="Add --metric compmctg.")
    if not settings:
        return asked
    takers = [name for name in asked if isinstance(name, str) and takes_model(name)]
    if len(takers) > 1:
        what = f"{' and '.join(takers)} take models of their own"
        raise ConfigError(what, where="model", remedy="Score them one after another.")
    if not asked:
        raise ConfigError("no metric is named", where=min(settings), remedy="Add --metric.")
    name = str((takers or options.metric)[0])
    judge = metric(name, **settings)
    return [judge if each == name else each for each in asked]


_COLUMNS = {
    "score  ": "<28",
    "system": "<12",
    "value": ">12",
    "n": ">9",
    "unscored": ">10",
    "95 % interval": ">24",
    "difference": ">13",
    "its interval": ">24",
    "p": ">9",
    "Holm's p": ">10",
}
"""The columns of the table, with how their cells are aligned."""

_OF_SEVERAL = {"system", "difference", "its interval", "p", "Holm's p"}


def _interval(ends: Sequence[float] | None, form: str) -> str:
    return " to ".join(format(end, form) for end in ends or ())


def _table(result: "Result", *, intervals: bool) -> str:
    """Return the scores of each system, and how far each is from the baseline's."""
    compared = {(each.score, each.system): each for each in result.comparisons}
    scores = {(each.name, system.name): each for system in result.systems for each in system.scores}
    has_short_names = len({Path(each.name).name for each in result.systems}) == len(result.systems)
    hidden = ({*()} if intervals else {"95 % interval"}) | ({*()} if compared else _OF_SEVERAL)
    heads = [head for head in _COLUMNS if head not in hidden]
    lines = [heads]
    for name in dict.fromkeys(name for name, _ in scores):
        for system in (each.name for each in result.systems if (name, each.name) in scores):
            score, found = scores[name, system], compared.get((name, system))
            row = {
                "score  ": f"{name}  ",
                "system": Path(system).name if has_short_names else system,
                "value": f"{score.value:.4f}",
                "n": f"{score.n:,}",
                "unscored": f"{score.unscored:,}",
                "95 % interval": _interval(score.interval, ".4f"),
                **(_difference(found) if found else {}),
            }
            lines.append([row.get(head, "") for head in heads])
    return columns(lines, *(_COLUMNS[head] for head in heads))


def _difference(found: "Difference") -> dict[str, str]:
    """Return the cells of a difference from the baseline."""
    from spor_tasks.report.grid import p_text  # slow to import

    ends = found.estimate.interval
    return {
        "difference": f"{found.estimate.value:+.4f}",
        "its interval": _interval((ends.low, ends.high) if ends else (), "+.4f"),
        "p": p_text(found.estimate.p),
        "Holm's p": p_text(found.holm),
    }


def _print(result: "Result", *, intervals: bool) -> None:
    """Print the table, and what it rests on."""
    print(_table(result, intervals=intervals))
    if result.comparisons:
        baseline = result.comparisons[0].baseline
        tests = sum(each.holm is not None for each in result.comparisons)
        print(
            f"\nDifferences are from {baseline}, on the samples that both have values for. Holm's "
            f"p is adjusted for all {tests:,} tests of this table."
        )
    if intervals or result.comparisons:
        exact = {each.score: None for each in result.comparisons if each.is_exact}
        alone = f" Those of {', '.join(exact)} are exact (McNemar)." if exact else ""
        print(
            "\nIntervals and p resample whole clusters, of samples with equal units or one table: "
            f"{result.samples:,} samples in {result.clusters:,} clusters.{alone}"
        )
    noted: dict[str, dict[str, None]] = defaultdict(dict)
    for each in result.comparisons:
        for note in (each.estimate.reason, *each.estimate.notes):
            if note:
                noted[note][each.score] = None
    for score in (score for system in result.systems for score in system.scores if score.reason):
        noted[str(score.reason)][score.name] = None
    for note, names in noted.items():
        print(f"{note.capitalize()} ({', '.join(names)}).")
    if result.left_out:
        from spor_tasks.aspects.references import NO_REFERENCES

        print(f"\n{result.left_out:,} {NO_REFERENCES}.")
    print()
    signatures = (score.signature for system in result.systems for score in system.scores)
    for signature in dict.fromkeys(signatures):
        print(visible(signature))


def _row(result: "Result") -> dict[str, Any]:
    """Return the result as JSON: a row for each score of each system, and for each difference."""
    row = {
        name: getattr(result, name)
        for name in ("task", "metrics", "corpus", "samples", "clusters", "samples_sha256")
    }
    row["scores"] = [
        {
            "system": system.name,
            **dataclasses.asdict(score),
            "value": None if math.isnan(score.value) else score.value,
        }
        for system in result.systems
        for score in system.scores
    ]
    row["comparisons"] = []
    for each in result.comparisons:
        found, ends = each.estimate, each.estimate.interval
        row["comparisons"].append(
            {
                **{name: getattr(each, name) for name in ("score", "system", "baseline", "test")},
                "difference": None if math.isnan(found.value) else found.value,
                "interval": ends and [ends.low, ends.high],
                "p": found.p,
                "p_holm": each.holm,
                **{name: getattr(found, name) for name in ("n", "clusters", "reason", "notes")},
            }
        )
    return row | {name: getattr(result, name) for name in ("left_out", "warnings")}
