"""Our tasks inside lm-eval."""

import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, cast

import msgspec
from lm_eval.api.instance import Instance
from lm_eval.api.samplers import ContextSampler, FirstNSampler
from msgspec.structs import replace as changed

from spor_tasks import __version__
from spor_tasks.core import hosts
from spor_tasks.core.codec import sample_of
from spor_tasks.core.digests import set_digest
from spor_tasks.core.files import FileContent, JsonObject
from spor_tasks.core.removed import why_removed
from spor_tasks.harness import adapt, documents, filters, host, task_files
from spor_tasks.harness.documents import Doc
from spor_tasks.harness.plan import arm_digest, check_hf, check_shots, hint, read, resolve
from spor_tasks.harness.tokens import Tokens
from spor_tasks.metrics import learned
from spor_tasks.metrics.scores import metrics_for
from spor_tasks.models import answers, backends, checkpoints
from spor_tasks.models.chats import Chat
from spor_tasks.prompts.content import digest as digest_demonstrations
from spor_tasks.prompts.styles import PromptStyle, preamble, prompts_of
from spor_tasks.results.facts import Declared, Facts, PromptFacts, TestFacts, baseline_of

_log = logging.getLogger(__name__)

# A demonstration's text follows the causal prompt's own cue. The seq2seq prompt has none, and
# T5's tokenizer drops line breaks, so words must say where the text begins.
_DEMONSTRATION_CUE: Mapping[PromptStyle, str] = {
    "causal": "",
    "seq2seq": " Output: ",
    "instruction": " ",
}


class SporTask(host.HostTask):
    """A test set and its prompts, with arms that demonstrations come from.

    A document has as many prompts as its sample has views (:func:`spor_tasks.core.sample.views`),
    and as many answers. With ``output_type: loglikelihood`` the texts are given, and the model says
    how likely each is after its prompt, with its end if the model's tokenizer is known.

    The ``metadata`` of a task's file names benchmark, aspect, corpus, protocol, part and the test
    set's digest. With ``icl_arm`` each prompt shows at most ``num_fewshot`` demonstrations of this
    arm, chosen for its sample, and the documents are the samples that every arm can cover. Tasks
    with splits choose them too, where ``num_fewshot`` asks for some; other tasks draw them.
    An evaluation may add :class:`~spor_tasks.harness.plan.Settings`.

    The filters in the task's file cut each output before it is scored. For a model that is given
    demonstrations, instructions or a chat template, reasoning and preambles are cut off as well
    (:func:`spor_tasks.harness.filters.for_untuned`).

    The result says under ``spor`` how these settings were resolved, and which adapter was used.

    Raises:
        ConfigError: a setting is unknown, no demonstration is allowed, or the adapter does not fit
            the base or the sets.
        SplitError: the test set is not the one that the task was made for, or no sample can be
            covered with demonstrations.
        CorpusError: the data is missing, or not what was published.
    """

    _fewshot_seed: int | None = None
    _thinking: bool | None = None  # of the chat template; None without one
    _chat: Chat | None = None
    _failures: Mapping[str, int] = MappingProxyType({})  # requests without an answer, by the reason

    def __init__(self, config: JsonObject) -> None:
        # By a document's id and filtered outputs.
        self._measured: dict[tuple[object, ...], adapt.Measured] = {}
        host.keep_folder_names_short()
        host.check_limits()
        if why_removed(config["task"]):  # in a task file of an older release
            raise task_files.unknown(config["task"])
        metadata = dict(config["metadata"])
        self._asked = known = read(metadata)
        self._plan = plan = resolve(known)
        metadata.pop(hosts.MODEL_TYPE, None)
        self._is_checked = bool(metadata.pop(hosts.CHECKED, False))
        for warning in () if self._is_checked else plan.warnings:
            _log.warning(warning)
        self._backend = backends.backend(known.model.model_type)
        self._style = plan.style
        is_instructed = plan.style == "instruction"
        own = known.set.own_corpus
        self._instruction = own.instruction if own and is_instructed else None
        asks_likelihoods = config["output_type"] == "loglikelihood"
        self._tokens = Tokens.of(known.model) if asks_likelihoods else None
        self._notes = check_hf(known.model, writes=not asks_likelihoods)
        judges = learned.requested(known.settings.judges, plan.spec)
        self._judges = {name: metric.signature for name, metric in judges.items()}
        self._declared = Declared.of(plan.spec, judges)
        self._metrics = (*metrics_for(plan.spec.judging.scores), *judges.values())
        self._scores = [
            *plan.spec.judging.scores,
            *(name for each in judges.values() for name in adapt.scores_of(each, plan.spec)),
        ]
        super().__init__(
            config={
                **{key: value for key, value in config.items() if key != "class"},
                "metadata": {
                    **metadata,
                    "protocol": plan.spec.sets.protocol,
                    **({"part": plan.spec.sets.part} if plan.spec.sets.part else {}),
                    "test_sha256": set_digest(plan.pair.test),
                },
                "metric_list": adapt.metric_list(self._scores),
                "process_results": "spor_tasks",  # not empty: lm-eval would add metrics of its own
                "fewshot_split": plan.fewshot_arm,
                "target_delimiter": _DEMONSTRATION_CUE[self._style],
            }
        )
        self._set_filters(for_untuned=known.set.icl_arm is not None or is_instructed)

    def _set_filters(self, *, for_untuned: bool) -> None:
        chains = self.config.filter_list or filters.WHOLE
        self.set_config("filter_list", filters.for_untuned(chains) if for_untuned else chains)

    # --- Documents and demonstrations -------------------------------------------------------------

    @property
    def _chooses(self) -> bool:
        """True if demonstrations are chosen for each sample."""
        may_choose = (
            self._plan.spec.sets.is_pooled and self._tokens is None and self.config.num_fewshot
        )
        return self._asked.set.icl_arm is not None or bool(may_choose)

    def download(self, *_: object, **__: object) -> None:
        """Build the test set in memory: it is small, and a cache on the disk could be outdated."""
        plan, number = self._plan, self.config.num_fewshot
        asked = self._style, self._instruction
        check_shots(plan, number)
        if self._chooses and plan.fewshot_arm:
            docs = documents.with_demonstrations(plan.pair, plan.fewshot_arm, number, *asked)
        elif self._asked.settings.held_out_reference:
            docs = documents.without_first_references(plan.pair.test, *asked)
        else:
            docs = documents.from_samples(plan.pair.test, *asked)
        self.dataset = {"test": documents.dataset(docs)}
        if self._chooses and (text := preamble(plan.pair.facts.corpus, self._style)):
            self.set_config("description", text)

    def set_config(self, key: str, value: object, update: bool = False) -> None:  # noqa: FBT001, FBT002 - lm-eval's
        """Set a value; another number of demonstrations means other documents."""
        before = self.config.num_fewshot
        super().set_config(key, value, update)
        if key == "num_fewshot" and (value or 0) != (before or 0):
            self.download()

    def doc_iterator(
        self, *, limit: int | None = None, **kwargs: object
    ) -> Iterator[tuple[int, Doc]]:
        """Yield numbered documents; with ``limit_evenly`` a limit spreads over all of them."""
        count = len(self.eval_docs)
        if limit and limit < count and self._asked.settings.limit_evenly:
            kwargs["samples"] = [number * count // limit for number in range(limit)]
        yield from super().doc_iterator(limit=limit, **kwargs)

    def fewshot_docs(self) -> None:
        """Return nothing: an arm is read only when a prompt needs demonstrations."""

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Keep the seed that demonstrations are drawn with."""
        super().set_fewshot_seed(seed)
        self._fewshot_seed = seed

    def fewshot_context(
        self, doc: Doc, num_fewshot: int, *args: object, **kwargs: object
    ) -> object:
        """Return the context of the document's prompt, or a list of those of several prompts.

        All have the same demonstrations; those before a twin are exchanged as it is. Where they are
        drawn, a draw depends only on the seed, the task and the sample. So the number of processes
        and the samples before this one do not change a prompt.
        """
        contexts, prompts, pair = [], prompts_of(doc), self._plan.pair
        has_twin = documents.have_twins(pair)
        for number, prompt in enumerate(prompts):
            before_twin = has_twin and number >= len(prompts) // 2
            if self._chooses:
                examples = doc[documents.BEFORE_TWIN if before_twin else "demonstrations"]
                self.sampler, num_fewshot = FirstNSampler(examples), len(examples)
            elif num_fewshot:
                arm = cast("str", self._plan.fewshot_arm)  # check_shots has refused sets without
                source = documents.drawn_from(pair, arm, before_twin=before_twin)
                docs = documents.from_samples(source, self._style, self._instruction)
                seed = f"{self._fewshot_seed} {self.config.task} {doc['id']}"
                self.sampler = ContextSampler(docs, rnd=seed)
            view = {**doc, "prompt": prompt}
            contexts.append(super().fewshot_context(view, num_fewshot, *args, **kwargs))
        return contexts if len(contexts) > 1 else contexts[0]

    # --- Requests ---------------------------------------------------------------------------------

    def construct_requests(self, doc: Doc, ctx: object, **kwargs: object) -> list[Instance]:
        """Return a request for each context; beam search has a request type of its own."""
        contexts = ctx if isinstance(ctx, list) else [ctx]
        requests = [self.request(doc, each, idx, **kwargs) for idx, each in enumerate(contexts)]
        if self._tokens:
            is_apart = self._style == "seq2seq" or kwargs.get("apply_chat_template")
            between = "" if is_apart else str(self.config.target_delimiter or "")
            for request, text in zip(requests, sample_of(doc).texts, strict=True):
                request.request_type = "loglikelihood"
                context, _ = request.arguments
                request.arguments = str(context), f"{between}{text}{self._tokens.end}"
            return requests
        for request in requests:
            prompt, decoding = request.arguments
            if (decoding.get("num_beams") or 1) > 1:
                request.request_type = backends.BEAM_REQUESTS
            request.arguments = prompt, backends.known_to(self._backend, decoding)
            if len(self.config.filter_list) == 1:  # spor-hf stops generating where they cut
                request.filters = filters.names(self.config.filter_list[0])
        return requests

    def _generation(self) -> backends.Decoding:
        """Return all settings that decide what is generated."""
        own = checkpoints.generation_config(self._asked.model)
        stated = self.config.generation_kwargs or {}
        return backends.resolved_generation(self._backend, stated, own)

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the requests; a chat template is asked for answers without reasoning."""
        stated = self.config.generation_kwargs or {}
        if not self._is_checked:
            advice = hint(self._plan, self._asked, self.config.num_fewshot)
            if advice and not self._tokens:
                _log.warning(advice)
            for note in self._notes:
                _log.warning("%s: %s", self.config.task, note)
        backends.check_decoding(self.config.task, stated, self._backend)
        if not self._tokens and (own := self._generation().keys() - {*stated, *backends.TOKEN_IDS}):
            _log.warning(
                "%s: the generation_config of the checkpoint also sets %s; only spor-hf ignores it",
                self.config.task,
                ", ".join(sorted(own)),
            )
        if kwargs.pop("cache_requests", False):
            _log.warning(
                "%s: cache_requests is ignored: that cache does not know what prompts depend on",
                self.config.task,
            )
        if kwargs.get("apply_chat_template"):
            self._set_filters(for_untuned=True)
        answers.mark_failures()
        render = kwargs.get("chat_template")
        if render is not None:
            kwargs["chat_template"] = self._chat = Chat(render, self.config.task)
        with backends.without_thinking(self._backend, render) as self._thinking:
            super().build_all_requests(**kwargs)

    # --- Answers ----------------------------------------------------------------------------------

    def apply_filters(self) -> list[Instance]:
        """Filter and measure the outputs of all requests; likelihoods have nothing to cut."""
        grouped: dict[str, list[Instance]] = defaultdict(list)
        for request in sorted(self._instances, key=lambda request: request.idx):
            grouped[request.doc["id"]].append(request)
        answered = list(grouped.values())
        samples = [sample_of(first.doc) for first, *_ in answered]
        requests = list(chain.from_iterable(answered))
        if self._tokens:
            given = [text for sample in samples for text in sample.texts]
            found: list[Any] = [self._tokens.likelihoods(requests, given, self._style)]
        else:
            task, chains = self.config.task, self.config.filter_list
            found = [filters.filtered(task, each, requests) for each in chains]
            self._failures = answers.failures(requests)
            if failed := sum(self._failures.values()):
                _log.warning(
                    "%s: the server failed to answer %d of %d requests, which are scored as they "
                    "are: %s",
                    task,
                    failed,
                    len(requests),
                    json.dumps(self._failures),
                )
        self._measured.clear()
        number = self.config.num_fewshot
        shares: Mapping[str, Mapping[str, float]] = {}
        if not self._is_bypassed and (self._chooses or not number):  # drawn ones are of no sample
            shares = documents.shown_pairs(self._plan.pair, number if self._chooses else None)
        # All that a chain of filters left is measured together, which is faster.
        for left in () if self._is_bypassed else map(iter, found):
            outputs = [tuple(islice(left, len(of_sample))) for of_sample in answered]
            measured = adapt.measured(self._metrics, self._scores, samples, outputs)
            for sample, texts, (values, details) in zip(samples, outputs, measured, strict=True):
                more: FileContent = {}
                if self._tokens:
                    more["tokens"] = [text.tokens for text in texts]
                if sample.id in shares:
                    more[documents.SHOWN_PAIRS] = shares[sample.id]
                self._measured[self._key(sample.id, texts)] = values, details | more
        return list(self._instances)

    @property
    def _is_bypassed(self) -> bool:
        """True if only outputs are asked for."""
        return "bypass" in self.aggregation()

    def _key(self, sample_id: object, outputs: Sequence[object]) -> tuple[object, ...]:
        return (sample_id, *(() if self._tokens else outputs))

    def process_results(self, doc: Doc, results: Sequence[object], /) -> Doc:
        """Return a document's scores; what they come from is logged with the document."""
        if self._is_bypassed:
            return {"bypass": 999}  # as lm-eval's metric of this name
        values, details = self._measured[self._key(doc["id"], results)]
        doc |= details
        return dict(values)

    def dump_config(self) -> FileContent:
        """Return the settings for the result, with what is only known after the run."""
        config: FileContent = super().dump_config()
        config.setdefault("num_fewshot", self.config.num_fewshot or 0)  # 0.5 leaves out None
        config.setdefault("generation_kwargs", {})  # as do tasks of likelihoods
        plan, settings, number = self._plan, self._asked.settings, config["num_fewshot"]
        arms = {arm: sha for arm, each in plan.pair.arms.items() if (sha := arm_digest(each))}
        arm = plan.fewshot_arm
        demonstrations = arms[str(arm)] if number else None
        samples, covered, matching = 0, None, {}
        if self._chooses:
            config["metadata"].setdefault("icl_arm", arm)
            chosen = documents.chosen(plan.pair, number)
            demonstrations = digest_demonstrations(chosen)
            samples, covered = len(plan.pair.test), len(chosen)
            of_arms = documents.matching(plan.pair, number).items()
            matching = {name: asdict(of_arm) for name, of_arm in of_arms}
        facts = Facts(
            spor_tasks=__version__,
            packages=backends.package_versions(),
            declared=self._declared,
            prompt=PromptFacts(
                style=self._style,
                instruction=self._instruction,
                arm=arm,
                demonstrations_sha256=demonstrations,
                matching=matching,
                thinking=self._thinking,
                system_message=self._chat.moved if self._chat else None,
            ),
            arms=arms,
            adapter=changed(plan.adapter, log=None) if plan.adapter else None,
            test=TestFacts(
                held_out_reference=settings.held_out_reference,
                limit_evenly=settings.limit_evenly,
                likelihood=self._tokens.facts if self._tokens else None,
                samples=samples,
                covered=covered,
            ),
            judges=self._judges,
            notes=[*self._notes],
            baseline=baseline_of(config["metadata"].get("model")),
            generation=dict(self._generation()),
            failures=dict(self._failures),
        )
        config["metadata"]["spor"] = msgspec.to_builtins(facts)
        return config
