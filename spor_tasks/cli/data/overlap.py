"""`spor data build --protocol overlap`: a corpus of tables, split by their headers."""

import argparse
import json
from collections.abc import Iterator, Mapping

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.visible import visible

_OTHERS = ("aspect", "part", "seed", "restarts", "hide", "search", "jobs", "seconds", "rounds")


def run(options: argparse.Namespace) -> None:
    """Write the split of a corpus, and print how many of its tables overlap."""
    from spor_tasks.aspects import folder, overlap
    from spor_tasks.cli.progress import working

    for name in _OTHERS:
        if (given := getattr(options, name)) or (name == "seed" and given is not None):
            raise ConfigError(
                "a split by headers does not use this setting", where=name, remedy="Leave it out."
            )
    corpus, parts = overlap.parts_of(options.corpus)
    alpha = options.alpha or overlap.ALPHA
    with (
        folder.new(options.out, overwrite=options.overwrite, kind=overlap.KIND) as staging,
        working(f"splitting {corpus}") as progress,
    ):
        manifest = overlap.write(staging, corpus, parts, alpha, progress)
    if options.json:
        print(json.dumps(manifest, indent=2))
        return
    print(visible(f"{options.out}: {corpus} split by headers"))
    for name, facts in manifest["files"].items():
        print(f"  {name:<20}{', '.join(_counts(facts))}")


def _counts(facts: Mapping[str, int]) -> Iterator[str]:
    if "of" in facts:
        yield f"{facts['samples']:,} kept of {facts['of']:,}"
        return
    yield f"{facts['overlap']:,} of {facts['samples']:,} overlap"
    if "published_flags" in facts:
        yield (
            f"{facts['reproduced_flags']:,} of {facts['published_flags']:,} published flags "
            "reproduced"
        )
