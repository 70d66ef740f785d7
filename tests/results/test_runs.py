"""Reading lm-eval's result files."""

import json

import pytest

from spor_tasks.core.errors import ResultError
from spor_tasks.prompts.styles import PROMPT_STYLES
from spor_tasks.results import runs
from spor_tasks.results.facts import KeyGap, PromptFacts
from spor_tasks.results.rows import prompt_in_words
from tests.support.result_files import UNKNOWN_ARM, result_content, write_result
from tests.support.strategies import changed

TASK = "spor_systematicity_mini"


def written(folder, content):
    file = folder / "results_1.json"
    file.write_text(json.dumps(content))
    return file


@pytest.fixture
def read(tmp_path):
    """Read the only run of a file with these settings, and this at its top or in its `config`."""

    def run(top=(), config=(), **settings):
        content = result_content(**settings) | dict(top)
        content["config"] |= dict(config)
        (found,) = runs.read(written(tmp_path, content))
        return found

    return run


def test_a_task_of_a_file_becomes_a_run(read):
    run = read(arm="atom", seed=3, parent=41.25)
    assert run.task == TASK
    assert str(run.spec.sets) == "systematicity mini strict"
    assert (run.model, run.arm, run.seed, run.n) == ("base", "atom", 3, 200)
    assert run.adapter
    assert run.adapter.adapter_sha256 == "a" * 64
    assert (run.scores, run.log.stderrs) == ({"parent": 41.25}, {"parent": 0.5})
    assert read(parent=float("nan")).scores == {}
    assert read().log.prompts_cut is None
    assert read(config={"prompts_cut": {TASK: 0}}).log.prompts_cut == 0


def test_a_gap_has_the_difference_of_scores_and_the_error_of_both(read):
    gap = KeyGap("totto_parent_nonoverlap", "totto_parent_overlap")
    sets = {"benchmark": "totto", "corpus": "totto", "protocol": "published"}
    run = read(task="totto", aspect="totto", metadata=sets, scores={gap[0]: 30.0, gap[1]: 40.0})
    assert run.scores[gap.name] == -10
    assert run.log.stderrs[gap.name] == pytest.approx(0.5 * 2**0.5)


SPOR = ("configs", TASK, "metadata", "spor")
FIELDS = {
    (): ("results", "configs", "n-samples", "config"),
    ("config",): ("model", "model_args"),
    ("n-samples", TASK): ("original", "effective"),
    SPOR[:2]: ("task", "generation_kwargs", "num_fewshot", "metadata"),
    SPOR[:3]: ("version", "test_sha256", "spor"),
    SPOR: ("declared", "spor_tasks", "packages", "prompt", "arms", "adapter"),
    (*SPOR, "declared"): ("benchmark", "scores"),
    (*SPOR, "prompt"): ("style",),
    (*SPOR, "adapter"): ("arm", "arm_sha256", "seed", "adapter_sha256", "base_model"),
    (*SPOR, "adapter", "base_model"): ("path",),
}
REQUIRED = [(*place, name) for place, names in FIELDS.items() for name in names]


@pytest.mark.parametrize("place", REQUIRED, ids=".".join)
def test_a_missing_field_is_named_with_its_place(tmp_path, place):
    with pytest.raises(ResultError, match=f"results_1.json: .* field `{place[-1]}`") as error:
        runs.read(written(tmp_path, changed(result_content(), place, ...)))
    assert ".".join(place[:-1]) in str(error.value)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("n-samples", TASK, "effective"), -5),
        (("n-samples", TASK, "effective"), 10**400),
        (("n-samples", TASK, "effective"), 2**53),
        (("configs", TASK, "task"), [1] * 10_000),
    ],
    ids=["negative", "huge", "inexact", "long"],
)
def test_a_wrong_value_is_named(tmp_path, place, value):
    with pytest.raises(ResultError) as error:
        runs.read(written(tmp_path, changed(result_content(), place, value)))
    assert ".".join(place) in error.value.what
    assert len(error.value.what) < 200


def test_half_a_character_is_an_error_of_its_file(tmp_path):
    with pytest.raises(ResultError, match=f"not Unicode at {TASK}"):
        runs.read(written(tmp_path, changed(result_content(), ("configs", TASK), "\ud800")))


def test_every_prompt_style_is_readable():
    assert PromptFacts.__annotations__["style"].__args__ == PROMPT_STYLES


def test_our_tasks_alone_are_read_whatever_their_names(tmp_path):
    content = result_content(task="mine")
    content["configs"]["hellaswag"] = {"metadata": {"version": 1.0}}
    content["results"]["hellaswag"] = {"acc,none": None}
    assert [run.task for run in runs.read(written(tmp_path, content))] == ["mine"]
    del content["n-samples"]["mine"]
    with pytest.raises(ResultError, match=r"at n-samples\.mine"):
        runs.read(written(tmp_path, content))


def test_shown_arms_are_one_comparison(read):
    found = [read(shown=arm, task=f"spor_x_icl_{arm}_beam5") for arm in ("atom", "combination")]
    assert [run.arm for run in found] == ["atom", "combination"]
    assert {run.comparison for run in found} == {"spor_x_icl_beam5 k=8"}
    assert found[0].signature == found[1].signature
    assert found[0].adapter is None


def test_a_model_is_named_as_its_arguments_name_it(read):
    for arguments, name in (
        ({"pretrained": "some/model"}, "some/model"),
        ({"model": "gpt", "base_url": "http://127.0.0.1"}, "gpt"),
        ("pretrained=some/model,dtype=float32", "some/model"),
        (None, "hf"),
    ):
        assert read(arm=None, config={"model_args": arguments}).model == name
    assert read(arm=None).adapter is None
    unknown = read(arm=UNKNOWN_ARM)
    assert (unknown.adapter, unknown.model) == (None, "base + somewhere")


def test_folders_are_searched_and_each_file_is_read_once(tmp_path):
    with pytest.raises(ResultError, match="has no results of SPOR tasks"):
        runs.collect([tmp_path])
    with pytest.raises(ResultError, match="does not exist"):
        runs.collect([tmp_path / "missing"])
    write_result(tmp_path / "a" / "results_1.json", seed=0)
    second = write_result(tmp_path / "b" / "deep" / "results_2.json", seed=1)
    (tmp_path / "a" / "samples_x.jsonl").write_text("no result\n")
    found = runs.collect([tmp_path, second]).runs
    assert [run.file.name for run in found] == ["results_1.json", "results_2.json"]


def test_turns_matter_in_chats_alone(read):
    for chat, alike in ((None, True), ("d" * 64, False)):
        one, other = (
            read({"chat_template_sha": chat, "fewshot_as_multiturn": multiturn}).signature
            for multiturn in (True, None)
        )
        assert (one == other) is alike


def test_an_instruction_that_moved_is_another_prompt(tmp_path):
    def signature(place):
        content = result_content()
        content["configs"][TASK]["metadata"]["spor"]["prompt"]["system_message"] = place
        return runs.read(written(tmp_path, content))[0].signature

    first, second = signature(None), signature("first user turn")
    assert {key for key in first if first[key] != second[key]} == {"system_message"}
    assert (prompt_in_words(first), prompt_in_words(second)) == ("plain", "no system role")
