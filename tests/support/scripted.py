"""Tasks as lm-eval loads and evaluates them, also with a model that writes what a test says."""

import random
from itertools import chain

from lm_eval import simple_evaluate
from lm_eval.api.model import LM

from spor_tasks.evaluation.run import register_models
from spor_tasks.harness import task_files
from spor_tasks.results.runs import bare

NAMED = ("results", "configs", "samples", "versions", "n-samples", "n-shot", "higher_is_better")


class ScriptedLM(LM):
    """Answers each request with what ``write`` makes of it, and remembers the requests."""

    def __init__(self, write):
        super().__init__()
        self.write = write
        self.requests = []

    def generate_until(self, requests, disable_tqdm=False):  # noqa: ARG002, FBT002
        self.requests += requests
        return [self.write(request) for request in requests]

    def loglikelihood(self, requests):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError


def simple(model, *names, manager=None, **settings):
    """Return what lm-eval would write to a file."""
    return simple_evaluate(
        model=model, tasks=list(names), task_manager=manager or task_files.manager(), **settings
    )


def load(name, **metadata):
    """Return a task with this metadata besides that of its file."""
    return task_files.manager(metadata).load(name)["tasks"][name]


def evaluate_folder(folder, *names, model="hf", metadata=None, model_args=None, **settings):
    """Return what lm-eval would write of some samples that a tiny checkpoint answers.

    A server, or another model without a folder, has only its ``model_args``.
    """
    register_models()
    arguments = {**({"pretrained": str(folder)} if folder else {}), **(model_args or {})}
    manager = task_files.manager(arguments, model_type=model, **(metadata or {}))
    some = {"limit": 3, "gen_kwargs": {"max_gen_toks": 8}, "device": "cpu"} | settings
    return simple(model, *names, manager=manager, model_args=arguments, **some)


def evaluate(model, *names, manager=None, **settings):
    """Return what lm-eval would write to a file, with the names and texts of version 0.4."""
    found = simple(model, *names, manager=manager, **settings)
    for row in chain.from_iterable(found.get("samples", {}).values()):
        row["filtered_resps"] = texts(row)
    return {
        part: {bare(key): each for key, each in content.items()} if part in NAMED else content
        for part, content in found.items()
    }


def texts(row):
    """Return what was scored of the outputs of a logged sample; 0.5 has a list for each."""
    return [each[0] if isinstance(each, list) else each for each in row["filtered_resps"]]


def half_right(request):
    """A text between right and wrong: some words of a reference, or of the prompt, or nothing."""
    doc = request.doc
    rng = random.Random(f"{doc['id']} {request.idx}")
    words = rng.choice([*doc["references"], doc["prompt"], ""]).split()
    return " ".join(word for word in words if rng.random() < 0.9)
