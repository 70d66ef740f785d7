"""The bridge to lm-eval: what its task files name, and all that knows its calling conventions."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import metadata as packages
from typing import Any, NamedTuple

from datasets import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.samplers import FirstNSampler
from lm_eval.api.task import ConfigurableTask

from spor_tasks import __version__, checkpoints
from spor_tasks.documents import copy_sample_of, doc_of, first_line, order_sample_of, sample_of
from spor_tasks.errors import ConfigError, SplitError
from spor_tasks.metrics.copy_rule import CopyRule
from spor_tasks.metrics.order import Cwio, OrderInvariance, macro_mean, macro_stderr
from spor_tasks.metrics.parent import Parent
from spor_tasks.prompts import demonstrations
from spor_tasks.prompts.linearize import PromptStyle, prompt
from spor_tasks.samples import Sample, Split, SplitPair
from spor_tasks.splits import registry
from spor_tasks.store import digest

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
    "selection",
    "adapter_sha256",
    "base_model",
)

# The packages that an output or a score depends on; not all of them need be there.
_PACKAGES = ("lm_eval", "transformers", "tokenizers", "torch", "peft", "vllm", "rapidfuzz", "numpy")

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
    - ``allow_split_mismatch=true``: evaluate an adapter that was trained on another split.

    Under ``spor`` the result says how these were resolved, and which adapter was evaluated.

    Raises:
        ConfigError: a setting is unknown, or the adapter fits neither the base nor the split.
        SplitError: the test set is not the one that the task was made for.
        CorpusError: the data is not at hand, or not what was published.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        metadata = config["metadata"]
        self._plan = plan = resolve(metadata)
        self._style = checkpoints.prompt_style(metadata, plan.adapter)
        facts = {
            "spor_tasks": __version__,
            "packages": package_versions(),
            "prompt_style": self._style,
            "fewshot_arm": plan.fewshot_arm.name,
            "arms": {arm.name: _digest(arm) for arm in plan.pair.arms},
            "adapter": plan.adapter and {key: plan.adapter.get(key) for key in _ADAPTER_FACTS},
        }
        super().__init__(
            config={
                **{key: value for key, value in config.items() if key != "class"},
                "metadata": {**metadata, "spor": facts},
                "fewshot_split": plan.fewshot_arm.name,
                "target_delimiter": _DEMONSTRATION_CUE[self._style],
            }
        )

    def download(self, *_: object, **__: object) -> None:
        """Build the test set in memory: it is small, and nothing stale can be read back."""
        self.dataset = {"test": Dataset.from_list(_docs(self._plan.pair.test, self._style))}

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
            _, decoding = request.args
            if decoding.get("num_beams", 1) > 1:
                request.request_type = BEAM_REQUESTS
            requests.append(request)
        return requests

    def dump_config(self) -> dict[str, Any]:
        """Return the settings as the result keeps them, with what is known only after the run."""
        config: dict[str, Any] = super().dump_config()
        facts = config["metadata"]["spor"]
        shown = facts["arms"][facts["fewshot_arm"]] if config.get("num_fewshot") else None
        facts["demonstrations_sha256"] = shown
        return config


class PairTask(SporTask):
    """A test set whose units are shown in two orders: two prompts and two outputs a document."""

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> list[str]:  # noqa: ANN401 - passed on
        """Return both contexts, after the same demonstrations."""
        state = self.sampler.rnd.getstate()
        first = super().fewshot_context(doc, *args, **kwargs)
        self.sampler.rnd.setstate(state)
        second = super().fewshot_context({**doc, "prompt": doc["prompt_2"]}, *args, **kwargs)
        return [first, second]


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
                    doc_of(shown.sample, self._style)
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
        super().build_all_requests(**kwargs)

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


def resolve(metadata: Metadata) -> Plan:
    """Return what the metadata asks for; no model is needed to find its faults.

    Raises:
        ConfigError, SplitError, CorpusError: as :class:`SporTask` does.
    """
    pair = _load_pair(metadata)
    adapter = checkpoints.find_adapter(metadata)
    _check_adapter(adapter, pair, metadata)
    return Plan(pair, _fewshot_arm(metadata, pair), adapter)


# --- Documents -----------------------------------------------------------------------------------


def _demonstrations(samples: Iterable[Sample], style: PromptStyle) -> list[dict[str, str]]:
    """Return what a document tells of its demonstrations, in order."""
    return [
        {"id": sample.id, "prompt": prompt(sample, style), "target": sample.references[0]}
        for sample in samples
    ]


_choose = cache(demonstrations.choose)  # as both arms show one choice, every checkpoint the same


@cache  # tasks share arms, and the same task is built again for every checkpoint
def _docs(split: Split, style: PromptStyle) -> list[dict[str, Any]]:
    return [doc_of(sample, style) for sample in split.samples]


@cache
def _digest(split: Split) -> str:
    return digest(split.samples)


# --- Scores of one document ----------------------------------------------------------------------


def parent_scores(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Score one output with PARENT, 0 to 100, as published and against the full table."""
    sample, (output,) = sample_of(doc), map(first_line, results)
    published = _parent(full_table=False).measure(sample, output)
    full_table = _parent(full_table=True).measure(sample, output)
    return {
        "parent": 100 * published.f,
        "parent_precision": 100 * published.precision,
        "parent_recall": 100 * published.recall,
        "parent_full_table": 100 * full_table.f,
    }


@cache
def _parent(*, full_table: bool) -> Parent:
    return Parent(full_table=full_table)


def order_scores(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Score the outputs for both input orders, 0 or 100 in each of fidelity and ordering."""
    first, second = map(first_line, results)
    metric = OrderInvariance()
    return metric.values(metric.measure(order_sample_of(doc), (first, second)))


CWIO_SIZES = range(2, 8)
"""The numbers of units that CWIO is also given for."""

_Tau = tuple[int, float] | None


def cwio_scores(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, _Tau | float]:
    """Return one output's number of units and τ for each mean of these that it may belong to.

    None stands where it does not, so that every mean and its error see every document.
    """
    (output,) = map(first_line, results)
    evidence = Cwio().measure(sample_of(doc), output)
    tau = (evidence.units, evidence.tau)
    located_tau = evidence.located_tau
    means: dict[str, _Tau] = {
        "cwio": tau,
        **{f"cwio_{size}": tau if size == evidence.units else None for size in CWIO_SIZES},
        "cwio_located": None if located_tau is None else (evidence.units, located_tau),
    }
    with_errors = {key: value for name, value in means.items() for key in (name, f"{name}_stderr")}
    return {**with_errors, "cwio_located_share": 100.0 * (located_tau is not None)}


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
    (output,) = map(first_line, results)
    metric = CopyRule()
    return metric.values(metric.measure(copy_sample_of(doc), output))


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
    arms = {arm.name: arm for arm in pair.arms}
    asked = metadata.get("icl_arm") or metadata.get("fewshot_arm", pair.arms[0].name)
    if asked not in arms:
        raise ConfigError(
            f"fewshot_arm={asked} is no arm of the task", remedy=f"Use {' or '.join(arms)}."
        )
    return arms[asked]


def _check_adapter(adapter: Mapping[str, Any] | None, pair: SplitPair, metadata: Metadata) -> None:
    """Refuse an adapter that was trained on no arm of this split.

    Arms are compared, not test sets: several tasks test what one arm teaches.
    """
    allowed = metadata.get("allow_split_mismatch", False)
    if not isinstance(allowed, bool):
        raise ConfigError(
            f"allow_split_mismatch={allowed} is neither true nor false", where="--metadata"
        )
    if adapter is None or allowed:
        return
    if "arm_sha256" not in adapter:
        _log.warning("%s does not say what it was trained on", checkpoints.adapter_name(metadata))
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
