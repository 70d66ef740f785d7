"""CompMCTG's task files: which there are, that they are current, and what they ask."""

import json
from statistics import fmean
from zlib import crc32

import pytest

from spor_tasks.core.errors import ConfigError, CorpusError, SplitError
from spor_tasks.harness import task_files
from spor_tasks.models.hf import SporHF
from tests.support.scripted import ScriptedLM, simple

MINI = "compmctg_mini_acd"


def run(model, name=MINI, **more):
    """Return lm-eval's results and samples of a task; ``metadata`` is that of the command line."""
    given = {"prompt_style": "causal", **more.pop("metadata", {})}
    found = simple(model, name, manager=task_files.manager(given), **more)
    found["samples"][name].sort(key=lambda sample: sample["doc_id"])
    return found


def test_a_text_is_drawn_after_its_codes_and_beginning(checkpoint):
    def texts(size, split=None, **more):
        model = SporHF(pretrained=str(checkpoint("gpt2")), device="cpu", batch_size=size)
        metadata = {"model_type": "spor-hf"} | ({} if split is None else {"split": split})
        found = run(model, limit=6, metadata=metadata, **more)["samples"][MINI]
        for each in found:
            prefix = json.loads(each["doc"]["context"])["prefix"]
            assert each["arguments"][0][0].endswith(prefix)
        return [each["filtered_resps"][0] for each in found]

    found = texts(1)
    assert found == texts(4, split=2)
    assert found != texts(4, gen_kwargs="sampling_seed=2")


def test_an_untuned_model_writes_once_and_is_read_under_every_split():
    def written(request):
        things = ("soup", "song", "train")
        return f" the {things[crc32(request.arguments[0].encode()) % 3]} was lovely."

    model = ScriptedLM(written)
    whole = run(model)
    assert len(model.requests) == 12 * 10 * 3
    parts = [run(ScriptedLM(written), metadata={"split": split}) for split in range(3)]
    scores, *of_parts = (each["results"][MINI] for each in (whole, *parts))
    for name in ("mini_acc", "mini_acc_id", "mini_acc_comp", "mini_gap_real", "mini_acc_topic"):
        mean = fmean(each[f"{name},none"] for each in of_parts)
        assert scores[f"{name},none"] == pytest.approx(mean), name
    seen, comp = (scores[f"mini_acc_{half},none"] for half in ("id", "comp"))
    assert scores["mini_gap,none"] == pytest.approx(100 * (seen - comp) / seen)
    assert len({each["mini_gap_real,none"] for each in of_parts}) > 1
    assert scores["dist_3,none"] == of_parts[0]["dist_3,none"]
    metadata = [each["configs"][MINI]["metadata"] for each in (whole, *parts)]
    assert [each.get("part") for each in metadata] == [None, "0", "1", "2"]
    assert len({each["test_sha256"] for each in metadata}) == 4
    original = run(model, "compmctg_mini_original", limit=24)["results"]["compmctg_mini_original"]
    assert not [score for score in original if score.endswith("_comp,none")]


def test_demonstrations_are_of_the_combination_or_of_others():
    found = run("dummy", limit=24, num_fewshot=5, metadata={"split": 0})
    for each in found["samples"][MINI]:
        prompt, doc = each["arguments"][0][0], each["doc"]
        codes = "".join(f" {value}" for _, value in json.loads(doc["units"]))
        is_unseen = json.loads(doc["context"])["unseen"]
        assert prompt.count(f"<|endoftext|>{codes}") == (1 if is_unseen else 6)
        assert doc["said"] == dict.fromkeys(doc["said"], "none")  # what the oracle finds
        assert [*doc["said"]] == ["sentiment", "tense", "topic"]
        assert len(each["dist_3"]) == 2  # counts, and no words
    metadata = found["configs"][MINI]["metadata"]
    assert metadata["icl_arm"] == "train"
    assert metadata["spor"]["prompt"]["demonstrations_sha256"].startswith("36016c70")
    # Instructions say the task once.
    given = {"prompt_style": "instruction", "split": "0"}
    found = run("dummy", limit=2, num_fewshot=5, metadata=given)
    task, _, *turns = found["samples"][MINI][0]["arguments"][0][0].splitlines()
    assert task.startswith("Task: ")
    assert [turn.partition(" ")[0] for turn in turns] == ["Input:", "Output:"] * 6
    assert all(turn.startswith("Input: sentiment-") for turn in turns[:-2:2])


MORE = [
    ({"num_fewshot": 5}, ConfigError),
    ({"metadata": {"split": "3"}}, SplitError),
    ({"metadata": {"split": "holdout_1"}}, SplitError),
    ({"name": "compmctg_mini_original", "metadata": {"split": 0}}, SplitError),
    ({"name": "spor_systematicity_mini", "metadata": {"split": 0}}, ConfigError),
    ({"name": "compmctg_yelp_acd", "metadata": {"split": "published_0"}}, CorpusError),
]


def test_a_split_that_is_missing_or_unknown_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPMCTG_DATA_DIR", str(tmp_path))
    for more, error in MORE:
        with pytest.raises(error) as caught:
            run("dummy", limit=2, **more)
        assert caught.value.remedy
