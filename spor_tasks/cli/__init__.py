"""The command `spor`. Nothing slow is imported before a command needs it."""

import argparse
import dataclasses
import errno
import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.sample import ARMS, CopySample, DataUnit, OrderSample, Sample, SplitPair
from spor_tasks.core.terminal import Parser, guarded, unguarded
from spor_tasks.core.visible import visible

# ruff: noqa: PLC0415 - lm-eval takes seconds to import, and `spor --help` should not

if TYPE_CHECKING:
    from spor_tasks.aspects.check import Report as CheckReport
    from spor_tasks.aspects.request import Request
    from spor_tasks.aspects.show import Exhibit
    from spor_tasks.aspects.stats import Value
    from spor_tasks.evaluation.scoring import Result
    from spor_tasks.harness.task_files import TaskFile
    from spor_tasks.metrics.facts import Facts

_METRICS = ("parent", "chrf", "coverage", "facts", "order", "cwio", "copy_rule")
_CORPORA = ("webnlg", "e2e")
_BASELINES = (
    *("copy-input", "copy-demonstrations", "nearest-demonstration"),
    *("units-joined", "nearest-training-text", "reference"),
)

_VIOLATED = 1
_BAD_INPUT = 2
_INTERRUPTED = 130
_CUT = 141


@guarded()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return 0 where all is well.

    It is 1 where a check found a violation or a report left something out, 2 for bad input or what
    the system refuses, and otherwise what shells make of a signal that ended the command.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["eval"]:  # what follows is for lm-eval's own parser
            from spor_tasks.evaluation import evaluate, many

            (many if many.asked(given) else evaluate).run(given[1:])
            status: int | None = None
        else:
            options = _parser().parse_args(given)
            status = options.run(options)
        print(end="", flush=True)  # what is left of the output fails here or not at all
    except SporError as error:
        print(f"error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has enough
        _let_go_of_output()
        return _CUT
    except OSError as error:
        return refused(error)
    return status or 0


def refused(error: OSError) -> int:
    """Say what the system refused, such as room on a disk, and return the status of bad input."""
    try:
        print(end="", flush=True)
    except OSError:  # it would fail once more as the program ends
        _let_go_of_output()
    # What is printed has no name; of all else that is written the name is told.
    printing = error.errno == errno.ENOSPC and error.filename is None
    where = "standard output" if printing else None
    print(f"error: {ConfigError(str(error), where=where)}", file=sys.stderr)
    return _BAD_INPUT


def _let_go_of_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="spor",
        description="Compositional generalization in data-to-text generation, for lm-eval.",
    )
    parser.add_argument("--version", action="version", version=f"spor {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser(
        "eval",
        help="evaluate a model: lm-eval's own command line, with our tasks and `spor-hf` known; "
        "`--models FILE` evaluates several",
        add_help=False,
    )
    _add_tasks(commands.add_parser("tasks", help="the tasks, and how lm-eval finds them"))
    _add_data(commands.add_parser("data", help="the corpora, and the sets built from them"))
    _add_score(commands.add_parser("score", help="score a file of outputs, without lm-eval"))
    _add_metrics(commands.add_parser("metrics", help="how far metrics agree with people"))
    _add_baseline(
        commands.add_parser("baseline", help="what systems without a model write, and score")
    )
    _add_show(commands.add_parser("show", help="one sample of a run, with marks on its outputs"))
    _add_report(commands.add_parser("report", help="compare the arms in lm-eval's result files"))
    return parser


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    path = commands.add_parser("path", help="print the folder that lm-eval's --include_path takes")
    path.set_defaults(run=_tasks_path)
    listing = commands.add_parser("list", help="list tasks and groups")
    listing.set_defaults(run=_tasks_list)
    register = commands.add_parser(
        "register", help="make the installed lm-eval know the tasks; again is harmless"
    )
    register.add_argument("--remove", action="store_true", help="undo it")
    register.set_defaults(run=_tasks_register)
    export = commands.add_parser(
        "export", help="write the task files of the released sets into a folder"
    )
    export.add_argument("folder", type=Path, metavar="DIR")
    export.set_defaults(run=_tasks_export)


def _add_data(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    fetch = commands.add_parser("fetch", help="get the corpora, every file verified")
    fetch.add_argument("--from", dest="source", type=Path, metavar="DIR", help="a local copy")
    fetch.add_argument(
        "--to", dest="target", type=Path, metavar="DIR", help="instead of the cache folder"
    )
    fetch.add_argument("--jobs", type=_positive, default=8, metavar="N", help="files at a time")
    fetch.set_defaults(run=_data_fetch)
    stats = commands.add_parser("stats", help="count the corpora, beside the paper's numbers")
    stats.add_argument("--json", action="store_true", help="as JSON")
    stats.set_defaults(run=_data_stats)
    build = commands.add_parser("build", help="write the sets of an aspect into a folder")
    _add_request(build, required=True)
    build.add_argument(
        "--search", action="store_true", help="search strict sets of systematicity (minutes)"
    )
    build.add_argument("--jobs", type=_positive, metavar="N", help="processes of the search")
    build.add_argument("--out", type=Path, metavar="DIR", required=True)
    build.add_argument("--overwrite", action="store_true", help="replace the sets that are there")
    build.add_argument("--json", action="store_true", help="print the manifest")
    build.set_defaults(run=_data_build)
    check = commands.add_parser("check", help="test sets against what their aspect requires")
    check.add_argument(
        "targets",
        nargs="+",
        metavar="DIR | PROTOCOL:ASPECT:CORPUS[:PART]",
        help="a folder that `build` wrote, or a name such as published:productivity:e2e:n4",
    )
    check.add_argument("--json", action="store_true", help="as JSON")
    check.set_defaults(run=_data_check)
    show = commands.add_parser("show", help="a test sample, and the training samples of its units")
    show.add_argument("sample", metavar="ID | INDEX", help="its id, or its place from 0 on")
    show.add_argument("--in", dest="folder", type=Path, metavar="DIR", help="sets in a folder")
    _add_request(show, required=False)
    show.add_argument("--most", type=_positive, default=5, metavar="N", help="samples of each arm")
    show.add_argument("--json", action="store_true", help="as JSON")
    show.set_defaults(run=_data_show)
    write = commands.add_parser("write", help="write the embedded corpus and its split as files")
    write.add_argument("corpus", choices=["mini"])
    write.add_argument("folder", type=Path, metavar="DIR")
    write.set_defaults(run=_data_write)


def _add_request(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument(
        "--corpus", required=required, help="webnlg, e2e, mini, or a JSON Lines file of your own"
    )
    parser.add_argument("--aspect", required=required, choices=ARMS)
    parser.add_argument("--part", help="n3, n4, n5 or main, cwio, performance; the first if not")
    parser.add_argument("--protocol", choices=["published", "strict"])
    parser.add_argument("--seed", type=int, metavar="N", help="of a build from your own corpus")
    parser.add_argument("--restarts", type=_positive, metavar="N", help="runs to choose from")


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="JSON Lines: samples in the published field names, each with its `output` (order: "
        "`output_1`, `output_2`); gzipped or not, `-` is standard input",
    )
    parser.add_argument("--metric", required=True, choices=_METRICS)
    parser.add_argument("--corpus", required=True, choices=_CORPORA)
    parser.add_argument(
        "--per-sample", type=Path, metavar="OUT", help="write each row with what was found in it"
    )
    parser.add_argument(
        "--compare", type=Path, metavar="FILE2", help="outputs of another system, for paired tests"
    )
    parser.add_argument("--interval", action="store_true", help="bootstrap intervals of 95 %%")
    _add_facts(parser)
    parser.add_argument("--json", action="store_true", help="as JSON, with signatures")
    parser.set_defaults(run=_score)


def _add_metrics(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    agreement = commands.add_parser(
        "agreement", help="correlate metrics with people's judgements, over texts and over systems"
    )
    agreement.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="JSON Lines: samples in the published field names, each with `input`, `system`, "
        "`output`, `judgements` and, optionally, `scores` of other metrics",
    )
    agreement.add_argument(
        "--judgement",
        action="append",
        default=[],
        metavar="NAME",
        help="only this one; may be repeated",
    )
    agreement.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help="only this one; may be repeated",
    )
    agreement.add_argument(
        "--resamples",
        type=_positive,
        default=1000,
        metavar="N",
        help="resamples, 1,000 if not given",
    )
    agreement.add_argument("--seed", type=_natural, default=0, metavar="N", help="of the resamples")
    agreement.add_argument(
        "--out", type=Path, metavar="DIR", help="write Markdown, CSV, JSON and a plot as well"
    )
    _add_facts(agreement)
    agreement.add_argument("--json", action="store_true", help="as JSON, with tests of all pairs")
    agreement.set_defaults(run=_metrics_agreement)


def _add_facts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the metric facts", "units that a classifier says are told")
    group.add_argument("--model", metavar="PATH_OR_NAME", help="the classifier, on disk or the hub")
    group.add_argument("--format", help="how it reads a unit: nli (default) or electra")
    group.add_argument(
        "--label", help="its class for what is told, where the checkpoint names none"
    )
    group.add_argument("--device", help="where it runs: a GPU where there is one, else cpu")
    group.add_argument("--batch-size", type=_positive, metavar="N", help="pairs at a time, 32")


def _add_baseline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=f"one of {', '.join(_BASELINES)}")
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="tasks, groups or patterns")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the outputs as rows that `spor score` reads"
    )
    parser.add_argument(
        "--results", type=Path, metavar="DIR", help="write result files that `spor report` reads"
    )
    parser.add_argument("--limit", type=_positive, metavar="N", help="the first samples of a task")
    parser.set_defaults(run=_baseline)


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results",
        type=Path,
        metavar="RESULTS",
        help="a result file, a sample file, or their folder",
    )
    parser.add_argument("sample", metavar="ID | INDEX", help="its id, or its place from 0 on")
    parser.add_argument("--task", help="which, where there are several")
    parser.add_argument(
        "--against", type=Path, metavar="RESULTS", help="another run, for the same sample"
    )
    parser.set_defaults(run=_show)


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="result files, or their folders"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="write it there as well, as a page with samples, Markdown, LaTeX, CSV and JSON",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--leaderboard",
        action="store_true",
        help="rank the systems instead, and write the `model-index` of Hub model cards",
    )
    instead.add_argument(
        "--diff", action="store_true", help="show which samples changed between two runs instead"
    )
    parser.add_argument(
        "--most", type=_positive, default=10, metavar="N", help="changed samples to show of a task"
    )
    parser.add_argument(
        "--merge-by",
        type=lambda text: tuple(filter(None, text.split(","))),
        default=(),
        metavar="FACT,…",
        help="put results that differ only in these facts, such as dtype or backend, into one row "
        "that says so",
    )
    parser.set_defaults(run=_report)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is less than 0")
    return number


# --- spor tasks ----------------------------------------------------------------------------------


def _tasks_path(_: argparse.Namespace) -> None:
    from spor_tasks.harness import task_files

    print(visible(task_files.FOLDER))


def _tasks_list(_: argparse.Namespace) -> None:
    from spor_tasks.harness import task_files

    files = task_files.files()
    width = max(len(file.name) for file in files)
    for file in files:
        print(f"{file.name:<{width}}  {_describe(file)}")


def _describe(file: "TaskFile") -> str:
    if file.kind == "group":
        return f"group of {', '.join(file.content['task'])}"
    metadata = file.content["metadata"]
    names = (metadata.get(key) for key in ("aspect", "corpus", "part", "protocol"))
    shown = f"shown {metadata['icl_arm']}" if "icl_arm" in metadata else None
    decoding = "5 beams" if "_beam5" in file.content["include"] else None
    return ", ".join(filter(None, [*names, shown, decoding]))


def _tasks_register(options: argparse.Namespace) -> None:
    from spor_tasks.harness import stubs

    if options.remove:
        done = stubs.remove()
    else:
        folder = stubs.folder()
        done = {folder: stubs.register(folder)}
    for folder, changes in done.items():
        counts = f"{changes.written} written, {changes.removed} removed, {changes.kept} kept as is"
        print(f"{visible(folder)}: {counts}")


def _tasks_export(options: argparse.Namespace) -> None:
    from spor_tasks.harness import export

    export.write(options.folder)
    print(visible(options.folder))


# --- spor data -----------------------------------------------------------------------------------


def _data_fetch(options: argparse.Namespace) -> None:
    from tqdm import tqdm

    from spor_tasks.corpora import fetch, sources

    target = options.target or sources.data_dir()
    source = options.source or sources.RAW_URL
    with tqdm(total=len(fetch.wanted()), unit="file") as bar:

        def advance(*_: object) -> None:
            bar.update()

        summary = fetch.fetch(target, source, jobs=options.jobs, progress=advance)
    counts = {outcome: len(summary.paths(outcome)) for outcome in ("fetched", "kept", "absent")}
    print(
        f"{visible(target)}: {', '.join(f'{count} {outcome}' for outcome, count in counts.items())}"
    )
    for corpus, licence in sources.LICENCES.items():
        print(f"{corpus}: {licence.name}, {licence.url}; {licence.attribution}")


def _data_stats(options: argparse.Namespace) -> None:
    from spor_tasks.aspects import stats

    if options.json:
        counted = {
            table.title: {
                figure.label: {"ours": figure.ours, "paper": figure.paper}
                for figure in table.figures
            }
            for table in stats.statistics()
        }
        print(json.dumps(counted, indent=2))
        return
    for table in stats.statistics():
        print(f"\n{table.title:<46}{'here':>36}{'paper':>36}")
        for label, ours, paper in table.figures:
            mark = "  ≠" if paper is not None and paper != ours else ""
            print(f"  {label:<44}{_number(ours):>36}{_number(paper):>36}{mark}")
    print(
        "\n≠ This is counted over the whole set; the paper counts inside clusters of WebNLG samples"
        "\n  that share a main entity."
    )


def _number(value: "Value | None") -> str:
    match value:
        case None:
            return ""
        case tuple():
            return " ".join(map(_number, value))
        case float():
            return f"{value:.4f}"
    return f"{value:,}"


def _data_build(options: argparse.Namespace) -> None:
    from spor_tasks.aspects import folder, request
    from spor_tasks.cli.progress import working

    with folder.new(options.out, overwrite=options.overwrite) as staging:
        with working(f"building {options.aspect}") as progress:
            answer = request.answer(_request(options), progress)
        manifest = folder.write(staging, answer.pair, answer.facts)
    if options.json:
        print(json.dumps(manifest, indent=2))  # ASCII alone: it acts on no terminal
        return
    print(visible(f"{options.out}: {_title(answer.pair)}"))
    for name, facts in manifest["files"].items():
        counts = (f"{facts[key]:>9,} {key}" for key in ("samples", "units", "references"))
        print(f"  {name:<20}{''.join(counts)}")


def _data_check(options: argparse.Namespace) -> int:
    from spor_tasks.aspects import check, request
    from spor_tasks.cli.progress import working

    reports: dict[str, CheckReport] = {}
    for target in options.targets:
        with working(f"checking {target}"):
            pair, limit = request.find(target)
            report = check.check(pair, limit=limit)
        if not options.json:
            print("\n" if reports else "", end="")
            _print_report(f"{target}: {_title(pair)}", report)
        reports[target] = report
    if options.json:
        print(json.dumps({target: _report_row(reports[target]) for target in reports}, indent=2))
    return 0 if all(report.holds for report in reports.values()) else _VIOLATED


def _report_row(report: "CheckReport") -> dict[str, Any]:
    violations = [violation._asdict() for violation in report.violations]
    return {"holds": report.holds, **dataclasses.asdict(report), "violations": violations}


def _print_report(title: str, report: "CheckReport") -> None:
    print(visible(title))
    for field in dataclasses.fields(report):
        if field.name != "violations":
            value = _number(getattr(report, field.name))
            print(f"  {field.name.replace('_', ' '):<32}{value:>16}")
    if report.holds:
        print("  every requirement holds")
    for violation in report.violations:
        print(f"  ≠ {visible(violation.words)}")
        for split, ids in violation.samples.items():
            print(_fill(f"{len(ids):,} in {split}: {' '.join(ids)}", indent=6))


def _data_show(options: argparse.Namespace) -> None:
    from spor_tasks.aspects import folder, request, show

    if options.folder:
        pair = folder.read(options.folder).pair
    elif options.corpus and options.aspect:
        pair = request.answer(_request(options)).pair
    else:
        raise ConfigError("say whose test sample: `--in DIR`, or `--corpus` and `--aspect`")
    exhibit = show.show(pair, options.sample, most=options.most)
    if options.json:
        print(json.dumps(_exhibit_row(exhibit), indent=2))
        return
    sample, count = exhibit.sample, len(pair.test.samples)
    print(visible(f"{_title(pair)}: test sample {exhibit.index} of {count:,}, {sample.id}"))
    _print_sample(sample, {unit: i for i, unit in enumerate(sample.units)})
    _print_task(sample)
    for arm in exhibit.arms:
        per_unit = "  ".join(f"[{i}] {count:,}" for i, count in enumerate(arm.per_unit))
        print(f"\n{arm.name}: {arm.holders:,} samples hold a unit of it, {arm.together:,} several")
        print(f"  {per_unit}")
        for holder in arm.samples:
            print(f"  {visible(holder.sample.id)}{' together' if len(holder.held) > 1 else ''}")
            _print_sample(holder.sample, {sample.units[i]: i for i in holder.held})


def _print_task(sample: Sample) -> None:
    """Print what an aspect adds to a test sample."""
    if isinstance(sample, OrderSample):
        for name, orders in (("in", sample.input_orders), ("texts", sample.reference_orders)):
            print(f"        {name}: {', '.join(' '.join(map(str, order)) for order in orders)}")
    if isinstance(sample, CopySample):
        for what, phrase in sample.hidden:
            print(visible(f"        {phrase} hides {what}"))


def _print_sample(sample: Sample, marks: Mapping[DataUnit, int]) -> None:
    if sample.name is not None:
        print(f"{'':<8}{visible(sample.name)}")
    for unit in sample.units:
        mark = f"[{marks[unit]}]" if unit in marks else ""
        print(f"    {mark:<4}{visible(' | '.join(unit))}")
    for text in sample.references:
        print(_fill(text, indent=8))


def _fill(text: str, *, indent: int) -> str:
    margin = " " * indent
    return textwrap.fill(visible(text), 100, initial_indent=margin, subsequent_indent=f"{margin}  ")


def _exhibit_row(exhibit: "Exhibit") -> dict[str, Any]:
    from spor_tasks.core.codec import to_row

    def row(sample: Sample) -> dict[str, Any]:
        return {"id": sample.id, **to_row(sample)}

    arms = {
        arm.name: {
            "holders": arm.holders,
            "together": arm.together,
            "per_unit": arm.per_unit,
            "samples": [{"held": holder.held, **row(holder.sample)} for holder in arm.samples],
        }
        for arm in exhibit.arms
    }
    return {"index": exhibit.index, **row(exhibit.sample), "arms": arms}


def _title(pair: SplitPair) -> str:
    return " ".join(filter(None, [pair.aspect, pair.corpus, pair.protocol, pair.part]))


def _request(options: argparse.Namespace) -> "Request":
    from spor_tasks.aspects.request import Request

    names = [field.name for field in dataclasses.fields(Request) if hasattr(options, field.name)]
    return Request(**{name: getattr(options, name) for name in names})


def _data_write(options: argparse.Namespace) -> None:
    from spor_tasks.benchmarks.spor import released
    from spor_tasks.benchmarks.spor import sets as registry
    from spor_tasks.core.codec import to_row
    from spor_tasks.core.files import write_rows, writing
    from spor_tasks.corpora.mini import worlds as mini

    pair = registry.load("systematicity", "mini")
    names = [f"train_mini_{pair.aspect}_{arm.name}" for arm in pair.arms]
    with writing(options.folder):
        mini.write(options.folder)
        for name, split in zip([*names, f"test_mini_{pair.aspect}"], pair.splits, strict=True):
            write_rows(options.folder / released.path(name), map(to_row, split.samples))
    print(visible(options.folder))


# --- spor score ----------------------------------------------------------------------------------


def _score(options: argparse.Namespace) -> None:
    from spor_tasks.evaluation import scoring

    result = scoring.score(
        options.file,
        options.metric,
        options.corpus,
        per_sample=options.per_sample,
        against=options.compare,
        intervals=options.interval,
        facts=_facts(options),
    )
    if options.json:
        print(json.dumps(_result_row(result), indent=2))
        return
    ends = f"{'95 % interval':>24}" if options.interval else ""
    print(f"{'score':<28}{'value':>12}{'n':>9}{'unscored':>10}{ends}")
    for name, value, n, unscored, _, interval in map(dataclasses.astuple, result.scores):
        ends = " to ".join(f"{end:.4f}" for end in interval or ())
        print(f"{name:<28}{value:>12.4f}{n:>9,}{unscored:>10,}{ends:>24}".rstrip())
    if result.comparisons:
        print(f"\n{'difference':<28}{'value':>12}{'n':>9}{'p':>10}{'p by bootstrap':>24}")
    for name, paired in result.comparisons.items():
        difference, n, _, *ps = paired or (math.nan, 0, 0, math.nan, math.nan)
        print(f"{name:<28}{difference:>+12.4f}{n:>9,}{ps[0]:>10.4f}{ps[1]:>24.4f}")
    if options.interval or result.comparisons:
        print(
            f"\n{result.clusters:,} of the {result.samples:,} samples have different units; ",
            end="",
        )
        print("intervals and p are of whole clusters with equal units")
    print()
    for signature in dict.fromkeys(score.signature for score in result.scores):
        print(visible(signature))


def _facts(options: argparse.Namespace) -> "Facts | None":
    names = ("model", "format", "label", "device", "batch_size")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    if not given:
        return None
    if "model" not in given:
        raise ConfigError("name the classifier that facts are judged by", where="--model")
    from spor_tasks.metrics import classifier

    return classifier.load(**given)


def _result_row(result: "Result") -> dict[str, Any]:
    row = dataclasses.asdict(result)
    for score in row["scores"]:
        score["value"] = None if math.isnan(score["value"]) else score["value"]
    comparisons = {name: paired and paired._asdict() for name, paired in result.comparisons.items()}
    return {**row, "comparisons": comparisons}


# --- spor metrics --------------------------------------------------------------------------------


def _metrics_agreement(options: argparse.Namespace) -> None:
    from spor_tasks.cli.progress import working
    from spor_tasks.evaluation import agreement
    from spor_tasks.report import agreement_text, plots

    facts = _facts(options)
    judges = () if facts is None else (agreement.measure_of(facts, judge=facts.judge),)
    with working("measuring outputs") as progress:
        judged = agreement.read(
            options.files,
            metrics=options.metric,
            measures=(*agreement.MEASURES, *judges),
            progress=progress,
        )
    with working("correlating") as progress:
        found = agreement.agreements(
            judged,
            judgements=options.judgement,
            resamples=options.resamples,
            seed=options.seed,
            progress=progress,
        )
    if options.out:
        agreement_text.write(found, options.out)
        if not plots.available():
            print(plots.MISSING, file=sys.stderr)
    if options.json:
        print(agreement_text.as_json(found), end="")
    else:
        print(agreement_text.terminal(found))


# --- spor baseline -------------------------------------------------------------------------------


def _baseline(options: argparse.Namespace) -> None:
    from spor_tasks.evaluation import baseline_run
    from spor_tasks.results.comparisons import metrics_of

    found = baseline_run.run(
        options.name,
        options.tasks,
        outputs=options.out,
        folder=options.results,
        limit=options.limit,
    )
    width = max(len(result.task) for result in found)
    for result in found:
        told = (
            f"{metric} {result.scores[metric]:.2f}"
            for metric in metrics_of(result.aspect, result.part)
            if metric in result.scores
        )
        arm = f" {result.arm}" if result.arm else ""
        print(f"{result.task:<{width}}{arm}  n {result.n:,}  {'  '.join(told)}")
    for place in filter(None, [options.out, options.results]):
        print(visible(place))


# --- spor show -----------------------------------------------------------------------------------


def _show(options: argparse.Namespace) -> None:
    from spor_tasks.report.exhibit import exhibit
    from spor_tasks.report.exhibit_text import terminal

    shown = exhibit(options.results, options.sample, against=options.against, task=options.task)
    width = shutil.get_terminal_size((100, 24)).columns
    lines = terminal(shown, color=_is_colored(), width=max(40, min(width, 100)))
    print(lines, file=unguarded(sys.stdout))  # the colours are ours


def _is_colored() -> bool:
    """Tell whether colours are wanted: on a terminal, unless it or its user has none."""
    dumb = os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not dumb and not os.environ.get("NO_COLOR")


# --- spor report ---------------------------------------------------------------------------------


def _report(options: argparse.Namespace) -> int:
    from spor_tasks import report
    from spor_tasks.report import diff_text, leaderboard_text, plots, render

    if options.diff:
        if len(options.results) != 2:  # noqa: PLR2004 - before and after
            raise ConfigError(f"takes two runs, not {len(options.results)}", where="--diff")
        before, after = options.results
        changes = report.write_diff(before, after, options.out)
        print(diff_text.terminal(changes, options.most))
        return 0 if changes.whole else _VIOLATED
    if options.leaderboard:
        board = report.write_leaderboard(options.results, options.out, merge_by=options.merge_by)
        print(leaderboard_text.terminal(board))
        return 0 if board.whole else _VIOLATED
    found = report.write(
        options.results, options.out, merge_by=options.merge_by, jobs=os.cpu_count() or 1
    )
    print(render.terminal(found))
    if options.out:
        print(f"\n{visible(options.out / report.PAGE)}")
        if not plots.available():
            print(plots.MISSING, file=sys.stderr)
    return 0 if found.whole else _VIOLATED


if __name__ == "__main__":  # for `accelerate launch -m`
    sys.exit(main())
