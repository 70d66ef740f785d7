"""Tasks that show a sample in several ways."""

from collections.abc import Mapping
from typing import Any

from spor_tasks.harness.task import SporTask
from spor_tasks.prompts.styles import prompts_of


class PairTask(SporTask):
    """A test set whose documents have several prompts, such as two orders, and as many outputs."""

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> list[str]:  # noqa: ANN401 - passed on
        """Return the context of each prompt, after the same demonstrations."""
        context = super().fewshot_context
        return [context({**doc, "prompt": each}, *args, **kwargs) for each in prompts_of(doc)]
