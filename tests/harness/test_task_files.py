"""Tasks are found by patterns, decode as the paper does, and show these prompts."""

from collections.abc import Iterator

import pytest

from spor_tasks.core.sample import AttributeValue, Sample, Triple
from spor_tasks.harness import task_files
from spor_tasks.prompts.styles import PROMPT_STYLES, PromptStyle, prompt
from tests.conftest import REPOSITORY
from tests.support.tasks import load

DATA = REPOSITORY / "tests" / "data"
TOWN = Sample("1", "mini", (Triple("Ebb", "sea", "Cold_Sound"),), ("By the sea.",))
INN = Sample(
    "2", "e2e", (AttributeValue("food", "Basque"),), ("Basque food.",), context={"name": "The Gull"}
)
MINI = sorted(path.stem.removeprefix("prompts_") for path in DATA.glob("prompts_spor_*.txt"))
"""The tasks over the embedded corpus whose first ten prompts are in a file."""


def prompts(name: str, number: int = 10) -> Iterator[str]:
    """Yield the contexts of the first documents of a task."""
    task = load(name)
    for document in task.eval_docs.select(range(number)):
        context = task.fewshot_context(document, num_fewshot=0)
        yield from context if isinstance(context, list) else [context]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["spor_mini"], [name for name in MINI if "_icl_" not in name]),
        (["spor_productivity_mini_icl_visible"], [n for n in MINI if n.endswith("_icl_visible")]),
        (["spor_sys*city_mini", "spor_systematicity_mini", "hellaswag"], [MINI[-3]]),
        (["spor_order_invariance_e2e_cwio*_icl"], []),
    ],
)
def test_tags_and_patterns_are_expanded(patterns: list[str], expected: list[str]) -> None:
    assert [file.name for file in task_files.expand(patterns)] == expected


def test_beams_are_those_of_the_paper() -> None:
    """They differ from greedy decoding in their number, and no text but the end stops them."""
    beams = task_files._template(task_files.TEMPLATES / "_beam5")["generation_kwargs"]
    assert beams == task_files.decoding()[0] | {"num_beams": 5, "until": []}
    fixed = ("length_penalty", "early_stopping", "max_gen_toks")
    assert [beams[name] for name in fixed] == [1, False, 128]


@pytest.mark.parametrize("sample", [TOWN, INN])
@pytest.mark.parametrize("style", PROMPT_STYLES)
def test_greedy_tasks_stop_at_the_next_prompt(sample: Sample, style: PromptStyle) -> None:
    stops = tuple(task_files.decoding()[0]["until"])
    assert f"\n{prompt(sample, style)}".startswith(stops)


@pytest.mark.parametrize("name", MINI)
def test_the_first_ten_prompts_are_these(name: str) -> None:
    end = "\n\n" if "_icl_" in name else "\n"
    golden = (DATA / f"prompts_{name}.txt").read_text()
    assert "".join(prompt + end for prompt in prompts(name)) == golden
