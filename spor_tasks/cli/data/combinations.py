"""`spor data build` and `check`, for splits of combinations of attributes, as CompMCTG has them."""

import argparse
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.registry import registry
from spor_tasks.core.visible import visible

PLAIN = ("original", "holdout", "acd", "fewshot")
PUBLISHED = tuple(f"{name}_published" for name in PLAIN)
PROTOCOLS = (*PLAIN, *PUBLISHED)
"""The protocols of these splits; the published ones are in a file of the user's."""

BENCHMARK = "compmctg"

KIND = "splits of combinations"
"""What the manifest of a folder of such splits says that it is."""

_MANIFEST = "manifest.json"
_OTHERS = ("aspect", "part", "restarts", "hide", "search", "jobs", "seconds", "rounds", "alpha")


def run(options: argparse.Namespace) -> None:
    """Write the splits of a corpus or of a space of one's own, and print how divergent they are."""
    from spor_tasks.cli.progress import working

    for name in _OTHERS:
        if getattr(options, name):
            raise ConfigError(
                f"has no effect on the protocol {options.protocol}",
                where=name,
                remedy="Leave it out.",
            )
    with working(f"building {options.protocol}"):
        manifest = _benchmark().build_splits(
            options.corpus,
            options.protocol,
            options.out,
            seed=options.seed,
            overwrite=options.overwrite,
        )
    if options.json:
        print(json.dumps(manifest, indent=2))
        return
    print(visible(f"{options.out}: {manifest['protocol']} {manifest['corpus']}"))
    _print(manifest["splits"])
    if manifest["divergence"] is None:
        return
    if not manifest["is_proved_highest"]:
        print("  found by climbing; there may be a higher divergence")
        return
    print(f"  no split has a higher divergence; {manifest['ties']:,} have this one")


def certified(target: str) -> Any | None:  # noqa: ANN401 - the benchmark's
    """Return what is true of the splits in a folder; None if it is not a folder of such splits.

    Raises:
        ResultError, CorpusError: the folder is damaged.
    """
    kind = None
    with suppress(ResultError):
        kind = read_manifest(Path(target), _MANIFEST).get("kind")
    return _benchmark().check_splits(Path(target)) if kind == KIND else None


def show(target: str, found: Any) -> None:  # noqa: ANN401 - as above
    """Print what :func:`certified` found."""
    print(visible(f"{target}: {found.protocol} {found.corpus}"))
    _print(found.splits)
    if found.highest is not None:
        print(f"  highest divergence of any split: {found.highest:.6f}")
    if found.holds:
        print("  every requirement holds")
    for words in found.violations:
        print(f"  ≠ {visible(words)}")


def row_of(found: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return what :func:`certified` found as JSON."""
    return {"holds": found.holds, **found._asdict()}


def _print(splits: Iterable[Mapping[str, Any]]) -> None:
    print(f"  {'split':>5}{'seen':>8}{'unseen':>8}{'divergence':>12}  eligible")
    for number, told in enumerate(splits):
        divergence = "" if told["divergence"] is None else f"{told['divergence']:.6f}"
        ways = "both ways" if told["eligible_both_ways"] else "one way"
        print(
            f"  {number:>5}{told['seen']:>8}{told['unseen']:>8}{divergence:>12}  "
            f"{ways if told['eligible'] else 'no'}"
        )


def _benchmark() -> Any:  # noqa: ANN401 - as above
    return registry().get("benchmark", BENCHMARK)
