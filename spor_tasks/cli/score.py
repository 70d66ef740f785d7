"""`spor score`: score a file of outputs, without lm-eval."""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spor_tasks.cli.arguments import positive
from spor_tasks.cli.following import given, then
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.registry import Kind, registry
from spor_tasks.core.terminal import columns
from spor_tasks.core.visible import visible
from spor_tasks.text import filters

if TYPE_CHECKING:
    from spor_tasks.evaluation.score import Result

HELP = "score a file of outputs, without lm-eval"

_INTRODUCTION = """\
Score a file of outputs, without lm-eval, as in

  spor score FILE --metric parent --corpus webnlg --interval

FILE is JSON Lines or a JSON list, plain or gzipped, or `-` for standard input. Each line is a
sample in the published fields with its `output`:

  {"data": [["Ada", "born in", "Low"]], "texts": ["Ada was born in Low."], "output": "Low is hers."}

`spor baseline copy-input TASK --out FILE` writes such lines, with outputs to replace. A file
samples_*.jsonl of lm-eval's --log_samples is read as well. The metric order reads `output_1` and
`output_2`; a sample with a `twin` has twice as many. Some corpora read other forms too:

  logicnlg                a .json file of the published format
  totto                   a .txt file, a sentence a line, or rows with `output` alone, for the
                          samples of --references
  fyelp amazon yelp       lines with a `text` and a value for each aspect
  mixture compmctg_mini

`spor tasks list` names the tasks of each corpus, and `spor tasks show TASK` the metrics of one."""

_MODELS = ("model", "label", "device", "batch_size", "classifiers", "ppl_model")
"""The options of the models that some metrics need."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = _INTRODUCTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, metavar="FILE", help="the outputs, as above")
    kinds: tuple[Kind, ...] = ("metric", "corpus")
    for kind in kinds:
        parser.add_argument(
            f"--{kind}",
            required=True,
            choices=registry().names(kind),
            metavar=kind.upper(),
            help="one of %(choices)s",
        )
    parser.add_argument(
        "--references",
        type=Path,
        metavar="EXAMPLES",
        help="of totto: the samples, in the corpus's own format, to which the lines of FILE are "
        "the outputs (default: what is scored of the corpus). Of fyelp, amazon, yelp, mixture and "
        "compmctg_mini: a row of `unseen.jsonl`, which says what training left out",
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
        "--per-sample", type=Path, metavar="OUT", help="write each row with its scores to this file"
    )
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FILE2",
        help="another system's outputs, for paired significance tests",
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
    from spor_tasks.evaluation.score import metric, score

    name, more = options.metric, []
    told = {key: getattr(options, key) for key in _MODELS if key != "ppl_model"}
    settings = {key: value for key, value in told.items() if value is not None}
    if name == "compmctg":  # accuracy, if there are classifiers, beside Dist-3 and perplexity
        own = {key: settings[key] for key in ("device", "batch_size") if key in settings}
        if options.ppl_model:
            more.append(metric("mctg_ppl", model=options.ppl_model, **own))
        if settings == own:
            print(
                "Accuracy was not measured: name classifiers with --classifiers.", file=sys.stderr
            )
            name, settings = "distinct", {}
        else:
            more.append(metric("distinct"))
    elif options.ppl_model:
        what = "only the metric compmctg takes --ppl-model"
        raise ConfigError(what, remedy="Add --metric compmctg.")
    result = score(
        options.file,
        name,
        options.corpus,
        references=options.references,
        per_sample=options.per_sample,
        against=options.compare,
        intervals=options.interval,
        judge=metric(name, **settings),
        more=more,
        filters=options.filter,
    )
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if options.json:
        print(json.dumps(_row(result), indent=2))
    else:
        _print(result, intervals=options.interval)
    if options.per_sample:
        print(visible(options.per_sample), file=sys.stderr if options.json else sys.stdout)
    if not (options.interval or options.compare):
        same = [*given(options, "metric", "corpus", "references", *_MODELS)]
        if options.filter is not None:
            same += ["--filter", ",".join(options.filter) or "none"]
        then("spor", "score", options.file, *same, "--compare", "OTHER")


def _print(result: "Result", *, intervals: bool) -> None:
    def interval(ends: Sequence[float] | None, form: str) -> str:
        return " to ".join(format(end, form) for end in ends or ())

    head = ("score  ", "value", "n", "unscored", "95 % interval" if intervals else "")
    scores = (
        (
            f"{score.name}  ",
            f"{score.value:.4f}",
            f"{score.n:,}",
            f"{score.unscored:,}",
            interval(score.interval, ".4f"),
        )
        for score in result.scores
    )
    print(columns([head, *scores], "<28", ">12", ">9", ">10", ">24"))
    if result.comparisons:
        from spor_tasks.report.grid import p_text

        lines = [("difference  ", "value", "n", "p", "95 % interval")]
        for name, paired in result.comparisons.items():
            value, n, p = (paired.value, paired.n, paired.p) if paired else (math.nan, 0, None)
            found = paired.interval if paired else None
            ends = interval((found.low, found.high) if found else None, "+.4f")
            lines.append((f"{name}  ", f"{value:+.4f}", f"{n:,}", p_text(p) or "nan", ends))
        print("", columns(lines, "<28", ">12", ">9", ">10", ">24"), sep="\n")
    if intervals or result.comparisons:
        print(
            "\nIntervals and p resample whole clusters, of samples with equal units or one table: "
            f"{result.samples:,} samples in {result.clusters:,} clusters."
        )
    notes = [note for each in result.comparisons.values() if each for note in each.notes]
    for note in dict.fromkeys(notes):
        print(f"{note.capitalize()}.")
    if result.left_out:
        from spor_tasks.aspects.references import NO_REFERENCES

        print(f"\n{result.left_out:,} {NO_REFERENCES}.")
    print()
    for signature in dict.fromkeys(score.signature for score in result.scores):
        print(visible(signature))


def _row(result: "Result") -> dict[str, Any]:
    row = dataclasses.asdict(result)
    for score in row["scores"]:
        score["value"] = None if math.isnan(score["value"]) else score["value"]
    for name, paired in result.comparisons.items():
        interval = paired and paired.interval
        row["comparisons"][name] = paired and {
            "difference": paired.value,
            "interval": interval and [interval.low, interval.high],
            "p_randomization": paired.p,
            "n": paired.n,
            "clusters": paired.clusters,
            "notes": list(paired.notes),
        }
    return row
