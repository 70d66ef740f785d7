"""Tasks that show a sample in several ways."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from spor_tasks.core.sample import Split
from spor_tasks.harness.task import SporTask
from spor_tasks.prompts.exchanged import twins, with_twins
from spor_tasks.prompts.styles import prompts_of


class PairTask(SporTask):
    """A test set whose documents have several prompts, such as two orders, and as many outputs."""

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> list[str]:  # noqa: ANN401 - passed on
        """Return the context of each prompt, after the same demonstrations."""
        context = super().fewshot_context
        return [context(shown, *args, **kwargs) for shown in self.shown(doc)]

    def shown(self, doc: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield the document as each of its prompts shows it."""
        for each in prompts_of(doc):
            yield {**doc, "prompt": each}


class TwinTask(PairTask):
    """Samples and their twins about invented entities: the prompts of one, then of the other.

    Before a twin stand the same demonstrations as before the sample, exchanged as it is; only
    training samples that have twins are shown.
    """

    def shown(self, doc: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield the document as each of its prompts shows it, those of the twin last."""
        views = list(super().shown(doc))
        half = len(views) // 2
        yield from views[:half]
        exchanged = {"demonstrations": doc.get(TWINS_SHOWN), _IS_TWIN: True}
        yield from ({**view, **exchanged} for view in views[half:])

    def to_show(self, doc: Mapping[str, Any]) -> Split | None:
        """Return the training samples that may stand before a prompt, or their twins."""
        if self._plan.fewshot_arm is None:
            return None
        arms = {arm.name: arm for arm in with_twins(self._plan.pair).arms}
        arm = arms[self._plan.fewshot_arm.name]
        return _exchanged(arm) if doc.get(_IS_TWIN) else arm


TWINS_SHOWN = "demonstrations_twin"
"""The demonstrations of the twin, in a document that lists them."""

_IS_TWIN = "is_twin"


@cache
def _exchanged(arm: Split) -> Split:
    return replace(arm, samples=twins(arm.samples))
