"""The filters of :mod:`spor_tasks.text.filters` as lm-eval's, and checks of any filter's results.

lm-eval knows each under its name with :data:`PREFIX`, as ``spor_first_line``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter, FilterEnsemble
from lm_eval.api.instance import Instance
from lm_eval.api.registry import register_filter
from lm_eval.filters import build_filter_ensemble

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import host
from spor_tasks.text import filters

PREFIX = "spor_"

FilterList = Sequence[Mapping[str, Any]]
"""A task's `filter_list`: chains of filters, each with its name."""

WHOLE: FilterList = ({"name": "none", "filter": [{"function": "take_first"}]},)
"""What scores outputs whole, as lm-eval does where a task has no filters."""


def _register(name: str, cut: Callable[[str], str]) -> None:
    @register_filter(f"{PREFIX}{name}")
    class Cut(Filter):  # type: ignore[misc]
        """Applies the filter to each of the outputs for each request."""

        def apply(self, resps: Iterable[Sequence[str]], docs: object) -> list[list[str]]:  # noqa: ARG002 - lm-eval's
            return [list(map(cut, outputs)) for outputs in resps]


for _name, _cut in filters.FILTERS.items():
    _register(_name, _cut)


def for_untuned(filter_list: FilterList) -> FilterList:
    """Return a task's filters with all of :data:`~filters.UNTUNED` where there was the last one.

    A chain without ``spor_first_line`` is somebody's own, and stays as it is.
    """
    *cleaning, last = (f"{PREFIX}{name}" for name in filters.UNTUNED)

    def extended(functions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        present = [function["function"] for function in functions]
        if last not in present:
            return list(functions)
        missing = [{"function": name} for name in cleaning if name not in present]
        place = present.index(last)
        return [*functions[:place], *missing, *functions[place:]]

    return [{**chain, "filter": extended(chain["filter"])} for chain in filter_list]


class Chain(FilterEnsemble):  # type: ignore[misc]
    """A chain of a task's filters, which outputs pass one after another.

    ``names`` are those of the filters, of ours without :data:`PREFIX`.
    """

    def __init__(self, task: str, chain: Mapping[str, Any]) -> None:
        functions = [{**f.get("kwargs", {}), **f} for f in chain["filter"]]
        functions_named = [function.pop("function") for function in functions]
        for function in functions:
            function.pop("kwargs", None)
        built = build_filter_ensemble(
            chain["name"], list(zip(functions_named, functions, strict=True))
        )
        super().__init__(built.name, built.filters)
        self._task = task
        self.names = tuple(
            name.removeprefix(PREFIX) if isinstance(name, str) else getattr(name, "__name__", "?")
            for name in functions_named
        )

    def apply(self, instances: Sequence[Instance]) -> None:
        """Give each request what the filters leave of its outputs.

        Raises:
            ConfigError: a filter returned something else than a text, or not one for each request.
        """
        docs = [instance.doc for instance in instances]
        results: list[Any] = [instance.resps for instance in instances]
        for name, make in zip(self.names, self.filters, strict=True):
            results = list(make().apply(results, docs))
            if len(results) != len(instances):
                raise self._fault(name, f"{len(results)} results for {len(instances)} requests")
            for each in results:
                if wrong := [text for text in _listed(each) if not isinstance(text, str)]:
                    raise self._fault(name, f"{type(wrong[0]).__name__} in place of a text")
        for instance, each in zip(instances, results, strict=True):
            if len(texts := _listed(each)) != 1:
                raise self._fault(self.name, "several texts for a request, and none is chosen")
            host.store(instance, self.name, texts[0])

    def _fault(self, name: str, what: str) -> ConfigError:
        return ConfigError(
            f"the filter {name} returned {what}",
            where=f"{self._task}: filter_list",
            remedy="Each filter must return a text for each output, which may be empty, and the "
            "last one must be take_first.",
        )


def _listed(results: Any) -> Sequence[Any]:  # noqa: ANN401 - a text or several
    return results if isinstance(results, list | tuple) else [results]
