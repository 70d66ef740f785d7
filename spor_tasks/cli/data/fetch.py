"""`spor data fetch`: get the corpora and verify them."""

import argparse
from pathlib import Path

from spor_tasks.cli.following import then
from spor_tasks.core.visible import visible

_CORPORA = ("webnlg", "e2e", "viggo", "logicnlg", "totto", "fyelp", "amazon", "yelp", "mixture")


HELP = "download the corpora and verify every file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--corpus",
        choices=_CORPORA,
        default=_CORPORA[0],
        help="the corpus to fetch, with all that its publisher has beside it: one of "
        f"{', '.join(_CORPORA)} (default: webnlg, and e2e with it)",
    )
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="DIR | ZIP",
        help="copy from this folder, or from the archive of ToTTo or CompMCTG, instead",
    )
    parser.add_argument(
        "--to", dest="target", type=Path, metavar="DIR", help="where to (default: the cache folder)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fetch the files; print how many were fetched, and the licences."""
    from spor_tasks.core import named
    from spor_tasks.corpora.sources import LICENCES, SOURCES

    sources = [source for source in SOURCES if options.corpus in source.corpora]
    for source in sources:
        target = options.target or source.data_dir()
        outcomes = source.fetch(target, options.source)
        counts = (
            f"{number} {outcome}" for outcome, number in sorted(outcomes.items(), reverse=True)
        )
        print(f"{visible(target)}: {', '.join(counts)}")
        for path, role in getattr(source, "optional", {}).items():
            if not (target / path).exists():
                print(f"  absent: {path}: {role}")
        if options.target:
            print(f"  set {source.variable}={visible(target)} so that it is found")
    for corpus in dict.fromkeys(name for source in sources for name in source.corpora):
        licence = LICENCES[corpus]
        print(f"{corpus}: {licence.name}, {licence.url}; {licence.attribution}")
    tasks = (spec.task for spec in named.available() if spec.sets.corpus == options.corpus)
    found = [f"{source.variable}={options.target}" for source in sources if options.target]
    then(*(["env", *found] if found else []), "spor", "tasks", "show", next(tasks))
