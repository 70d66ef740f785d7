"""`spor score`: score a file of outputs, without lm-eval."""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spor_tasks.cli.arguments import Choices, Commands, positive
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.registry import Kind, registry
from spor_tasks.core.visible import visible
from spor_tasks.text import filters

if TYPE_CHECKING:
    from spor_tasks.evaluation.scoring import Result
    from spor_tasks.metrics.base import Metric


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("score", help="score a file of outputs, without lm-eval")
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="JSON Lines, plain or gzipped: samples in the published field names, each with its "
        "`output` (metric order: `output_1` and `output_2`; with a `twin` twice as many); `-` is "
        "standard input; of LogicNLG also a `.json` file of the published format, of ToTTo a "
        "`.txt` file, a sentence a line, of CompMCTG rows with a `text` and a value per aspect",
    )
    parser.add_argument(
        "--references",
        type=Path,
        metavar="EXAMPLES",
        help="the samples, in the corpus's own format (of ToTTo JSON Lines), to which the lines of "
        "FILE are the outputs; default for a `.txt` file: what is scored of the corpus; "
        "of CompMCTG a row of `unseen.jsonl`, which says what training left out",
    )
    for kind in ("metric", "corpus"):
        parser.add_argument(
            f"--{kind}",
            required=True,
            choices=Choices(partial(_registered, kind)),
            metavar=kind.upper(),
            help="one of %(choices)s",
        )
    parser.add_argument(
        "--filter",
        type=_filters,
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
    parser.add_argument("--interval", action="store_true", help="add 95 %% bootstrap intervals")
    parser.add_argument("--json", action="store_true", help="print JSON, with signatures")
    _add_models(parser)
    parser.set_defaults(run=run)


def _add_models(parser: argparse.ArgumentParser) -> None:
    """Add the options of the models that some metrics need."""
    group = parser.add_argument_group(
        "metrics facts, nli_acc, bleurt and mctg_ppl",
        "the classifier that decides which units a text expresses, or whether a table entails it, "
        "or that rates a text, or the model that says how likely it is",
    )
    group.add_argument("--model", metavar="PATH_OR_NAME", help="its folder, or its name on the hub")
    group.add_argument(
        "--label", help="its class that means yes, if the checkpoint does not name it"
    )
    group.add_argument("--device", help="its device (default: a GPU if there is one, else the CPU)")
    group.add_argument("--batch-size", type=positive, metavar="N", help="its batch size, 32")
    group = parser.add_argument_group("metric compmctg", "what says which attributes a text has")
    group.add_argument(
        "--classifiers", metavar="FOLDER", help="has a folder with a classifier for each aspect"
    )
    group.add_argument(
        "--ppl-model", metavar="PATH_OR_NAME", help="a causal model, for perplexity too"
    )


def _registered(kind: Kind) -> tuple[str, ...]:
    return registry().names(kind)


def _filters(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(text.split(","))


def run(options: argparse.Namespace) -> None:
    """Score the outputs, and print the scores with their signatures."""
    from spor_tasks.evaluation import scoring

    name, metric, more_metrics = _metrics(options)
    result = scoring.score(
        options.file,
        name,
        options.corpus,
        references=options.references,
        per_sample=options.per_sample,
        against=options.compare,
        intervals=options.interval,
        judge=metric,
        more=more_metrics,
        filters=options.filter,
    )
    if options.json:
        print(json.dumps(_row(result), indent=2))
    else:
        _print(result, intervals=options.interval)


def _metrics(options: argparse.Namespace) -> "tuple[str, Metric, Sequence[Metric]]":
    """Return the metric's name, the metric with its settings, and what is measured beside it.

    The metric compmctg is accuracy, if there are classifiers, beside Dist-3 and perplexity.
    """
    from spor_tasks.evaluation.scoring import metric

    names = ("model", "label", "classifiers", "device", "batch_size")
    settings = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.metric != "compmctg":
        if options.ppl_model:
            raise ConfigError(
                "only the metric compmctg takes --ppl-model", remedy="Add --metric compmctg."
            )
        return options.metric, metric(options.metric, **settings), ()
    own = {name: settings[name] for name in ("device", "batch_size") if name in settings}
    perplexity = [metric("mctg_ppl", model=options.ppl_model, **own)] if options.ppl_model else []
    distinct = metric("distinct")
    if settings == own:
        print("Accuracy was not measured: name classifiers with --classifiers.", file=sys.stderr)
        return "distinct", distinct, perplexity
    return "compmctg", metric("compmctg", **settings), [*perplexity, distinct]


def _print(result: "Result", *, intervals: bool) -> None:
    width = max(28, *(len(score.name) + 2 for score in result.scores))
    ends = f"{'95 % interval':>24}" if intervals else ""
    print(f"{'score':<{width}}{'value':>12}{'n':>9}{'unscored':>10}{ends}")
    for name, value, n, unscored, _, interval in map(dataclasses.astuple, result.scores):
        ends = " to ".join(f"{end:.4f}" for end in interval or ())
        print(f"{name:<{width}}{value:>12.4f}{n:>9,}{unscored:>10,}{ends:>24}".rstrip())
    if result.comparisons:
        print(f"\n{'difference':<{width}}{'value':>12}{'n':>9}{'p':>10}{'95 % interval':>24}")
    for name, paired in result.comparisons.items():
        value, n, p = (paired.value, paired.n, paired.p) if paired else (math.nan, 0, None)
        interval = paired and paired.interval
        ends = f"{interval.low:+.4f} to {interval.high:+.4f}" if interval else ""
        print(f"{name:<{width}}{value:>+12.4f}{n:>9,}{p or math.nan:>10.4f}{ends:>24}".rstrip())
    if intervals or result.comparisons:
        print(
            "\nIntervals and p resample whole clusters, of samples with equal units or one table: "
            f"{result.samples:,} samples in {result.clusters:,} clusters."
        )
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
        }
    return row
