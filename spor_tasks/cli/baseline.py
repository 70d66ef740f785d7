"""`spor baseline`: what systems without a model write, and what they score."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from spor_tasks.cli.arguments import add_include_path, positive
from spor_tasks.cli.following import then
from spor_tasks.core.files import require_new
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from spor_tasks.results.runs import Run


HELP = "run and score baselines that need no model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from spor_tasks.models.baselines import BASELINES

    parser.add_argument("name", choices=BASELINES, metavar="NAME", help="one of %(choices)s")
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="tasks, groups or patterns")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the outputs as rows that `spor score` reads"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace an existing file of --out"
    )
    parser.add_argument(
        "--results", type=Path, metavar="DIR", help="write result files that `spor report` reads"
    )
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="score against all references but the first, as `reference` is",
    )
    parser.add_argument(
        "--limit", type=positive, metavar="N", help="only the first N samples of each task"
    )
    add_include_path(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run the baseline on the tasks; print the scores of each as it ends, and the files written."""
    from spor_tasks.evaluation import baseline_run
    from spor_tasks.harness import task_files

    require_new(options.out, overwrite=options.overwrite)
    width = max(
        (len(file.name) for file in task_files.expand(options.tasks, options.include_path)),
        default=0,
    )

    def show(result: "Run") -> None:
        scores = (
            f"{metric} {result.scores[metric]:.2f}"
            for metric in result.spec.reported
            if metric in result.scores
        )
        arm = f" {result.arm}" if result.arm else ""
        print(f"{result.task:<{width}}{arm}  n {result.n:,}  {'  '.join(scores)}", flush=True)

    baseline_run.run(
        options.name,
        options.tasks,
        outputs=options.out,
        folder=options.results,
        limit=options.limit,
        held_out=options.held_out,
        on_result=show,
        include=options.include_path,
    )
    for place in (options.out, options.results):
        if place:
            print(visible(place))
    if options.results:
        then("spor", "report", options.results)
    else:
        same = [*options.tasks, *(["--held-out"] if options.held_out else [])]
        if options.include_path:
            same += ["--include_path", options.include_path]
        then("spor", "baseline", options.name, *same, "--results", "runs")
