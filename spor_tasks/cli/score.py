"""`spor score`: score a file of outputs, without lm-eval."""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from spor_tasks.cli.arguments import Commands, positive
from spor_tasks.cli.following import given, then
from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.registry import Kind, registry
from spor_tasks.core.visible import visible
from spor_tasks.text import filters

if TYPE_CHECKING:
    from spor_tasks.evaluation.score import Result
    from spor_tasks.metrics.base import Metric


_INTRODUCTION = """\
Score a file of outputs, without lm-eval, as in

  spor score FILE --metric parent --corpus webnlg --interval

FILE is JSON Lines or a JSON list, plain or gzipped, or `-` for standard input. Each line is a
sample in the published fields with its `output`:

  {"data": [["Ada", "born in", "Low"]], "texts": ["Ada was born in Low."], "output": "Low is hers."}

`spor baseline copy-input TASK --out FILE` writes such lines, with outputs to replace. A file
samples_*.jsonl of lm-eval's --log_samples is read as well. The metric order reads `output_1` and
`output_2`; a sample with a `twin` has twice as many. What only one corpus has is in the help after
its name, as in `spor score --corpus totto --help`."""

_FORMATS = {
    "read_outputs": "a .json file of the published format",
    "read_references": "a .txt file, a sentence a line, or rows with `output` alone, for the "
    "samples of --references",
    "read_labelled": "lines with a `text` and a value for each aspect",
}
"""What else FILE may be, if a corpus has the reader of this name."""

_MODELS = ("model", "label", "device", "batch_size", "classifiers", "ppl_model")
"""The options of the models that some metrics need."""

_REFERENCES = {
    "read_references": "the samples, in the corpus's own format, to which the lines of FILE are "
    "the outputs (default: what is scored of the corpus)",
    "read_labelled": "a row of `unseen.jsonl`, which says what training left out",
}


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "score", help="score a file of outputs, without lm-eval", add_help=False
    )
    parser.add_argument("-h", "--help", nargs=0, action=_Help)
    _add_arguments(parser)
    parser.set_defaults(run=run)


class _Help(argparse.Action):
    """Prints what all corpora share, and what only the corpus has that was named before."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        *_: object,
    ) -> NoReturn:
        shown = argparse.ArgumentParser(
            prog=parser.prog,
            description=_INTRODUCTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_arguments(shown, namespace.corpus, _groups(namespace.corpus))
        shown.print_help()
        parser.exit()


def _groups(corpus: str | None) -> dict[str, str]:
    """Return the metrics of each benchmark, and its corpora; those of a corpus, if it is named."""
    from spor_tasks.aspects import named
    from spor_tasks.metrics.base import metric, registered_score

    metrics = {name: metric(name) for name in sorted(registry().names("metric"))}
    listed: dict[str, list[str]] = {"metric": [], "corpus": []}
    for benchmark in named.benchmarks():
        specs = [spec for spec in benchmark.sets() if corpus in {None, spec.name.corpus}]
        scores = {
            registered_score(score) for spec in specs for score in (*spec.scores, *spec.displayed)
        }
        suited = (
            name
            for name, each in metrics.items()
            if each.answers == "texts" and scores & {info.name for info in each.scores}
        )
        names = {"metric": suited, "corpus": sorted({spec.name.corpus for spec in specs})}
        for kind, of_kind in names.items() if specs else ():
            listed[kind].append(f"{benchmark.name}: {', '.join(of_kind)}")
    return {kind: "; ".join(lines) for kind, lines in listed.items()}


def _add_arguments(
    parser: argparse.ArgumentParser, name: str | None = None, lists: Mapping[str, str] | None = None
) -> None:
    """Add the arguments; the help shows those that every corpus has, or the named one."""
    corpus = registry().get("corpus", name) if name else None
    has = {reader for reader in _FORMATS if getattr(corpus, reader, None)}
    formats = " or ".join(["the outputs, as above", *(_FORMATS[each] for each in sorted(has))])
    parser.add_argument("file", type=Path, metavar="FILE", help=formats)
    for kind in ("metric", "corpus"):
        parser.add_argument(
            f"--{kind}",
            required=True,
            type=partial(_known, kind),
            metavar=kind.upper(),
            help=lists[kind] if lists else None,
        )
    references = [_REFERENCES[each] for each in sorted(has & _REFERENCES.keys())]
    parser.add_argument(
        "--references",
        type=Path,
        metavar="EXAMPLES",
        help=" or ".join(references) or argparse.SUPPRESS,
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
    parser.add_argument("--interval", action="store_true", help="add 95 %% intervals")
    parser.add_argument("--json", action="store_true", help="print JSON, with signatures")
    _add_models(parser, is_labelled="read_labelled" in has)


def _add_models(parser: argparse.ArgumentParser, *, is_labelled: bool) -> None:
    """Add the options of the models that some metrics need."""
    group = parser.add_argument_group(
        "models as judges", "what judges a text in the metrics facts, nli_acc, bleurt and mctg_ppl"
    )
    group.add_argument("--model", metavar="PATH_OR_NAME", help="its folder, or its name on the hub")
    group.add_argument(
        "--label", help="its class that means yes, if the checkpoint does not name it"
    )
    group.add_argument("--device", help="its device (default: a GPU if there is one, else the CPU)")
    group.add_argument("--batch-size", type=positive, metavar="N", help="its batch size, 32")
    classifiers = "metric compmctg: has a folder with a classifier for each aspect"
    perplexity = "metric compmctg: a causal model, for perplexity too"
    group.add_argument(
        "--classifiers",
        metavar="FOLDER",
        help=classifiers if is_labelled else argparse.SUPPRESS,
    )
    group.add_argument(
        "--ppl-model",
        metavar="PATH_OR_NAME",
        help=perplexity if is_labelled else argparse.SUPPRESS,
    )


def _known(kind: Kind, name: str) -> str:
    names = registry().names(kind)
    if name not in names:
        more = "`spor score --help` lists all."
        raise argparse.ArgumentTypeError(f"no {kind} {name!r}. {advice(name, names, more)}")
    return name


def _filters(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(text.split(","))


def run(options: argparse.Namespace) -> None:
    """Score the outputs, and print the scores with their signatures."""
    from spor_tasks.evaluation.score import score

    name, metric, more_metrics = _metrics(options)
    result = score(
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


def _metrics(options: argparse.Namespace) -> "tuple[str, Metric, Sequence[Metric]]":
    """Return the metric's name, the metric with its settings, and what is measured beside it.

    The metric compmctg is accuracy, if there are classifiers, beside Dist-3 and perplexity.
    """
    from spor_tasks.evaluation.score import metric

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
    from spor_tasks.aspects.references import NO_REFERENCES
    from spor_tasks.results.grid import p_text

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
        print(f"{name:<{width}}{value:>+12.4f}{n:>9,}{p_text(p) or 'nan':>10}{ends:>24}".rstrip())
    if intervals or result.comparisons:
        print(
            "\nIntervals and p resample whole clusters, of samples with equal units or one table: "
            f"{result.samples:,} samples in {result.clusters:,} clusters."
        )
    for note in {note for each in result.comparisons.values() if each for note in each.notes}:
        print(f"{note.capitalize()}.")
    if result.left_out:
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
