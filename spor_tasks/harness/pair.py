"""Tasks that show the units of a sample in two orders."""

from collections.abc import Mapping
from typing import Any

from spor_tasks.harness.task import SporTask


class PairTask(SporTask):
    """A test set whose units are shown in two orders: two prompts and two outputs a document."""

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> list[str]:  # noqa: ANN401 - passed on
        """Return both contexts, after the same demonstrations."""
        second = {**doc, "prompt": doc["prompt_2"]}
        return [super(PairTask, self).fewshot_context(d, *args, **kwargs) for d in (doc, second)]
