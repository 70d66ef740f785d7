"""`spor push`: publish results, their samples and a report on the Hub."""

import argparse

from spor_tasks.cli.following import given, then
from spor_tasks.core.terminal import columns


def run(options: argparse.Namespace) -> None:
    """Check the results, print what is sent, and send it."""
    from spor_tasks.report import publish

    with publish.packed(options.results, options.type) as folder:
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        print(
            columns(
                (
                    (f"{path.stat().st_size:,}", path.relative_to(folder).as_posix())
                    for path in files
                ),
                ">14",
                gap="  ",
            )
        )
        print((folder / "README.md").read_text("utf-8"))
        if not options.dry_run:
            settings = {"create": options.create, "pr": options.pr}
            print(publish.push(folder, options.to, options.type, **settings))
        else:
            same = [*given(options, "to", "type", "create"), *(["--pr"] if options.pr else [])]
            then("spor", "push", *options.results, *same)
