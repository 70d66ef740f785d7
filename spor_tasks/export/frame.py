"""What only the exported tasks need: their data, and two requests for a document of two prompts."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from datasets import Dataset, DownloadManager
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from spor_tasks.checkpoints import prompt_style
from spor_tasks.corpora.jsonl import parse
from spor_tasks.corpora.sources import RAW_URL
from spor_tasks.documents import doc_of
from spor_tasks.errors import CorpusError


def load(
    *, corpus: str, test_file: str, test_sha256: str, **arguments: object
) -> dict[str, Dataset]:
    """Return the test set, from the folder `SPOR_DATA_DIR` or else from where it was published.

    The arguments are a task's metadata, those of the model among them: the prompt is that of its
    kind, unless ``prompt_style`` says which.

    Raises:
        CorpusError: the file is not the released one.
    """
    folder = os.environ.get("SPOR_DATA_DIR")
    path = (
        Path(folder, test_file) if folder else DownloadManager().download(f"{RAW_URL}/{test_file}")
    )
    content = Path(path).read_bytes()
    if hashlib.sha256(content).hexdigest() != test_sha256:
        raise CorpusError("is not the released file", where=path)
    style = prompt_style(arguments, None)
    samples = parse(content, corpus, where=test_file)
    return {"test": Dataset.from_list([doc_of(sample, style) for sample in samples])}


class PairTask(ConfigurableTask):  # type: ignore[misc]
    """A test set whose units are shown in two orders: two prompts and two outputs a document."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config={key: value for key, value in config.items() if key != "class"})

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> list[str]:  # noqa: ANN401 - passed on
        """Return both contexts."""
        second = {**doc, "prompt": doc["prompt_2"]}
        return [super(PairTask, self).fewshot_context(d, *args, **kwargs) for d in (doc, second)]

    def construct_requests(
        self,
        doc: Mapping[str, Any],
        ctx: list[str],
        **kwargs: Any,  # noqa: ANN401 - passed on
    ) -> list[Instance]:
        """Return a request for each context."""
        requests = [super(PairTask, self).construct_requests(doc, one, **kwargs) for one in ctx]
        for number, request in enumerate(requests):
            request.idx = number
        return requests
