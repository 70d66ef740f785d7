"""`spor score`: score a file of outputs, without lm-eval."""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spor_tasks.cli.following import given, then
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.terminal import columns
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from spor_tasks.evaluation.score import Result

_MODELS = ("model", "label", "device", "batch_size", "classifiers", "ppl_model")
"""The options of the models that some metrics need."""


def run(options: argparse.Namespace) -> None:
    """Score the outputs, and print the scores with their signatures."""
    from spor_tasks.evaluation.score import metric, score

    name, more = options.metric, []
    names = ("model", "label", "classifiers", "device", "batch_size")
    settings = {key: value for key in names if (value := getattr(options, key)) is not None}
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
