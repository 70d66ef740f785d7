"""Filters in tasks: what is cut before scoring, that results say so, and filters that are wrong."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.registry import get_filter
from lm_eval.tasks import TaskManager

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import filters, task_files
from spor_tasks.text.filters import FILTERS, UNTUNED
from tests.support.scripted import ScriptedLM, evaluate
from tests.support.soak import soak

PLAIN = "spor_systematicity_mini"
SHOWN = "spor_systematicity_mini_icl_atom"
PAIR = "spor_order_invariance_mini_main_icl_match"

OF_TUNED = [{"function": "spor_first_line"}, {"function": "take_first"}]
OF_UNTUNED = [{"function": f"spor_{name}"} for name in UNTUNED] + [{"function": "take_first"}]

PREFIXES = [
    "\n",
    "<think>\nHm.\n</think>\n\n",
    "Hm.\n</think>",
    "Here it is:\n",
    "<think></think>It:\n",
]


class ChatLM(ScriptedLM):
    """Puts a prompt into a chat's template."""

    tokenizer_name = "scripted"

    def chat_template(self, chat_template: bool | str = False) -> str:  # noqa: ARG002, FBT001, FBT002
        return "<user>"

    def apply_chat_template(self, history: list[dict[str, str]], **_: object) -> str:
        return "".join(f"<{turn['role']}>{turn['content']}" for turn in history)


def text_of(request: Instance) -> str:
    return str(request.doc["references"][0])


def run(
    task: str, prefixes: Sequence[str] = ("",), *, chat: bool = False, **metadata: object
) -> dict[str, Any]:
    """Evaluate a model that writes references after prefixes in turn, and more after them."""
    model = (ChatLM if chat else ScriptedLM)(
        lambda request: (
            f"{prefixes[request.doc_id % len(prefixes)]}{text_of(request)}\nAnd on it goes."
        )
    )
    manager = task_files.manager(None, **metadata)
    return evaluate(model, task, manager=manager, limit=5, apply_chat_template=chat)


def chain(result: dict[str, Any], task: str) -> Any:  # noqa: ANN401
    (only,) = result["configs"][task]["filter_list"]
    assert only["name"] == "none"
    return [{"function": step["function"]} for step in only["filter"]]


def scored(result: dict[str, Any], task: str) -> list[str]:
    return [text for row in result["samples"][task] for text in row["filtered_resps"]]


# --- What is cut ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_lm_eval_knows_every_filter(name: str) -> None:
    found = get_filter(f"spor_{name}")().apply([["a:\nb", "</think>c"], [""]], [])
    assert found == [[FILTERS[name]("a:\nb"), FILTERS[name]("</think>c")], [""]]


@pytest.mark.parametrize(
    ("task", "settings"),
    [
        (SHOWN, {}),
        soak(PAIR, {}),
        soak(PLAIN, {"prompt_style": "instruction"}),
        soak(PLAIN, {"chat": True}),
        (SHOWN, {"chat": True, "prompt_style": "instruction"}),
    ],
)
def test_of_untuned_models_reasoning_and_preambles_are_not_scored(
    task: str, settings: dict[str, Any]
) -> None:
    expected, found = run(task, **settings), run(task, PREFIXES, **settings)
    assert found["results"] == expected["results"]
    assert scored(found, task) == scored(expected, task)
    assert chain(found, task) == OF_UNTUNED
    for row, prefix in zip(found["samples"][task], PREFIXES, strict=True):
        assert all(text.startswith(prefix) for [text] in row["resps"])


def test_of_tuned_models_the_first_line_is_scored_whatever_it_is() -> None:
    found = run(PLAIN, ["<think>\n"])
    assert chain(found, PLAIN) == OF_TUNED
    assert set(scored(found, PLAIN)) == {"<think>"}
    assert run(PLAIN, ["\n \n"])["results"] == run(PLAIN)["results"]


@pytest.mark.parametrize(
    ("task", "names"),
    [(PLAIN, ("first_line", "take_first")), (SHOWN, (*UNTUNED, "take_first"))],
)
def test_a_request_tells_the_model_what_is_cut(task: str, names: tuple[str, ...]) -> None:
    model = ScriptedLM(text_of)
    evaluate(model, task, limit=1)
    assert [request.filters for request in model.requests] == [names]


def test_filters_are_added_once_and_to_no_chain_of_somebody_elses() -> None:
    once = filters.for_untuned([{"name": "none", "filter": OF_TUNED}])
    assert list(once) == [{"name": "none", "filter": OF_UNTUNED}]
    assert filters.for_untuned(once) == once
    assert filters.for_untuned(filters.WHOLE) == list(filters.WHOLE)
    some = [OF_UNTUNED[1], *OF_TUNED]
    assert filters.for_untuned([{"name": "none", "filter": some}]) == [
        {"name": "none", "filter": [OF_UNTUNED[1], OF_UNTUNED[0], *OF_TUNED]}
    ]


# --- Filters of one's own -------------------------------------------------------------------------

OWN = """
from lm_eval.api.filter import Filter

class Upper(Filter):
    def apply(self, resps, docs):
        return [[text.upper() for text in texts] for texts in resps]

class Nothing(Filter):
    def apply(self, resps, docs):
        return [[None for text in texts] for texts in resps]

class Fewer(Filter):
    def apply(self, resps, docs):
        return resps[1:]
"""


def own(folder: Path, *functions: str) -> dict[str, Any]:
    """Evaluate a task whose filters are these."""
    (folder / "own.py").write_text(OWN, "utf-8")
    listed = "".join(f"      - function: {function}\n" for function in functions)
    (file,) = task_files.expand([PLAIN])
    (folder / "mine.yaml").write_text(
        f"include: {file.path}\ntask: mine\nfilter_list:\n  - name: none\n    filter:\n{listed}",
        "utf-8",
    )
    manager = TaskManager(include_path=folder, include_defaults=False)
    return evaluate(ScriptedLM(text_of), "mine", manager=manager, limit=2)


def test_a_filter_of_ones_own_is_applied(tmp_path: Path) -> None:
    found = own(tmp_path, "spor_first_line", "!function own.Upper", "take_first")
    assert all(text.isupper() for text in scored(found, "mine"))
    assert found["results"]["mine"]["empty,none"] == 0


@pytest.mark.parametrize(
    ("functions", "named"),
    [
        (["!function own.Nothing", "spor_first_line", "take_first"], "Nothing"),
        (["spor_first_line", "take_first", "!function own.Fewer"], "Fewer"),
    ],
)
def test_a_filter_that_returns_no_text_is_named(
    tmp_path: Path, functions: list[str], named: str
) -> None:
    with pytest.raises(ConfigError, match=f"filter {named} ") as caught:
        own(tmp_path, *functions)
    assert caught.value.where
    assert "mine" in caught.value.where
    assert caught.value.remedy


def test_outputs_are_scored_whole_where_a_task_names_no_filters(tmp_path: Path) -> None:
    (file,) = task_files.expand([PLAIN])
    (tmp_path / "mine.yaml").write_text(
        f"include: {file.path}\ntask: mine\nfilter_list:\n", "utf-8"
    )
    manager = TaskManager(include_path=tmp_path, include_defaults=False)
    found = evaluate(ScriptedLM(lambda _: "a\nb"), "mine", manager=manager, limit=1)
    assert scored(found, "mine") == ["a\nb"]
