"""`spor data fetch`: get the corpora and verify them."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from spor_tasks.cli.arguments import Commands, positive
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from spor_tasks.corpora.archive import Archive
    from spor_tasks.corpora.repository import Repository

_CORPORA = ("webnlg", "e2e", "viggo", "logicnlg", "totto", "fyelp", "amazon", "yelp", "mixture")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("fetch", help="download the corpora and verify every file")
    parser.add_argument(
        "--corpus",
        choices=_CORPORA,
        default=_CORPORA[0],
        help=f"the one to fetch, with all that its repository has: one of {', '.join(_CORPORA)} "
        "(default: webnlg, and e2e with it)",
    )
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="DIR | ZIP",
        help="copy from this folder, or of ToTTo and CompMCTG from an archive, instead; of the two "
        "repositories of LogicNLG, one after the other, for what is there already is kept",
    )
    parser.add_argument(
        "--to", dest="target", type=Path, metavar="DIR", help="where to (default: the cache folder)"
    )
    parser.add_argument(
        "--sha256",
        metavar="HEX",
        help="what the archive of ToTTo or CompMCTG must have (default: trust the first one, and "
        "compare later ones with it)",
    )
    parser.add_argument("--jobs", type=positive, default=8, metavar="N", help="files at a time, 8")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fetch the files; print how many were fetched, and the licences."""
    from spor_tasks.core.errors import ConfigError
    from spor_tasks.corpora import sources

    of_corpus = (each for each in sources.ARCHIVES if options.corpus in each.corpora)
    if archive := next(of_corpus, None):
        _fetch_archive(archive, options)
    elif options.sha256:
        raise ConfigError(
            "is for archives; the digests of these files are known",
            where="sha256",
            remedy="Leave --sha256 out.",
        )
    repositories = [each for each in sources.REPOSITORIES if options.corpus in each.corpora]
    for repository in repositories:
        _fetch(repository, options)
    for corpus in repositories[0].corpora if repositories else (options.corpus,):
        licence = sources.LICENCES[corpus]
        print(f"{corpus}: {licence.name}, {licence.url}; {licence.attribution}")


def _fetch_archive(archive: "Archive", options: argparse.Namespace) -> None:
    from tqdm import tqdm

    from spor_tasks.corpora.fetch_archive import fetch_archive

    target = options.target or archive.data_dir()
    with tqdm(unit="B", unit_scale=True, disable=None, leave=False) as bar:

        def advance(done: int, total: int | None) -> None:
            bar.total, bar.n = total, done
            bar.update(0)

        fetched = fetch_archive(
            archive, target, options.source, sha256=options.sha256, progress=advance
        )
    print(f"{visible(target)}: {len(fetched.files)} {fetched.outcome}")
    if fetched.sha256:
        print(f"SHA-256 of the archive: {fetched.sha256}")
    if not options.sha256:
        print(
            "Nobody has published a digest of this archive, so the first one fetched is trusted.\n"
            "Its digests are in spor.json in the folder. Later fetches are compared with them, or\n"
            "with the digest that --sha256 gives."
        )


def _fetch(repository: "Repository", options: argparse.Namespace) -> None:
    from tqdm import tqdm

    from spor_tasks.corpora import fetch

    target = options.target or repository.data_dir()
    with tqdm(total=len(fetch.wanted(repository)), unit="file") as bar:

        def advance(*_: object) -> None:
            bar.update()

        summary = fetch.fetch(
            target, options.source, repository=repository, jobs=options.jobs, progress=advance
        )
    counts = {outcome: len(summary.paths(outcome)) for outcome in ("fetched", "kept", "absent")}
    print(
        f"{visible(target)}: {', '.join(f'{count} {outcome}' for outcome, count in counts.items())}"
    )
