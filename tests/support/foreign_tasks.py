"""Tasks that are not ours, on local files, as lm-eval evaluates them and writes what it logs."""

import json
import random
import shutil
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

CHOICES, TEXTS = "harbour_choices", "harbour_texts"
"""Multiple choice, and generation with two filters, each with four questions on a passage."""

_CHOICES = f"""\
task: {CHOICES}
dataset_path: json
dataset_kwargs: {{data_files: {{test: DATA}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: answer
metric_list: [{{metric: acc}}, {{metric: acc_norm}}, {{metric: mcc}}]
metadata: {{version: 1.0}}
"""
_TEXTS = f"""\
task: {TEXTS}
dataset_path: json
dataset_kwargs: {{data_files: {{test: DATA}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{choices[answer]}}}}"
generation_kwargs: {{until: ["\\n"]}}
filter_list:
  - name: strict-match
    filter: [{{function: take_first}}]
  - name: first-word
    filter: [{{function: regex, regex_pattern: "(\\\\w+)"}}, {{function: take_first}}]
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
  - {{metric: chrf, aggregation: chrf, higher_is_better: true}}
metadata: {{version: 1.0}}
"""


def documents(number=40):
    """Questions with four choices, four of them on a passage."""
    rng = random.Random(1)
    return [
        {
            "question": f"Who keeps light {n}?",
            "choices": ["Ida", "Orla", "Edda", "Brida"],
            "answer": rng.randrange(4),
            "meta": {"passage": n // 4},
        }
        for n in range(number)
    ]


class Guesser(LM):
    """A model that is right on so many of ten questions, by its own draws."""

    def __init__(self, right, seed):
        super().__init__()
        self.right, self.seed = right, seed

    def _knows(self, doc):
        return random.Random(f"{self.seed} {doc['question']}").random() < self.right / 10

    def generate_until(self, requests, disable_tqdm=False):  # noqa: ARG002, FBT002
        return [
            each.doc["choices"][each.doc["answer"]] if self._knows(each.doc) else "=1+1 keeps it"
            for each in requests
        ]

    def loglikelihood(self, requests, disable_tqdm=False):  # noqa: ARG002, FBT002
        found = []
        for each in requests:
            best = (each.doc["answer"] + (not self._knows(each.doc))) % 4
            is_best = each.args[1].strip() == each.doc["choices"][best]
            found.append((-1.0 if is_best else -5.0, is_best))
        return found

    def loglikelihood_rolling(self, requests, disable_tqdm=False):  # noqa: FBT002
        raise NotImplementedError


@cache
def _manager(folder):
    return TaskManager(include_path=str(folder), include_defaults=False)


def write_tasks(folder, docs):
    """Write both tasks on these documents."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "data.json"
    data.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    for name, text in ((CHOICES, _CHOICES), (TEXTS, _TEXTS)):
        (folder / f"{name}.yaml").write_text(text.replace("DATA", str(data)))
    return folder


def evaluate(tasks, out, *names, right=5, seed=0, **settings):
    """Evaluate tasks of a folder as lm-eval does, and return the folder of the results."""
    tracker = EvaluationTracker(output_path=str(out))
    found = simple_evaluate(
        model=Guesser(right, seed),
        tasks=list(names or (CHOICES, TEXTS)),
        task_manager=_manager(tasks),
        evaluation_tracker=tracker,
        log_samples=True,
        bootstrap_iters=0,
        **settings,
    )
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    return out


def copied(run, folder):
    """Return a copy of a run that may be changed."""
    return Path(shutil.copytree(run, folder))


def result_file(run):
    (file,) = run.rglob("results*.json")
    return file


def rows_of(run, task):
    """Return the logged samples of a task."""
    (file,) = run.rglob(f"samples_{task}_*")
    return [json.loads(line) for line in file.read_text().splitlines()]


@contextmanager
def edited_rows(run, task):
    """Change the logged samples of a task."""
    (file,) = run.rglob(f"samples_{task}_*")
    rows = rows_of(run, task)
    yield rows
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
