"""Tasks that ask how likely given texts are, not for a text."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance

from spor_tasks.core.codec import sample_of
from spor_tasks.harness import adapt, host
from spor_tasks.harness.pair import PairTask
from spor_tasks.harness.task import SporTask
from spor_tasks.harness.tokens import Tokens
from spor_tasks.metrics.likelihood import Likelihood

_logger = logging.getLogger(__name__)

_FILTER = "none"  # lm-eval's name for answers that nothing is cut from


class LikelihoodTask(SporTask):
    """A test set whose texts are given: the model says how likely each is after its prompt.

    The end of the text is part of it, as published, if the model's tokenizer is known, and the
    number of its tokens. Without one, scores by token have no verdict.

    Raises:
        ConfigError, SplitError, CorpusError: as :class:`SporTask`.
    """

    def construct_requests(
        self,
        doc: Mapping[str, Any],
        ctx: object,
        **kwargs: Any,  # noqa: ANN401 - passed on
    ) -> list[Instance]:
        """Return a request for each text of the sample."""
        glue = "" if kwargs.get("apply_chat_template") else self._glue
        contexts = ctx if isinstance(ctx, list) else [ctx]
        requests = []
        for number, (context, text) in enumerate(zip(contexts, sample_of(doc).given, strict=True)):
            (request,) = self.requests(doc, context, **kwargs)
            request.idx = number
            request.request_type = "loglikelihood"
            request.arguments = str(context), f"{glue}{text}{self._tokens.end}"
            requests.append(request)
        return requests

    @property
    def _glue(self) -> str:
        """What stands between prompt and text: an encoder's prompt is apart from it."""
        return "" if self._style == "seq2seq" else str(self.config.target_delimiter or "")

    @property
    def _tokens(self) -> Tokens:
        return Tokens.of(self.config.metadata)

    def apply_filters(self) -> list[Instance]:
        """Measure all likelihoods together; nothing is filtered."""
        instances: list[Instance] = self._instances
        counts = self._tokens.count([request.arguments for request in instances], self._style)
        tokens_of = dict(zip(map(id, instances), counts, strict=True))
        asked = self._asked()
        samples = [sample_of(first.doc) for first, *_ in asked.values()]
        answers = [
            tuple(
                Likelihood(_log(request), tokens_of[id(request)], len(text.encode()))
                for request, text in zip(of, sample.given, strict=True)
            )
            for of, sample in zip(asked.values(), samples, strict=True)
        ]
        self._likelihoods = {
            id(request): likelihood
            for requests, of in zip(asked.values(), answers, strict=True)
            for request, likelihood in zip(requests, of, strict=True)
        }
        values = adapt.values(self._metrics, self._scores, samples, answers)
        self._of_document = dict(zip(asked, values, strict=True))
        self._counts = {
            doc_id: [each.tokens for each in of] for doc_id, of in zip(asked, answers, strict=True)
        }
        return instances

    def process_results(self, doc: dict[str, Any], _: Sequence[Any], /) -> dict[str, Any]:
        """Return a document's scores; how many tokens its texts have is logged with it."""
        if self._is_unscored:
            return {"bypass": 999}
        doc["tokens"] = self._counts[doc["id"]]
        return dict(self._of_document[doc["id"]])

    def dump_config(self) -> dict[str, Any]:
        """Return the settings for the result, with how texts were ended and counted."""
        config = super().dump_config()
        config["metadata"]["spor"]["likelihood"] = self._tokens.facts
        return config


def _log(request: Instance) -> float:
    """Return the log likelihood that a model gave, which is kept as what is scored."""
    log, *_ = request.resps[0]
    host.keep(request, _FILTER, float(log))
    return float(log)


class AdversarialTask(LikelihoodTask, PairTask):
    """A test set of true texts, each beside a false one, after a prompt of its own."""


class DiscriminationTask(LikelihoodTask, PairTask):
    """A test set of texts, each after the prompts of all combinations that it may have."""

    def apply_filters(self) -> list[Instance]:
        """Measure all likelihoods together, and say where a prompt and a text share a token."""
        asked = [request.arguments for request in self._instances]
        if self._style != "seq2seq" and (count := self._tokens.spanning(asked)):
            _logger.warning(
                "%s: in %d of %d cases, a token would span prompt and text; spor-hf and spor-vllm "
                "read them apart, as training does, and other models read half of it",
                self.config.task,
                count,
                len(asked),
            )
        return super().apply_filters()
