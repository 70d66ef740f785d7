"""The bridge to lm-eval: what its task files name, and all that knows its calling conventions."""

import logging
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib import metadata as packages
from typing import Any, NamedTuple

from datasets import Dataset
from lm_eval.api.filter import Filter
from lm_eval.api.instance import Instance
from lm_eval.api.samplers import FirstNSampler
from lm_eval.api.task import ConfigurableTask

from spor_tasks import __version__
from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.core.codec import copy_sample_of, order_sample_of, sample_of
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import Sample, Split, SplitPair, without_first_reference
from spor_tasks.core.visible import visible
from spor_tasks.harness import checkpoints
from spor_tasks.metrics.chrf import Chrf
from spor_tasks.metrics.copy_rule import CopyRule
from spor_tasks.metrics.coverage import Coverage
from spor_tasks.metrics.facts import Facts, Told
from spor_tasks.metrics.order import Cwio, OrderInvariance, macro_mean, macro_stderr
from spor_tasks.metrics.parent import Parent
from spor_tasks.prompts import demonstrations
from spor_tasks.prompts.demonstrations import Matching
from spor_tasks.prompts.styles import PromptStyle, prompt, prompted
from spor_tasks.text.answers import answer

_log = logging.getLogger(__name__)

Metadata = Mapping[str, Any]
"""A task's `metadata`: that of its file, then the model's arguments, then `--metadata`."""

BEAM_REQUESTS = "spor_hf_beam_search"
"""The method of a model that takes requests for beams.

Only `spor-hf` has it. All else fails at once where it is asked for beams: lm-eval's own `hf` does
not search as transformers does, and a server may pass over the number and decode greedily.
"""

# What a result keeps of the manifest of the adapter that it was reached with.
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

# Settings of transformers' generation alone. A task states every one that decides, since what is
# left unsaid is taken from the checkpoint's own generation_config; other backends know none of them
# and would refuse, or pass over, a request that has one.
_TRANSFORMERS_ONLY = (
    "num_beams",
    "no_repeat_ngram_size",
    "repetition_penalty",
    "length_penalty",
    "early_stopping",
    "min_length",
)

# What of a checkpoint's generation_config says nothing of greedy decoding or beams.
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff")

# The packages that an output or a score depends on; not all of them need be there.
_PACKAGES = ("lm_eval", "transformers", "tokenizers", "torch", "peft", "vllm", "rapidfuzz", "numpy")

_FACTS_SETTINGS = ("model", "format", "label", "device", "batch_size")
_FACTS_METRIC = {"metric": "facts", "aggregation": "mean", "higher_is_better": True}

# A demonstration's text follows the causal prompt's own cue. The seq2seq prompt has none, and
# T5's tokenizer drops line breaks, so words must say where the text begins.
_DEMONSTRATION_CUE: Mapping[PromptStyle, str] = {
    "causal": "",
    "seq2seq": " Output: ",
    "instruction": " ",
}


class SporTask(ConfigurableTask):  # type: ignore[misc]
    """A test set and its prompts, with the arms of its split to draw demonstrations from.

    The file of a task names aspect, corpus, protocol, part and the test set's digest in its
    ``metadata``. What ``--metadata`` may add:

    - ``prompt_style``: ``causal`` or ``seq2seq``, where the model does not tell, or
      ``instruction`` for one that was not tuned on the paper's prompts;
    - ``fewshot_arm``: the arm that ``--num_fewshot`` draws from, the first one if not named; a
      task that shows demonstrations anyway has its own arm;
    - ``allow_split_mismatch=true``: evaluate an adapter that was trained on another split;
    - ``held_out_reference=true``: take the first reference from each sample, and leave out samples
      that have no other: what people write is then scored as outputs are;
    - ``facts_model``: a classifier, on disk or the hub; tasks that score PARENT then give ``facts``
      too. ``facts_format``, ``facts_label``, ``facts_device`` and ``facts_batch_size`` are as in
      :func:`spor_tasks.metrics.classifier.load`.

    With the model's argument ``baseline_arm`` a baseline is scored that looks at this training set.

    Under ``spor`` the result says how these were resolved, and which adapter was evaluated.

    Raises:
        ConfigError: a setting is unknown, or the adapter fits neither the base nor the split.
        SplitError: the test set is not the one that the task was made for.
        CorpusError: the data is not at hand, or not what was published.
    """

    _fewshot_seed: int | None = None
    _thinking: bool | None = None  # what the chat template was told, None without one
    _told: Mapping[str, Told]  # by a document's id, where there are facts

    def __init__(self, config: Mapping[str, Any]) -> None:
        metadata = config["metadata"]
        self._plan = plan = resolve(metadata)
        self._holds_out = _switch(metadata, "held_out_reference")
        self._style = checkpoints.prompt_style(metadata, plan.adapter)
        facts = {
            "spor_tasks": __version__,
            "packages": package_versions(),
            "prompt_style": self._style,
            "held_out_reference": self._holds_out,
            "fewshot_arm": plan.fewshot_arm.name,
            "arms": {arm.name: _digest(arm) for arm in plan.pair.arms},
            "adapter": plan.adapter and {key: plan.adapter.get(key) for key in _ADAPTER_FACTS},
        }
        metrics = config["metric_list"]
        if plan.facts and any(each["metric"] == "parent" for each in metrics):
            metrics = [*metrics, _FACTS_METRIC]
            facts["facts"] = plan.facts.signature
        super().__init__(
            config={
                **{key: value for key, value in config.items() if key != "class"},
                "metadata": {**metadata, "spor": facts},
                "metric_list": metrics,
                "fewshot_split": plan.fewshot_arm.name,
                "target_delimiter": _DEMONSTRATION_CUE[self._style],
            }
        )

    def download(self, *_: object, **__: object) -> None:
        """Build the test set in memory: it is small, and nothing stale can be read back."""
        docs = _docs(self._plan.pair.test, self._style)
        if self._holds_out:
            docs = _held_out_docs(self._plan.pair.test, self._style)
        self.dataset = {"test": Dataset.from_list(docs)}

    def fewshot_docs(self) -> list[dict[str, Any]]:
        """Return what demonstrations are drawn from."""
        return _docs(self._plan.fewshot_arm, self._style)

    def construct_requests(
        self,
        doc: Mapping[str, Any],
        ctx: object,
        **kwargs: Any,  # noqa: ANN401 - passed on
    ) -> list[Instance]:
        """Return a request for each context, to :data:`BEAM_REQUESTS` where it asks for beams."""
        requests = []
        for number, context in enumerate(ctx if isinstance(ctx, list) else [ctx]):
            request = super().construct_requests(doc, context, **kwargs)
            request.idx = number
            prompt_, decoding = request.arguments
            if decoding.get("num_beams", 1) > 1:
                request.request_type = BEAM_REQUESTS
            request.arguments = prompt_, _known_to_backend(decoding)
            request.stops_after_answer = True  # for spor-hf, which can look whether it is there
            requests.append(request)
        return requests

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Keep the seed that demonstrations are drawn with."""
        super().set_fewshot_seed(seed)
        self._fewshot_seed = seed

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed on
        """Return the context; what it shows depends on the seed, the task and the sample alone.

        Neither the number of processes nor the samples before this one change a prompt, and the two
        prompts of one sample follow the same demonstrations.
        """
        self.sampler.rnd = random.Random(f"{self._fewshot_seed} {self.config.task} {doc['id']}")
        return super().fewshot_context(doc, *args, **kwargs)

    def build_all_requests(self, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        """Build the requests; a chat template is asked for an answer without reasoning first."""
        with _without_thinking(kwargs.get("chat_template")) as self._thinking:
            super().build_all_requests(**kwargs)

    def apply_filters(self) -> list[Instance] | None:
        """Filter the outputs; lm-eval has all of them here, so that facts are judged in batches."""
        filtered: list[Instance] | None = super().apply_filters()
        if self._plan.facts and "facts" in self.aggregation():
            ids = [request.doc["id"] for request in self.instances]
            samples = [sample_of(request.doc) for request in self.instances]
            outputs = [request.filtered_resps["none"] for request in self.instances]
            self._told = dict(zip(ids, self._plan.facts.judge(samples, outputs), strict=True))
        return filtered

    def process_results(self, doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
        """Score the outputs of a document, which is logged with what the classifier says of it."""
        scores: dict[str, Any] = super().process_results(doc, results)
        if self._plan.facts and "facts" in self.aggregation():
            doc["told"] = self._told[doc["id"]]
            scores |= self._plan.facts.values(doc["told"])
        return scores

    def dump_config(self) -> dict[str, Any]:
        """Return the settings as the result keeps them, with what is known only after the run."""
        config: dict[str, Any] = super().dump_config()
        facts = config["metadata"]["spor"]
        shown = facts["arms"][facts["fewshot_arm"]] if config.get("num_fewshot") else None
        decoding = _known_to_backend(config["generation_kwargs"])
        facts |= {
            "demonstrations_sha256": shown,
            "generation": _resolved_generation(decoding, config["metadata"]),
            "thinking": self._thinking,
        }
        return config


class PairTask(SporTask):
    """A test set whose units are shown in two orders: two prompts and two outputs a document."""

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> list[str]:  # noqa: ANN401 - passed on
        """Return both contexts, after the same demonstrations."""
        second = {**doc, "prompt": doc["prompt_2"]}
        return [super(PairTask, self).fewshot_context(d, *args, **kwargs) for d in (doc, second)]


class InContextTask(SporTask):
    """A test set with demonstrations of one arm, chosen for each of its samples.

    The task's file names the arm, ``icl_arm``, in its ``metadata``; ``num_fewshot`` is the most
    that a prompt shows. The documents are the samples that every arm can cover with so many, and
    list their demonstrations.

    Raises:
        ConfigError, SplitError, CorpusError: as :class:`SporTask` does, or there is nothing to
            show: not a single demonstration is allowed, or no sample can be covered.
    """

    def download(self, *_: object, **__: object) -> None:
        """Build the documents for as many demonstrations as are allowed now."""
        pair, arm = self._plan.pair, self._plan.fewshot_arm
        self._prompted = _choose(pair, self.config.num_fewshot)
        number = pair.arms.index(arm)
        self.dataset = {
            "test": Dataset.from_list(
                [
                    prompted(shown.sample, self._style)
                    | {"demonstrations": _demonstrations(shown.arms[number], self._style)}
                    for shown in self._prompted
                ]
            )
        }

    def fewshot_docs(self) -> list[dict[str, Any]]:
        """Return nothing to draw from: each document brings its own demonstrations."""
        return []

    def set_config(self, key: str, value: object, update: bool = False) -> None:  # noqa: FBT001, FBT002 - lm-eval's
        """Set a value; with another number of demonstrations come other documents."""
        super().set_config(key, value, update)
        if key == "num_fewshot":
            self.download()

    def build_all_requests(self, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        """Build the requests, and say how many samples there are demonstrations for."""
        _log.warning(
            "%s: %d of %d test samples can be covered with up to %d demonstrations in every arm",
            self.config.task,
            len(self._prompted),
            len(self._plan.pair.test.samples),
            self.config.num_fewshot,
        )
        for name, of_arm in self._matching().items():
            _log.warning("%s: a prompt of %s has, on average, %s", self.config.task, name, of_arm)
        super().build_all_requests(**kwargs)

    def _matching(self) -> dict[str, Matching]:
        """Return what the prompts of each arm show; of one arm there is nothing to match."""
        arms = self._plan.pair.arms
        if len(arms) == 1:
            return {}
        found = _match(self._prompted)
        return {arm.name: of_arm for arm, of_arm in zip(arms, found, strict=True)}

    def fewshot_context(self, doc: Mapping[str, Any], *_: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed on
        """Return the context, or both, after the document's demonstrations."""
        shown = doc["demonstrations"]
        self.sampler = FirstNSampler(shown)
        return super().fewshot_context(doc, **kwargs | {"num_fewshot": len(shown)})

    def dump_config(self) -> dict[str, Any]:
        """Return the settings as the result keeps them, with what was shown to how many samples."""
        config = super().dump_config()
        config["metadata"]["spor"] |= {
            "demonstrations_sha256": demonstrations.digest(self._prompted),
            "matching": {name: asdict(of_arm) for name, of_arm in self._matching().items()},
            "covered": len(self._prompted),
            "test_samples": len(self._plan.pair.test.samples),
        }
        return config


class InContextPairTask(InContextTask, PairTask):
    """A test set in two orders, with demonstrations chosen for each sample."""


class Plan(NamedTuple):
    """What a task is about to do: on which sets, and with which adapter."""

    pair: SplitPair
    fewshot_arm: Split
    adapter: Mapping[str, Any] | None
    facts: Facts | None


def resolve(metadata: Metadata) -> Plan:
    """Return what the metadata asks for; no model is needed to find its faults.

    Raises:
        ConfigError, SplitError, CorpusError: as :class:`SporTask` does.
    """
    pair = _load_pair(metadata)
    adapter = _trained_baseline(metadata, pair) or checkpoints.find_adapter(metadata)
    _check_adapter(adapter, pair, metadata)
    return Plan(pair, _fewshot_arm(metadata, pair), adapter, _facts(metadata))


def _trained_baseline(metadata: Metadata, pair: SplitPair) -> dict[str, Any] | None:
    """Return what stands in for an adapter's manifest where a baseline looks at a training set."""
    if (name := metadata.get("baseline_arm")) is None:
        return None
    arm = _find_arm(pair, name, "baseline_arm")
    return {"arm": name, "arm_sha256": _digest(arm), "prompt_style": "causal"}


# --- Documents -----------------------------------------------------------------------------------


def _demonstrations(samples: Iterable[Sample], style: PromptStyle) -> list[dict[str, str]]:
    """Return what a document tells of its demonstrations, in order."""
    return [
        {"id": sample.id, "prompt": prompt(sample, style), "target": sample.references[0]}
        for sample in samples
    ]


_choose = cache(demonstrations.choose)  # as both arms show one choice, every checkpoint the same
_match = cache(demonstrations.matching)


@cache  # tasks share arms, and the same task is built again for every checkpoint
def _docs(split: Split, style: PromptStyle) -> list[dict[str, Any]]:
    return [prompted(sample, style) for sample in split.samples]


@cache
def _held_out_docs(split: Split, style: PromptStyle) -> list[dict[str, Any]]:
    """Return documents without their samples' first references, which stand beside them.

    Raises:
        ConfigError: no sample has two references.
    """
    docs = [
        prompted(without_first_reference(sample), style) | {"held_out": sample.references[0]}
        for sample in split.samples
        if len(sample.references) > 1
    ]
    if not docs:
        raise ConfigError(
            "no sample of the test set has two references", where="held_out_reference"
        )
    return docs


@cache
def _digest(split: Split) -> str:
    return digest(split.samples)


# --- Generation ----------------------------------------------------------------------------------


class Answer(Filter):  # type: ignore[misc]
    """The filter that the outputs of every task pass: what counts of each is its answer."""

    def apply(self, resps: Iterable[Sequence[str]], docs: object) -> list[list[str]]:  # noqa: ARG002 - lm-eval's
        """Return what of each output is scored."""
        return [list(map(answer, outputs)) for outputs in resps]


def _on_transformers() -> bool:
    """Tell whether the model generates with transformers, or is of another backend.

    lm-eval tells a task nothing of the model, but it loads the module of a model only for that
    model, and before the tasks.
    """
    return "lm_eval.models.huggingface" in sys.modules


def _known_to_backend(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a task that the backend understands."""
    unknown = () if _on_transformers() or decoding.get("num_beams", 1) > 1 else _TRANSFORMERS_ONLY
    return {key: value for key, value in decoding.items() if key not in unknown}


def _resolved_generation(decoding: Mapping[str, Any], metadata: Metadata) -> dict[str, Any]:
    """Return the settings that decide what is generated, those of the checkpoint among them.

    What a server makes of what is not said to it is not known here.
    """
    own = checkpoints.generation_config(metadata) if _on_transformers() else {}
    left_out = () if decoding.get("do_sample") else _SAMPLING
    return {key: value for key, value in own.items() if key not in left_out} | dict(decoding)


@contextmanager
def _without_thinking(chat_template: Callable[..., str] | None) -> Iterator[bool | None]:
    """Have a model's chat template ask for no reasoning, unless the user said otherwise.

    Yields what the template is told; None without a template, or where a server applies its own.
    """
    owner = getattr(chat_template, "__self__", None)
    asked = getattr(owner, "enable_thinking", None)
    given = getattr(owner, "chat_template_args", None)
    if given is None or asked is not None or "enable_thinking" in given:
        yield asked if given is None else given.get("enable_thinking", asked)
        return
    # hf passes all of chat_template_args on, vllm beside these an argument of its own.
    name, value = (
        ("chat_template_args", {**given, "enable_thinking": False})
        if _on_transformers()
        else ("enable_thinking", False)
    )
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield False
    finally:
        setattr(owner, name, before)


# --- Scores of one document ----------------------------------------------------------------------


def parent_scores(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Score one output with PARENT, as published and against the full table, chrF and coverage.

    All are from 0 to 100; ``empty`` is 100 for an output without a word.
    """
    sample, (output,) = sample_of(doc), results
    published = _parent(full_table=False).measure(sample, output)
    full_table = _parent(full_table=True).measure(sample, output)
    chrf, coverage = Chrf(), Coverage()
    return {
        "parent": 100 * published.f,
        "parent_precision": 100 * published.precision,
        "parent_recall": 100 * published.recall,
        "parent_full_table": 100 * full_table.f,
        **chrf.values(chrf.measure(sample, output)),
        **coverage.values(coverage.measure(sample, output)),
        **_empty(results),
    }


def _empty(results: Sequence[str]) -> dict[str, float]:
    """Return the share of a document's outputs that have neither letter nor digit, in percent."""
    empty = sum(not any(map(str.isalnum, output)) for output in results)
    return {"empty": 100.0 * empty / len(results)}


@cache
def _parent(*, full_table: bool) -> Parent:
    return Parent(full_table=full_table)


def order_scores(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Score the outputs for both input orders, 0 or 100 in each of fidelity and ordering."""
    first, second = results
    metric = OrderInvariance()
    return {
        **metric.values(metric.measure(order_sample_of(doc), (first, second))),
        **_empty(results),
    }


CWIO_SIZES = range(2, 8)
"""The numbers of units that CWIO is also given for."""

_Tau = tuple[int, float] | None


def cwio_scores(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, _Tau | float]:
    """Return one output's number of units and τ for each mean of these that it may belong to.

    None stands where it does not, so that every mean and its error see every document.
    """
    (output,) = results
    evidence = Cwio().measure(sample_of(doc), output)
    tau = (evidence.units, evidence.tau)
    located_tau = evidence.located_tau
    means: dict[str, _Tau] = {
        "cwio": tau,
        **{f"cwio_{size}": tau if size == evidence.units else None for size in CWIO_SIZES},
        "cwio_located": None if located_tau is None else (evidence.units, located_tau),
    }
    with_errors = {key: value for name, value in means.items() for key in (name, f"{name}_stderr")}
    share = {"cwio_located_share": 100.0 * (located_tau is not None)}
    return {**with_errors, **share, **_empty(results)}


def cwio_mean(taus: Sequence[_Tau]) -> float:
    """Aggregate as :func:`macro_mean` does."""
    return macro_mean(tau for tau in taus if tau)


def cwio_stderr(taus: Sequence[_Tau]) -> float:
    """Aggregate as :func:`macro_stderr` does.

    As a metric of its own, after the mean: lm-eval has no error for an aggregation of ours, and
    this one takes the place of its "N/A".
    """
    return macro_stderr(tau for tau in taus if tau)


def copy_scores(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Score one output by the copy rule, 0 or 100 in each case."""
    (output,) = results
    metric = CopyRule()
    return {**metric.values(metric.measure(copy_sample_of(doc), output)), **_empty(results)}


# --- What is asked for ---------------------------------------------------------------------------


def _load_pair(metadata: Metadata) -> SplitPair:
    aspect, corpus, protocol = (metadata[key] for key in ("aspect", "corpus", "protocol"))
    pair = registry.load(aspect, corpus, protocol, metadata.get("part"))
    expected, actual = metadata["test_sha256"], _digest(pair.test)
    if expected != actual:
        raise SplitError(
            f"the test set has the SHA-256 {actual}, and the task was made for {expected}",
            where=metadata.get("config_source"),
            remedy="Scores on another test set do not compare. Install the version of spor-tasks "
            "that the task file belongs to, and let --metadata name no aspect, corpus or protocol.",
        )
    return pair


def _fewshot_arm(metadata: Metadata, pair: SplitPair) -> Split:
    asked = metadata.get("icl_arm") or metadata.get("fewshot_arm", pair.arms[0].name)
    return _find_arm(pair, asked, "fewshot_arm")


def _find_arm(pair: SplitPair, name: object, setting: str) -> Split:
    arms = {arm.name: arm for arm in pair.arms}
    if name not in arms:
        raise ConfigError(
            f"{setting}={name} is not an arm of the task", remedy=f"Use {' or '.join(arms)}."
        )
    return arms[str(name)]


def _facts(metadata: Metadata) -> Facts | None:
    given = {
        key.removeprefix("facts_"): value
        for key, value in metadata.items()
        if key.startswith("facts_")
    }
    if not given:
        return None
    named = [f"facts_{name}" for name in _FACTS_SETTINGS]
    for key in given.keys() - set(_FACTS_SETTINGS):
        raise ConfigError(
            f"there is no setting facts_{key}",
            where="--metadata",
            remedy=f"The settings are {', '.join(named)}.",
        )
    if not isinstance(model := given.get("model"), str):
        raise ConfigError(
            f"facts_model must be a path or a name on the hub, not {model!r}",
            where="--metadata",
            remedy="Name the classifier that says which facts are told.",
        )
    from spor_tasks.metrics import classifier  # noqa: PLC0415 - torch, which most tasks do without

    return classifier.load(**given)


def _switch(metadata: Metadata, setting: str) -> bool:
    value = metadata.get(setting, False)
    if not isinstance(value, bool):
        raise ConfigError(f"{setting}={value} is neither true nor false", where="--metadata")
    return value


def _check_adapter(adapter: Mapping[str, Any] | None, pair: SplitPair, metadata: Metadata) -> None:
    """Refuse an adapter that was trained on no arm of this split.

    Arms are compared, not test sets: several tasks test what one arm teaches.
    """
    if _switch(metadata, "allow_split_mismatch") or adapter is None:
        return
    if "arm_sha256" not in adapter:
        name = visible(checkpoints.adapter_name(metadata))
        _log.warning("%s does not say what it was trained on", name)
        return
    if all(adapter["arm_sha256"] != _digest(arm) for arm in pair.arms):
        names = " or ".join(arm.name for arm in pair.arms)
        raise ConfigError(
            f"the adapter was trained on {adapter['arm']} of {adapter['aspect']} "
            f"{adapter['corpus']}, SHA-256 {adapter['arm_sha256']}, which is not {names} here",
            where=checkpoints.adapter_name(metadata),
            remedy="Evaluate one that was trained for this task, or say that you mean it with"
            " --metadata allow_split_mismatch=true.",
        )


@cache
def package_versions() -> dict[str, str | None]:
    """Return the versions that an output or a score depends on; None is not installed."""
    return {name: _version(name) for name in _PACKAGES}


def _version(package: str) -> str | None:
    try:
        return packages.version(package)
    except packages.PackageNotFoundError:
        return None
