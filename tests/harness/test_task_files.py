"""What tasks there are, that their files are current, and what each shows a model."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
import yaml
from lm_eval.api.task import Task

from spor_tasks.core.sample import AttributeValue, Sample, SplitPair, Triple
from spor_tasks.harness import documents, generate, task_files
from spor_tasks.prompts.content import Prompted
from spor_tasks.prompts.demonstrations import choose
from spor_tasks.prompts.styles import PROMPT_STYLES, PromptStyle, prompt
from spor_tasks.results.benchmarks import benchmark
from tests.conftest import REPOSITORY
from tests.support.damage import SOAK

SPOR = benchmark("spor")
DATA = REPOSITORY / "tests" / "data"
TOWN = Sample("1", "mini", (Triple("Ebb", "sea", "Cold_Sound"),), ("By the sea.",))
INN = Sample(
    "2", "e2e", (AttributeValue("food", "Basque"),), ("Basque food.",), context={"name": "The Gull"}
)

# The names of all tasks and tags of SPOR, which people type.
NAMES = [
    line
    for line in (DATA / "tasks.txt").read_text().splitlines()
    if line.removeprefix("tag ").startswith("spor")
]
TAGS = [name.removeprefix("tag ") for name in NAMES if name.startswith("tag ")]
SPECS = {spec.task: spec for spec in SPOR.sets()}
LIKE_THE_PAPERS = ("webnlg", "e2e", "mini")
ALL_IN_CONTEXT = [name for name in NAMES if "_icl_" in name and not name.startswith("tag ")]
IN_CONTEXT = [
    name
    for name in ALL_IN_CONTEXT
    if SPECS[name.partition("_icl_")[0]].name.corpus in LIKE_THE_PAPERS
]
TWINS = [name for name in NAMES if name.endswith("_twin") and not name.startswith("tag ")]
TASKS = [
    name
    for name, spec in SPECS.items()
    if spec.name.corpus in LIKE_THE_PAPERS and spec.name.protocol != "twin"
]
OTHERS = [name for name in SPECS if name not in {*TASKS, *TWINS}]
MINI = [name for name in TASKS if SPECS[name].name.corpus == "mini"]
FILES = [file for file in task_files.files() if file.name.startswith("spor")]

# The digest of the first ten prompts of each task over a real corpus, a line each.
PROMPTS_SHA256 = json.loads((DATA / "prompts_sha256.json").read_text())


def load(name: str) -> Task:
    return task_files.manager().load(name)["tasks"][name]


def prompts(task: Task, number: int = 10) -> Iterator[str]:
    """Yield what the first documents show, each two of them where units come in two orders."""
    for document in task.eval_docs.select(range(number)):
        context = task.fewshot_context(document, num_fewshot=0)
        yield from context if isinstance(context, list) else [context]


# --- What there is --------------------------------------------------------------------------------


def test_these_are_the_tasks_and_tags() -> None:
    assert sorted([*(file.name for file in FILES), *(f"tag {tag}" for tag in TAGS)]) == NAMES
    manager = task_files.manager()
    assert manager.all_tasks == [*task_files.names()]
    assert set(TAGS) <= set(manager.all_tags)


def test_every_split_has_a_task() -> None:
    assert {*SPECS} == {file.name for file in FILES if not file.decoding} - {*ALL_IN_CONTEXT}


def test_only_the_published_sets_have_tasks_with_beams() -> None:
    with_beams = {file.content["metadata"]["protocol"] for file in FILES if file.decoding}
    assert with_beams == {"published"}
    assert sum(file.decoding is not None for file in FILES) == 16


def test_tags_and_patterns_stand_for_their_tasks() -> None:
    def expand(*names: str) -> list[str]:
        return [file.name for file in task_files.expand(names)]

    greedy = [name for name in TASKS if "strict" not in name]
    papers = [name for name in greedy if "mini" not in name]
    assert sorted(expand("spor")) == sorted(papers)
    assert sorted(expand("spor_mini")) == sorted(MINI)
    assert sorted(expand("spor_productivity")) == sorted(n for n in greedy if "productivity" in n)
    assert expand("spor_order_invariance_e2e") == [
        f"spor_order_invariance_e2e_{part}" for part in ("cwio", "main", "performance")
    ]
    assert set(expand("spor_*_icl")) == {name for name in ALL_IN_CONTEXT if "_twin_" not in name}
    assert expand("spor_productivity_mini_icl_visible") == [
        f"spor_productivity_mini_{part}_icl_visible" for part in ("n3", "n4")
    ]
    assert expand("spor_sys*city_mini", "spor_systematicity_mini", "hellaswag") == [
        "spor_systematicity_mini"
    ]


# --- The files are what the generator writes ------------------------------------------------------


def committed(names: set[str]) -> dict[str, str]:
    return {name: (task_files.FOLDER / name).read_text("utf-8") for name in names}


def test_the_files_of_tasks_over_the_embedded_corpus_are_current() -> None:
    specs = [spec for spec in SPOR.sets() if spec.name.corpus == "mini"]
    written = dict(generate.contents(SPOR, specs))
    assert len(written) == len(MINI) + sum("_mini_" in name for name in IN_CONTEXT)
    assert written == committed(set(written))


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
def test_the_files_of_tasks_over_the_real_corpora_are_current() -> None:
    specs = [SPECS[name] for name in TASKS if name not in MINI]
    written = dict(generate.contents(SPOR, specs))
    in_context = [name for name in IN_CONTEXT if not {"mini", "twin"} & set(name.split("_"))]
    beams = sum(len(spec.decodings) for spec in specs)
    assert len(written) == len(TASKS) - len(MINI) + beams + len(in_context)
    assert written == committed(set(written))


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir", "viggo_dir")
@pytest.mark.parametrize("name", OTHERS if SOAK > 1 else ["spor_systematicity_viggo"])
def test_the_files_of_tasks_over_viggo_are_current(name: str) -> None:
    written = dict(generate.contents(SPOR, [SPECS[name]]))
    assert written == committed(set(written))


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", TWINS if SOAK > 1 else ["spor_systematicity_e2e_twin"])
def test_the_files_of_tasks_with_twins_are_current(name: str) -> None:
    specs = [spec for spec in SPOR.sets() if spec.task == name]
    written = dict(generate.contents(SPOR, specs))
    assert written == committed(set(written))


def test_the_folders_hold_no_python_and_are_those_of_corpora_and_aspects() -> None:
    paths = [path for path in task_files.FOLDER.rglob("*") if path.is_file()]
    assert {path.suffix for path in paths} == {".yaml", ".md", ""}
    for file in FILES:
        *folders, _ = file.path.relative_to(task_files.FOLDER).parts
        metadata = file.content["metadata"]
        of_task = ["spor", metadata.get("corpus"), metadata.get("aspect")]
        assert folders == of_task


def test_a_task_differs_from_its_beams_in_decoding_alone() -> None:
    contents = {file.name: file.content for file in task_files.files()}
    for name in (file.name for file in FILES if f"{file.name}_beam5" in contents):
        greedy, beams = contents[name], contents[f"{name}_beam5"]
        assert beams | {"tag": greedy["tag"]} == greedy | {
            "include": [greedy["include"], "../../_beam5"],
            "task": f"{name}_beam5",
            "metadata": greedy["metadata"] | {"decoding": "beam5"},
        }
    decoding = yaml.safe_load((task_files.TEMPLATES / "_beam5").read_bytes())
    assert decoding == {
        "generation_kwargs": {
            "do_sample": False,
            "num_beams": 5,
            "no_repeat_ngram_size": 0,
            "repetition_penalty": 1.0,
            "length_penalty": 1.0,
            "early_stopping": False,
            "min_length": 0,
            "max_gen_toks": 128,
            "until": [],
        }
    }


@pytest.mark.parametrize("sample", [TOWN, INN])
@pytest.mark.parametrize("style", PROMPT_STYLES)
def test_greedy_tasks_stop_where_another_example_begins(sample: Sample, style: PromptStyle) -> None:
    stops = tuple(task_files.decoding()[0]["until"])
    assert f"\n{prompt(sample, style)}".startswith(stops)


# --- What a model is shown ------------------------------------------------------------------------


@pytest.mark.parametrize("name", MINI)
def test_the_first_ten_prompts_are_these(name: str) -> None:
    golden = (DATA / f"prompts_{name}.txt").read_text()
    assert list(prompts(load(name))) == golden.splitlines()


@pytest.mark.parametrize("name", [name for name in IN_CONTEXT if "_mini_" in name])
def test_the_first_ten_prompts_in_context_are_these(name: str) -> None:
    golden = (DATA / f"prompts_{name}.txt").read_text()
    assert "".join(prompt + "\n\n" for prompt in prompts(load(name))) == golden


ENOUGH = 100
"""The first test samples of a real set, of which ten at least are covered; `make soak` has all."""


@cache
def choose_some(pair: SplitPair, most: int) -> tuple[Prompted, ...]:
    """Choose demonstrations for enough of the samples; the choice for each does not see others."""
    samples = pair.test.samples[: None if SOAK > 1 else ENOUGH]
    return choose(replace(pair, test=replace(pair.test, samples=samples)), most)


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", [name for name in PROMPTS_SHA256 if name in IN_CONTEXT])
def test_the_first_ten_prompts_of_the_real_tasks_in_context_have_not_changed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_choose", choose_some)
    text = "".join(prompt + "\n\n" for prompt in prompts(load(name)))
    assert hashlib.sha256(text.encode()).hexdigest() == PROMPTS_SHA256[name]


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", [name for name in TASKS if name not in MINI])
def test_the_first_ten_prompts_of_the_real_tasks_have_not_changed(name: str) -> None:
    lines = "".join(prompt + "\n" for prompt in prompts(load(name)))
    assert hashlib.sha256(lines.encode()).hexdigest() == PROMPTS_SHA256[name]


# --- What the page says of them -------------------------------------------------------------------


def counts() -> dict[str, str]:
    """The number of test samples of each task, as the tables of the page have it."""
    found: dict[str, str] = {}
    corpora: list[str] = []
    for line in (task_files.TEMPLATES / "README.md").read_text("utf-8").splitlines():
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| |"):
            corpora = [cell.strip("`") for cell in cells]
        elif line.startswith("| `spor_"):
            for corpus, number in zip(corpora, cells, strict=True):
                found[name.split("`")[1].replace("…", corpus)] = number.replace(",", "")
    return found


def test_the_page_counts_the_samples_of_the_embedded_corpus() -> None:
    found = {
        spec.task: str(len(SPOR.load(spec.name).test.samples))
        for spec in SPOR.sets()
        if spec.name.corpus == "mini"
    }
    assert found == {name: number for name, number in counts().items() if "_mini" in name}


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
def test_the_page_counts_the_samples_of_the_real_corpora() -> None:
    found = {
        spec.task: str(len(SPOR.load(spec.name).test.samples))
        for spec in SPOR.sets()
        if spec.name.protocol == "published"
    }
    assert found == {name: number for name, number in counts().items() if "_mini" not in name}
