"""Only results that could be verified are published, and nothing else of a machine."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ResultError
from spor_tasks.corpora.sources import LICENCES, Licence
from spor_tasks.report import plots
from spor_tasks.report.publish import packed
from tests.support.result_files import edited
from tests.support.whole_runs import HARMS, harm, whole_set, write_whole

TASK = "spor_productivity_mini_n4"


@pytest.fixture(autouse=True)
def without_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reports without plots, which take seconds."""
    monkeypatch.setattr(plots, "draw", lambda _rows, _outcomes: ())


def names(*paths: Path) -> list[str]:
    with packed(paths, "dataset") as folder:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return [path.relative_to(folder).as_posix() for path in files]


def card(*paths: Path) -> tuple[dict[str, Any], str]:
    """Return the head of the card, and the rest of it."""
    with packed(paths, "dataset") as folder:
        text = (folder / "README.md").read_text()
    _, top, rest = text.split("---\n", 2)
    return yaml.safe_load(top) or {}, rest


def refused(*paths: Path) -> ResultError:
    before = Path.cwd()
    with pytest.raises(ResultError) as caught, packed(paths, "dataset"):
        pass
    assert caught.value.where
    assert Path.cwd() == before
    return caught.value


@pytest.mark.parametrize("how", [*sorted({*HARMS} - {"no date"}), "a second run"])
def test_a_result_that_cannot_be_verified_is_refused(tmp_path: Path, how: str) -> None:
    write_whole(tmp_path, "other", arm="visible")
    file = write_whole(tmp_path, "one")
    if how == "a second run":
        write_whole(tmp_path, "again")
    else:
        harm(file, how)
    error = refused(tmp_path)
    assert len(error.each) == 1
    assert error.remedy


def test_samples_in_context_are_a_part_of_the_test_set(tmp_path: Path) -> None:
    some = whole_set("productivity", "n4")[3:]
    metadata = {"test_sha256": digest(whole_set("productivity", "n4"))}
    task = f"{TASK}_icl_visible"
    write_whole(tmp_path, "one", samples=some, metadata=metadata, shown="visible", task=task)
    assert names(tmp_path)
    write_whole(tmp_path, "two", samples=some, metadata=metadata)
    assert "samples" in "".join(refused(tmp_path).each)


@pytest.mark.parametrize(
    "arguments",
    [
        {"pretrained": "org/model", "token": "mine"},
        {"model": "x", "api_key": "mine"},
        {"model": "x", "header": {"Authorization": "Bearer mine"}},
        {"model": "x", "base_url": "https://me:mine@localhost/v1"},
        {"model": "x", "extra": [{"openai_api_key": "mine"}]},
        {"pretrained": "hf_" + "a" * 34},
        "pretrained=org/model,hf_token=mine,dtype=auto",
        "model=x,password=mine",
    ],
)
def test_a_secret_is_never_sent_nor_shown(tmp_path: Path, arguments: object) -> None:
    with edited(write_whole(tmp_path, "one")) as content:
        content["config"]["model_args"] = arguments
    error = refused(tmp_path)
    assert error.remedy
    assert "mine" not in str(error)
    assert "aaaa" not in str(error)


def test_a_token_in_a_sample_is_found_and_what_only_looks_like_one_is_sent(tmp_path: Path) -> None:
    file = write_whole(tmp_path, "one")
    with edited(file) as content:
        content["config"]["model_args"] |= {"token": True, "use_auth_token": "None", "api_key": ""}
        content |= {"tokenizer_eos_token": ["</s>", "2"], "eot_token_id": 2}
    assert names(tmp_path)
    (samples,) = file.parent.glob("samples_*")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    rows[1]["arguments"]["gen_args_0"]["arg_1"]["key"] = "hf_" + "a" * 34
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (fault,) = refused(tmp_path).each
    assert fault.startswith(f"{samples}:2 ")


def test_each_file_is_sent_once_and_files_of_one_place_are_refused(tmp_path: Path) -> None:
    file = write_whole(tmp_path / "a" / "model", "one")
    assert names(tmp_path, file) == names(file)
    write_whole(tmp_path / "b" / "model", "one", arm="visible")
    assert "results_one.json" in refused(tmp_path).what


def test_other_files_stay_and_the_working_directory_is_the_same(tmp_path: Path) -> None:
    write_whole(tmp_path / "model", "one")
    with edited(write_whole(tmp_path / "foreign", "two")) as content:
        content["configs"] = {"hellaswag": {"metadata": {}}}
    (tmp_path / "secrets.env").write_text("TOKEN=1")
    (tmp_path / "samples_hellaswag_one.jsonl").write_text("{}\n")
    before = Path.cwd()
    assert [name for name in names(tmp_path) if "/" in name] == [
        "results/model/results_one.json",
        f"results/model/samples_{TASK}_one.jsonl",
    ]
    assert Path.cwd() == before


def test_the_card_has_the_licence_of_the_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    licence = Licence("CC BY-SA 4.0", "https://licences.test/open", "Somebody's towns")
    monkeypatch.setitem(LICENCES, "mini", licence)
    monkeypatch.setitem(LICENCES, "towns", licence)
    write_whole(tmp_path, "one")
    top, text = card(tmp_path)
    assert top["license"] == ["cc-by-sa-4.0"]
    assert f"{licence.attribution}: [{licence.name}]({licence.url})" in text
    # The sets of a corpus of one's own have none of ours, whatever the corpus is called.
    metadata = {"corpus": "towns", "own_corpus": {"file": "/home/me/towns.jsonl"}}
    write_whole(tmp_path, "two", task="mine", model="own", metadata=metadata)
    top, text = card(tmp_path)
    assert "license" not in top
    assert f"- {licence.attribution}: " in text
    assert "- towns: no licence is stated" in text


def test_the_licences_have_the_names_that_the_hub_knows() -> None:
    names = {licence.name.lower().replace(" ", "-") for licence in LICENCES.values()}
    assert names <= {"cc-by-nc-sa-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "unknown"}


def test_without_results_nothing_is_published(tmp_path: Path) -> None:
    refused(tmp_path)
    refused(tmp_path / "absent")
