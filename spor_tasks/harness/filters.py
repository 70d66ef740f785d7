"""The filters of :mod:`spor_tasks.text.filters` as lm-eval's, and checks of any filter's results.

lm-eval knows each under its name with :data:`PREFIX`, as ``spor_first_line``.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from lm_eval.api.filter import Filter
from lm_eval.api.instance import Instance
from lm_eval.api.registry import filter_registry, get_filter

from spor_tasks.core.codec import sample_of
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import JsonObject
from spor_tasks.harness import host
from spor_tasks.text import filters

PREFIX = "spor_"

Chain: TypeAlias = JsonObject
"""Filters, one after another, with a name."""

FilterList: TypeAlias = Sequence[Chain]
"""A task's `filter_list`."""

WHOLE: FilterList = ({"name": "none", "filter": [{"function": "take_first"}]},)
"""What scores outputs whole, as lm-eval does where a task has no filters."""


class Cut(Filter):  # type: ignore[misc]
    """Applies a filter to each of the outputs for each request."""

    cut: Callable[[str], str]

    def apply(self, resps: Iterable[Sequence[str]], docs: object) -> list[list[str]]:  # noqa: ARG002 - lm-eval's
        """Return what the filter leaves of the outputs for each request."""
        return [list(map(self.cut, outputs)) for outputs in resps]


_CUTS = {
    f"{PREFIX}{name}": type(
        f"{PREFIX}{name}", (Cut,), {"cut": staticmethod(each.cut), "__module__": __name__}
    )
    for name, each in filters.FILTERS.items()
}
for _name, _cut in _CUTS.items():
    if _name not in filter_registry:  # by an entry point
        filter_registry.register(_name, target=_cut)


def __getattr__(name: str) -> type[Cut]:
    """Return a class by lm-eval's name of it, as its entry point does."""
    if name in _CUTS:
        return _CUTS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def for_untuned(filter_list: FilterList) -> FilterList:
    """Return a task's filters with all of :data:`~filters.UNTUNED` around ``spor_first_line``.

    A chain without that filter is somebody's own, and stays as it is.
    """
    wanted = [f"{PREFIX}{name}" for name in filters.UNTUNED]
    first_line = f"{PREFIX}{filters.first_line.__name__}"
    place = wanted.index(first_line)

    def extended(steps: FilterList) -> FilterList:
        present = [step["function"] for step in steps]
        if first_line not in present:
            return steps
        before, after = (
            [{"function": name} for name in part if name not in present]
            for part in (wanted[:place], wanted[place:])
        )
        at = present.index(first_line)
        return [*steps[:at], *before, steps[at], *after, *steps[at + 1 :]]

    return [{**chain, "filter": extended(chain["filter"])} for chain in filter_list]


def names(chain: Chain) -> tuple[str, ...]:
    """Return the names of the filters of a chain, of ours without :data:`PREFIX`."""
    functions = (step["function"] for step in chain["filter"])
    return tuple(getattr(each, "__name__", str(each)).removeprefix(PREFIX) for each in functions)


def filtered(task: str, chain: Chain, requests: Sequence[Instance]) -> list[str]:
    """Return what a chain of filters leaves of the first output for each request, and store it.

    Raises:
        ConfigError: a filter returned something else than texts, or not for each request.
    """
    docs = [request.doc for request in requests]
    results: list[Any] = [request.resps for request in requests]
    for name, step in zip(names(chain), chain["filter"], strict=True):
        arguments = {**step.get("kwargs", {}), **step}
        make = get_filter(arguments.pop("function"))
        arguments.pop("kwargs", None)
        found = make(**arguments).apply(results, docs)
        results = [[each] if isinstance(each, str) else each for each in found]
        texts = [text for each in results for text in each or [None]]
        if len(results) != len(docs) or not all(isinstance(text, str) for text in texts):
            raise ConfigError(
                f"the filter {name} did not return a text for each output",
                where=f"{task}: filter_list",
                remedy="A filter must return a list of texts for each request.",
            )
    texts = [text for text, *_ in results]
    ours = [name for name in names(chain) if name in filters.FILTERS]
    if of_all := [name for name in ours if filters.find(name).over_all]:
        numbers = [request.doc_id for request in requests]
        if any(after - before != 1 for before, after in pairwise(numbers)):
            raise ConfigError(
                f"the filter {of_all[0]} needs all samples in their order",
                where=task,
                remedy="Evaluate in one process.",
            )
        tables = [sample_of(doc).cluster for doc in docs]
        texts = [*filters.over_all(of_all, texts, tables)]
    for request, text in zip(requests, texts, strict=True):
        host.store(request, chain["name"], text)
    return texts
