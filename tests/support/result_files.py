"""Invented result and sample files of lm-eval, in the shape that lm-eval 0.4.13 writes."""

import hashlib
import json
import math
import random
from contextlib import contextmanager
from dataclasses import replace
from itertools import repeat

import msgspec

from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.contracts import Gap
from spor_tasks.core.files import encode_row
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.named import benchmark
from spor_tasks.core.sample import Sample, Triple
from spor_tasks.core.weights import digest_weights
from spor_tasks.metrics.scores import score_info, score_of
from spor_tasks.prompts.styles import prompted, prompts_of
from spor_tasks.results.facts import (
    Adapter,
    BaseModel,
    Declared,
    Facts,
    PromptFacts,
    ScoreFacts,
    TrainedOn,
)
from spor_tasks.text.filters import first_line

UNKNOWN_ARM = "unknown"


def arm_sha256(arm):
    """An invented digest of an arm's samples."""
    return hashlib.sha256(arm.encode()).hexdigest()


def result_content(
    *,
    arm="atom",
    seed=0,
    parent=40.0,
    task="spor_systematicity_mini",
    aspect="systematicity",
    part=None,
    model="base",
    version=1.0,
    n=200,
    scores=None,
    shown=None,
    metadata=None,
):
    """What lm-eval writes of a model tuned on an arm, or ``shown`` demonstrations of one."""
    adapter = None
    if arm is not None and shown is None:
        adapter = Adapter(
            arm=arm,
            arm_sha256=arm_sha256(arm),
            violations=[],
            pairs=100,
            seed=seed,
            selection={"policy": "last", "epoch": 1, "scores": []},
            adapter_sha256="a" * 64,
            base_model=BaseModel(path=model),
        )
    if arm == UNKNOWN_ARM:
        adapter = Adapter.of(sha256="a" * 64)
    metrics = {"parent": parent} if scores is None else scores
    given = {"aspect": aspect, "corpus": "mini", "protocol": "strict", "part": part}
    given |= metadata or {}
    names = [given[name] for name in ("aspect", "corpus", "protocol", "part")]
    digest = "e" * 64 if shown else None
    facts = Facts(
        spor_tasks="0.1.0",
        packages={"lm_eval": "0.4.13", "vllm": None},
        prompt=PromptFacts(style="causal", arm=shown or "atom", demonstrations_sha256=digest),
        arms={name: arm_sha256(name) for name in ARMS.get(aspect, ("train",))},
        adapter=adapter,
        declared=Declared.of(benchmark(given.get("benchmark", "spor")).find(*names)),
    )
    facts = msgspec.to_builtins(facts)
    variant = {"icl_arm": shown, "decoding": "beam5" if task.endswith("beam5") else None}
    named = {key: value for key, value in {**given, **variant}.items() if value is not None}
    return {
        "results": {
            task: {
                "alias": task,
                "sample_len": n,
                **{f"{name},none": value for name, value in metrics.items()},
                **{f"{name}_stderr,none": 0.5 for name in metrics},
                **{f"{name}_stderr_stderr,none": "N/A" for name in metrics},
            }
        },
        "configs": {
            task: {
                "task": task,
                "num_fewshot": 8 if shown else 0,
                "generation_kwargs": {"do_sample": False, "until": ["\n"]},
                "metadata": {"version": version, "test_sha256": "b" * 64, "spor": facts, **named},
            }
        },
        "n-samples": {task: {"original": n, "effective": n}},
        "config": {"model": "hf", "model_args": {"pretrained": model, "peft": "somewhere"}},
    }


def declaring(run, **changes):
    """Return a run as if its task declared other sets or scores."""
    spec = replace(run.spec, **changes)
    scores = {key: score_of(key) for key in spec.displayed}
    scores |= {gap.name: Gap(*map(score_of, gap)) for gap in spec.gaps}
    facts = {key: ScoreFacts.of(score) for key, score in scores.items()}
    return replace(run, spec=replace(spec, scores=facts))


def means_of(values):
    """Return the scores of samples with these values, without those that no sample has."""
    names = dict.fromkeys(name for each in values for name in each)
    scores = {
        name: score_info(name).totals.value([each.get(name) for each in values]) for name in names
    }
    return {name: score for name, score in scores.items() if not math.isnan(score)}


def write_result(file, **settings):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(result_content(**settings)))
    return file


@contextmanager
def edited(file):
    """Change what a result file says."""
    content = json.loads(file.read_text())
    yield content
    file.write_text(json.dumps(content))


def sample_row(sample, outputs, scores, doc_id=0):
    """What lm-eval logs of one document: the prompts, the outputs, and what these scored."""
    doc = prompted(sample, "causal")
    prompts = prompts_of(doc)
    decoding = {"do_sample": False, "max_gen_toks": 128, "until": ["\n"]}
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": doc["target"],
        "arguments": {
            f"gen_args_{number}": {"arg_0": text, "arg_1": decoding}
            for number, text in enumerate(prompts)
        },
        "resps": [[output] for output in outputs],
        "filtered_resps": list(map(first_line, outputs)),
        "filter": "none",
        "metrics": list(scores),
        "doc_hash": "d" * 64,
        "prompt_hash": "f" * 64,
        "target_hash": "e" * 64,
        **scores,
    }


def rows_of(samples, outputs, values):
    """What lm-eval logs of the documents of a run, in their order."""
    each = zip(samples, outputs, values, strict=True)
    return [sample_row(*one, number) for number, one in enumerate(each)]


def values_in(rows):
    """The values of logged documents."""
    return [{name: row[name] for name in row["metrics"]} for row in rows]


def write_rows(file, rows, **settings):
    """Write a run: these samples, and the scores that follow from their values."""
    write_result(file, n=len(rows), scores=means_of(values_in(rows)), **settings)
    write_samples(file, settings["task"], rows)
    return file


def write_samples(result, task, rows):
    """Write the sample file that belongs to a task of a result file."""
    file = result.with_name(f"samples_{task}_{result.stem.rpartition('_')[2]}.jsonl")
    file.write_bytes(b"".join(encode_row(row) for row in rows))
    return file


SAMPLE = Sample("0", "invented", (Triple("Greyport", "sea", "Cold_Sound"),), ("By the sea.",))


def distinct(number):
    """A sample that shares no unit with another one."""
    return replace(SAMPLE, id=str(number), units=(Triple("Greyport", "pier", str(number)),))


def write_run(folder, name, values, **settings):
    """Write the result and the samples of a run whose samples have these values of PARENT."""
    samples = map(distinct, range(len(values)))
    rows = rows_of(samples, repeat(["By the sea."], len(values)), [{"parent": x} for x in values])
    random.Random(name).shuffle(rows)
    settings = {"task": "spor_systematicity_mini", **settings}
    return write_rows(folder / f"results_{name}.json", rows, **settings)


def adapter_manifest(adapter, base, **changes):
    """Return what the folder of an adapter says of itself."""
    facts = Adapter(
        sets=TrainedOn(aspect="systematicity", corpus="mini"),
        arm="atom",
        arm_sha256="0" * 64,
        seed=3,
        prompt_style="causal",
        base_model=BaseModel(path=str(base), sha256=digest_weights(base)),
        adapter_sha256=digest_weights(adapter),
        settings={"lora": {"rank": 8}},
    )
    return {"kind": "adapter", **msgspec.to_builtins(facts), **changes}


def adapter_in(folder):
    """Return what a finished folder of training says of itself."""
    return Adapter.read(read_manifest(folder), folder)
