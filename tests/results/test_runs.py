"""Reading lm-eval's result files."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.errors import ResultError
from spor_tasks.prompts.styles import PROMPT_STYLES
from spor_tasks.results import runs
from spor_tasks.results.schema import Facts
from tests.support.result_files import UNKNOWN_ARM, result_content, write_result


def test_a_result_file_becomes_a_typed_result(tmp_path: Path) -> None:
    file = write_result(tmp_path / "results_1.json", arm="atom", seed=3, parent=41.25)

    (result,) = runs.read(file)

    assert result.task == "spor_systematicity_mini"
    assert (result.aspect, result.corpus, result.protocol) == ("systematicity", "mini", "strict")
    assert result.model == "base"
    assert result.adapter is not None
    assert (result.arm, result.seed) == ("atom", 3)
    assert result.adapter.adapter_sha256 == "a" * 64
    assert result.scores == {"parent": 41.25}
    assert result.stderrs == {"parent": 0.5}
    assert result.n == 200


def test_an_untuned_model_has_no_adapter(tmp_path: Path) -> None:
    (result,) = runs.read(write_result(tmp_path / "results_1.json", arm=None))
    assert result.adapter is None


def test_an_adapter_that_tells_no_arm_names_the_model(tmp_path: Path) -> None:
    (result,) = runs.read(write_result(tmp_path / "results_1.json", arm=UNKNOWN_ARM))
    assert (result.adapter, result.model) == (None, "base + somewhere")


def test_tasks_of_other_packages_are_passed_over(tmp_path: Path) -> None:
    content = result_content(arm="atom")
    content["configs"]["hellaswag"] = {"metadata": {"version": 1.0}}
    content["results"]["hellaswag"] = {"acc,none": None}
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps(content))

    assert [result.task for result in runs.read(file)] == ["spor_systematicity_mini"]


def test_a_score_that_is_nan_is_no_score(tmp_path: Path) -> None:
    (result,) = runs.read(write_result(tmp_path / "results_1.json", parent=float("nan")))
    assert result.scores == {}


def test_a_file_cut_short_is_named(tmp_path: Path) -> None:
    file = write_result(tmp_path / "results_1.json")
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ResultError, match=r"results_1\.json: is not a readable result file"):
        runs.read(file)


TASK = "spor_systematicity_mini"
TASK_PARTS = ("task", "generation_kwargs", "num_fewshot", "metadata")
METADATA = ("version", "test_sha256", "spor")
FACTS = ("declared", "spor_tasks", "packages", "prompt_style", "fewshot_arm", "arms", "adapter")
ADAPTER = ("arm", "arm_sha256", "seed", "adapter_sha256", "base_model")
OF_TASK = ("configs", TASK)
REQUIRED = [
    *((name,) for name in ("results", "configs", "n-samples", "config")),
    *(("config", name) for name in ("model", "model_args")),
    *(("n-samples", TASK, name) for name in ("original", "effective")),
    *((*OF_TASK, name) for name in TASK_PARTS),
    *((*OF_TASK, "metadata", name) for name in METADATA),
    *((*OF_TASK, "metadata", "spor", name) for name in (*FACTS, "demonstrations_sha256")),
    *((*OF_TASK, "metadata", "spor", "adapter", name) for name in ADAPTER),
]


@pytest.mark.parametrize("place", REQUIRED, ids=".".join)
def test_a_missing_field_is_named_with_its_place(tmp_path: Path, place: tuple[str, ...]) -> None:
    content: dict[str, Any] = copy.deepcopy(result_content())
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ResultError, match=f"results_1.json: .* field `{place[-1]}`") as error:
        runs.read(file)
    assert ".".join(place[:-1]) in str(error.value)


def test_a_fault_of_a_long_value_has_few_words(tmp_path: Path) -> None:
    content = result_content()
    content["configs"][TASK]["task"] = [1] * 10_000
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ResultError, match=rf"configs\.{TASK}\.task") as error:
        runs.read(file)
    assert len(error.value.what) < 200


def test_every_prompt_style_is_readable() -> None:
    assert Facts.__annotations__["prompt_style"].__args__ == PROMPT_STYLES


@pytest.mark.parametrize("count", [-5, 10**400, 2**53], ids=["negative", "huge", "inexact"])
def test_a_number_of_samples_that_none_can_have_is_refused(tmp_path: Path, count: int) -> None:
    content = result_content()
    (counts,) = content["n-samples"].values()
    counts["effective"] = count
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ResultError, match=r"Expected `int` .* at n-samples\..*\.effective"):
        runs.read(file)


def test_our_task_under_a_name_of_the_users_is_held_to_the_schema_too(tmp_path: Path) -> None:
    content = result_content(task="mine")
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps(content))
    assert [result.task for result in runs.read(file)] == ["mine"]
    del content["n-samples"]["mine"]
    file.write_text(json.dumps(content))
    with pytest.raises(ResultError, match=r"at n-samples\.mine"):
        runs.read(file)


def test_what_was_shown_is_an_arm_and_the_tasks_of_both_arms_are_one_comparison(
    tmp_path: Path,
) -> None:
    found = [
        runs.read(
            write_result(tmp_path / f"{arm}.json", shown=arm, task=f"spor_x_icl_{arm}_beam5")
        )[0]
        for arm in ("atom", "combination")
    ]
    assert [result.arm for result in found] == ["atom", "combination"]
    assert {result.comparison for result in found} == {"spor_x_icl_beam5 k=8"}
    assert found[0].signature == found[1].signature
    assert found[0].adapter is None


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"pretrained": "some/model"}, "some/model"),
        ({"model": "gpt", "base_url": "http://127.0.0.1"}, "gpt"),
        ("pretrained=some/model,dtype=float32", "some/model"),
        (None, "hf"),
    ],
)
def test_a_model_is_named_as_its_arguments_name_it(
    tmp_path: Path, arguments: object, name: str
) -> None:
    content = result_content(arm=None)
    content["config"]["model_args"] = arguments
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps(content))
    (result,) = runs.read(file)
    assert result.model == name


def test_cut_prompts_are_told_where_somebody_counted_them(tmp_path: Path) -> None:
    content = result_content()
    file = tmp_path / "results_1.json"
    for config, expected in (({}, None), ({"prompts_cut": {"spor_systematicity_mini": 0}}, 0)):
        file.write_text(json.dumps(content | {"config": content["config"] | config}))
        (result,) = runs.read(file)
        assert result.prompts_cut == expected


def test_folders_are_searched_and_each_file_is_read_once(tmp_path: Path) -> None:
    write_result(tmp_path / "a" / "results_1.json", seed=0)
    second = write_result(tmp_path / "b" / "deep" / "results_2.json", seed=1)
    (tmp_path / "a" / "samples_x.jsonl").write_text("no result\n")

    found = runs.collect([tmp_path, second]).runs

    assert [result.file.name for result in found] == ["results_1.json", "results_2.json"]


def test_a_folder_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="has no results of SPOR tasks"):
        runs.collect([tmp_path])
    with pytest.raises(ResultError, match="does not exist"):
        runs.collect([tmp_path / "missing"])


@pytest.mark.parametrize(("chat", "alike"), [(None, True), ("d" * 64, False)])
def test_turns_are_told_apart_in_chats_alone(
    chat: str | None, *, alike: bool, tmp_path: Path
) -> None:
    signatures = []
    for number, multiturn in enumerate((True, None)):
        file = tmp_path / f"results_{number}.json"
        chats = {"chat_template_sha": chat, "fewshot_as_multiturn": multiturn}
        file.write_text(json.dumps(result_content() | chats))
        (result,) = runs.read(file)
        signatures.append(result.signature)
    assert (signatures[0] == signatures[1]) is alike
