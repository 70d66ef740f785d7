"""Our tasks inside lm-eval."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from datasets import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.samplers import ContextSampler

from spor_tasks import __version__
from spor_tasks.core.codec import sample_of
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Split, sides, without_first_reference
from spor_tasks.harness import adapt, backends, checkpoints, filters, host
from spor_tasks.harness.plan import arm_digest, check_shots, is_on, resolve, split_digest
from spor_tasks.prompts.styles import PromptStyle, prompted
from spor_tasks.results.declared import declaration

# The keys of an adapter's manifest that go into the result.
_ADAPTER_FACTS = (
    "arm",
    "arm_sha256",
    "violations",
    "pairs",
    "seed",
    "settings",
    "settings_sha256",
    "selection",
    "adapter_sha256",
    "base_model",
)

_EVIDENCE = "evidence"  # beside scores: what a document's log gets

HELD_OUT = ("held_out", "held_out_twin")
"""The fields of a document with the texts that its sample, and its twin, lack."""

# A demonstration's text follows the causal prompt's own cue. The seq2seq prompt has none, and
# T5's tokenizer drops line breaks, so words must say where the text begins.
_DEMONSTRATION_CUE: Mapping[PromptStyle, str] = {
    "causal": "",
    "seq2seq": " Output: ",
    "instruction": " ",
}


class SporTask(host.HostTask):
    """A test set and its prompts, with arms to draw demonstrations from.

    The ``metadata`` of a task's file names benchmark, aspect, corpus, protocol, part and the test
    set's digest. ``--metadata`` may add:

    - ``prompt_style``: ``causal`` or ``seq2seq`` if the model's files are not on this machine, or
      ``instruction`` for a model that was not tuned on the paper's prompts;
    - ``fewshot_arm``: the arm that ``--num_fewshot`` draws from, by default the first; a task with
      demonstrations of its own has its own arm;
    - ``split``: the split that answers are read under, where the adapter does not name it;
    - ``allow_split_mismatch=true``: evaluate an adapter that was trained on other sets;
    - ``held_out_reference=true``: remove the first reference from each sample, and leave out
      samples without another, so that a human text can be scored like an output;
    - ``facts_model``, ``nli_model``, ``bleurt_model``: a classifier on the disk or the hub; tasks
      that report ``facts``, ``nli_acc`` or ``bleurt`` then score it. ``_format``, ``_label``,
      ``_device`` and ``_batch_size`` in place of ``_model`` are as in
      :func:`spor_tasks.metrics.classifier.load`, :func:`spor_tasks.metrics.entailment.load` and
      :func:`spor_tasks.metrics.bleurt.load`;
    - ``sp_ranker=lexical``: tasks that report ``sp_acc`` then score it.

    The model's argument ``baseline_arm`` names the arm that a baseline uses as its training set.

    Scored is what the filters in the task's file leave of an output. If a model is given
    instructions or a chat template, reasoning and preambles are dropped as well
    (:func:`spor_tasks.harness.filters.for_untuned`).

    The result says under ``spor`` how these settings were resolved, and which adapter was used.

    Raises:
        ConfigError: a setting is unknown, or the adapter does not fit the base or the sets.
        SplitError: the test set is not the one that the task was made for.
        CorpusError: the data is missing, or not what was published.
    """

    _fewshot_seed: int | None = None
    _thinking: bool | None = None  # of the chat template; None without one
    _found: dict[tuple[str, ...], dict[str, Any]]  # by a document's id with its texts

    def __init__(self, config: Mapping[str, Any]) -> None:
        metadata = config["metadata"]
        self._plan = plan = resolve(metadata)
        self._holds_out = is_on(metadata, "held_out_reference")
        self._style = checkpoints.prompt_style(metadata, plan.adapter)
        arm = plan.fewshot_arm and plan.fewshot_arm.name
        facts = {
            "spor_tasks": __version__,
            "packages": backends.package_versions(),
            "prompt_style": self._style,
            "held_out_reference": self._holds_out,
            "fewshot_arm": arm,
            "declared": declaration(plan.spec),
            "arms": {arm.name: sha for arm in plan.pair.arms if (sha := arm_digest(arm))},
            "adapter": plan.adapter and {key: plan.adapter.get(key) for key in _ADAPTER_FACTS},
        }
        self._scores = plan.spec.scores
        self._metrics = adapt.metrics_for(self._scores)
        metrics = adapt.metric_list(self._scores)
        for name, metric in plan.asked.items():
            metrics += adapt.metric_list([info.name for info in metric.scores])
            facts[name] = metric.signature
        super().__init__(
            config={
                **{key: value for key, value in config.items() if key != "class"},
                "metadata": {
                    **metadata,
                    "protocol": plan.spec.name.protocol,
                    **({"part": plan.spec.name.part} if plan.spec.name.part else {}),
                    "test_sha256": split_digest(plan.pair.test),
                    "spor": facts,
                },
                "metric_list": metrics,
                "process_results": "spor_tasks",  # not empty: lm-eval would add metrics of its own
                "fewshot_split": arm,
                "target_delimiter": _DEMONSTRATION_CUE[self._style],
            }
        )
        self._set_filters(self.config.filter_list, for_untuned=self._style == "instruction")

    def _set_filters(self, given: filters.FilterList | None, *, for_untuned: bool) -> None:
        filter_list = given or filters.WHOLE
        if for_untuned:
            filter_list = filters.for_untuned(filter_list)
        self.set_config("filter_list", filter_list)
        self._filters = [filters.Chain(self.config.task, each) for each in filter_list]

    def download(self, *_: object, **__: object) -> None:
        """Build the test set in memory: it is small, and a cache on the disk could be outdated."""
        docs = _docs(self._plan.pair.test, self._style)
        if self._holds_out:
            docs = _held_out_docs(self._plan.pair.test, self._style)
        self.dataset = {"test": dataset(docs)}

    def fewshot_docs(self) -> None:
        """Return nothing: an arm is read only when a prompt needs demonstrations."""

    def construct_requests(
        self,
        doc: Mapping[str, Any],
        ctx: object,
        **kwargs: Any,  # noqa: ANN401 - passed on
    ) -> list[Instance]:
        """Return a request for each context; beam search has a request type of its own."""
        requests = []
        for number, context in enumerate(ctx if isinstance(ctx, list) else [ctx]):
            (request,) = self.requests(doc, context, **kwargs)
            request.idx = number
            prompt_, decoding = request.arguments
            if decoding.get("num_beams", 1) > 1:
                request.request_type = backends.BEAM_REQUESTS
            request.arguments = prompt_, backends.known_to_backend(decoding)
            if len(self._filters) == 1:  # spor-hf stops generating where they cut
                request.filters = self._filters[0].names
            requests.append(request)
        return requests

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Keep the seed that demonstrations are drawn with."""
        super().set_fewshot_seed(seed)
        self._fewshot_seed = seed

    def fewshot_context(
        self,
        doc: Mapping[str, Any],
        num_fewshot: int,
        *args: Any,  # noqa: ANN401 - passed on
        **kwargs: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Return the context after so many demonstrations."""
        if num_fewshot:
            self.sampler = self.sampler_for(doc)
        return super().fewshot_context(doc, num_fewshot, *args, **kwargs)

    def sampler_for(self, doc: Mapping[str, Any]) -> ContextSampler:
        """Return what draws demonstrations; it depends only on the seed, the task and the sample.

        So the number of processes and the samples before this one do not change a prompt, and the
        two prompts of a sample have the same demonstrations.
        """
        arm = self.to_show(doc)
        seed = f"{self._fewshot_seed} {self.config.task} {doc['id']}"
        return ContextSampler(_docs(arm, self._style) if arm else [], rnd=seed)

    def to_show(self, _: Mapping[str, Any]) -> Split | None:
        """Return the training samples that may stand before a document's prompt."""
        return self._plan.fewshot_arm

    def build_all_requests(self, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        """Build the requests; a chat template is asked for answers without reasoning."""
        check_shots(self._plan, self.config.num_fewshot)
        backends.check_beams(self.config.task, self.config.generation_kwargs or {})
        if kwargs.get("apply_chat_template"):
            self._set_filters(self.config.filter_list, for_untuned=True)
        with backends.without_thinking(kwargs.get("chat_template")) as self._thinking:
            super().build_all_requests(**kwargs)

    def apply_filters(self) -> list[Instance]:
        """Filter the outputs, and measure all of them together, which is faster."""
        instances: list[Instance] = self._instances
        for each in self._filters:
            each.apply(instances)
        self._found = {}
        for each in () if self._is_unscored else self._filters:
            self._found |= self._judge(each.name)
        return instances

    @property
    def _is_unscored(self) -> bool:
        return "bypass" in self.aggregation()  # with --predict_only

    def _judge(self, chain: str) -> dict[tuple[str, ...], dict[str, Any]]:
        """Return the scores of each document, by its id and its texts."""
        requests = self._asked()
        samples = [sample_of(first.doc) for first, *_ in requests.values()]
        texts = [tuple(host.kept(each, chain) for each in of) for of in requests.values()]
        found: list[dict[str, Any]] = [{_EVIDENCE: {}} for _ in samples]
        asked = ([metric] for metric in self._plan.asked.values())
        for metrics, names in (
            (self._metrics, self._scores),
            *((each, [info.name for info in each[0].scores]) for each in asked),
        ):
            measured = adapt.measured(metrics, names, samples, texts)
            for of_doc, (values, logged) in zip(found, measured, strict=True):
                of_doc.update(values)
                of_doc[_EVIDENCE].update(logged)
        keys = [(doc_id, *of) for doc_id, of in zip(requests, texts, strict=True)]
        return dict(zip(keys, found, strict=True))

    def _asked(self) -> dict[str, list[Instance]]:
        """Return the requests of each document, by its id."""
        requests: dict[str, list[Instance]] = defaultdict(list)
        for request in sorted(self.instances, key=lambda request: request.idx):
            requests[request.doc["id"]].append(request)
        return requests

    def process_results(self, doc: dict[str, Any], results: Sequence[Any], /) -> dict[str, Any]:
        """Return a document's scores; what they come from is logged with the document."""
        if self._is_unscored:
            return {"bypass": 999}  # as lm-eval's metric of this name
        scores = dict(self._found[doc["id"], *results])
        doc |= scores.pop(_EVIDENCE, {})
        return scores

    def dump_config(self) -> dict[str, Any]:
        """Return the settings for the result, with what is only known after the run."""
        config: dict[str, Any] = super().dump_config()
        config.setdefault("num_fewshot", self.config.num_fewshot or 0)  # 0.5 leaves out None
        config.setdefault("generation_kwargs", {})  # as do tasks of likelihoods
        facts = config["metadata"]["spor"]
        shown = facts["arms"][facts["fewshot_arm"]] if config.get("num_fewshot") else None
        facts |= {
            "demonstrations_sha256": shown,
            "generation": backends.resolved_generation(
                config["generation_kwargs"], config["metadata"]
            ),
            "thinking": self._thinking,
        }
        return config


def dataset(docs: Sequence[Mapping[str, Any]]) -> Dataset:
    """Return documents as lm-eval needs them; a field that some lack is None in those.

    `Dataset.from_list` would drop a field that the first one lacks.
    """
    fields = dict.fromkeys(chain.from_iterable(docs))
    return Dataset.from_dict({field: [doc.get(field) for doc in docs] for field in fields})


@cache  # tasks share arms, and the same task is built again for every checkpoint
def _docs(split: Split, style: PromptStyle) -> list[dict[str, Any]]:
    return [prompted(sample, style) for sample in split.samples]


@cache
def _held_out_docs(split: Split, style: PromptStyle) -> list[dict[str, Any]]:
    """Return documents whose first reference is not in the sample but in ``held_out``.

    That of a twin is in ``held_out_twin``.

    Raises:
        ConfigError: no sample has two references.
    """
    docs = [
        prompted(without_first_reference(sample), style)
        | {field: side.references[0] for field, side in zip(HELD_OUT, sides(sample), strict=False)}
        for sample in split.samples
        if len(sample.references) > 1
    ]
    if not docs:
        raise ConfigError(
            "no sample of the test set has two references", where="held_out_reference"
        )
    return docs
