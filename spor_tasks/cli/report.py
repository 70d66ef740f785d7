"""`spor report`: compare the arms in lm-eval's result files."""

import argparse

from spor_tasks.cli.arguments import VIOLATED
from spor_tasks.cli.following import given, then
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.visible import visible


def run(options: argparse.Namespace) -> int:
    """Print the report, the leaderboard or the differences."""
    from spor_tasks import report
    from spor_tasks.report.document import plain_text

    results = [*options.results, *(options.diff or ())]
    if not results:
        remedy = "Name the folder that `--output_path` named."
        raise ConfigError("no results are named", remedy=remedy)
    if options.diff is not None:
        if len(results) != 2:
            remedy = "Write `spor report BEFORE --diff AFTER`."
            raise ConfigError(f"needs two runs, not {len(results)}", where="--diff", remedy=remedy)
        before, after = results
        document = report.write_diff(before, after, options.out, options.most)
    elif options.leaderboard:
        names = dict(text.rpartition("=")[::2] for text in options.name)
        settings = report.Settings(names, options.dataset, options.organization, options.source)
        document = report.write_leaderboard(
            options.results, options.out, merge_by=options.merge_by, settings=settings
        )
    else:
        document = report.write(options.results, options.out, merge_by=options.merge_by)
    print(plain_text(document))
    is_diff, out = options.diff is not None, options.out
    if out:
        name = "diff.md" if is_diff else "leaderboard.md" if options.leaderboard else report.PAGE
        print(f"\n{visible(out / name)}")
    kind: list[object] = ["--leaderboard"] if options.leaderboard else ["--diff"] if is_diff else []
    if options.merge_by:
        kind += ["--merge-by", ",".join(options.merge_by)]
    kind += given(options, "name", "dataset", "organization", "source")
    if not out:
        then("spor", "report", *results, *kind, "--out", "report")
    elif options.leaderboard:
        then("spor", "push", *results, "--to", "OWNER/NAME", "--dry-run")
    elif not is_diff:
        then("python", "-m", "webbrowser", out / report.PAGE)
    return 0 if document.whole else VIOLATED
