"""Sets as a command line asks for them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.aspects import check, folder, named, systematicity
from spor_tasks.aspects.request import Request, answer, find
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError, SplitError
from spor_tasks.core.registry import registry
from spor_tasks.corpora.embedded import MINI


@pytest.fixture
def own_corpus(tmp_path: Path) -> Path:
    path = tmp_path / "letters.jsonl"
    with path.open("w") as file:
        for word in ("a", "b", "a", "b", "ab", "abz"):
            units = [[letter, "is", letter.upper()] for letter in word]
            file.write(json.dumps({"data": units, "texts": [f"The word {word}."]}) + "\n")
    return path


def test_the_embedded_corpus_is_built_as_every_task_knows_it() -> None:
    got = answer(Request(corpus="mini", aspect="systematicity"))
    assert got.pair == named.load("systematicity", "mini")
    assert got.facts == {
        "corpus_version": f"sha256:{MINI.read().sha256}",
        "settings": {"limit": 0.02, "restarts": systematicity.RESTARTS},
        "seed": 0,
    }


def test_a_seed_and_restarts_make_other_sets() -> None:
    got = answer(Request(corpus="mini", aspect="systematicity", seed=1, restarts=2))
    assert got.facts["settings"] == {"limit": 0.02, "restarts": 2}
    assert got.facts["seed"] == 1
    assert got.pair != named.load("systematicity", "mini")


def test_a_corpus_of_ones_own_is_named_as_its_file(own_corpus: Path) -> None:
    pair = answer(Request(corpus=str(own_corpus), aspect="systematicity")).pair
    assert (pair.corpus, pair.protocol) == ("letters", "strict")
    assert [sample.references for sample in pair.test.samples] == [("The word ab.",)]


@pytest.mark.parametrize("corpus", ["none.jsonl", "."])
def test_what_is_no_corpus_is_refused(corpus: str) -> None:
    with pytest.raises(ConfigError, match="neither the name of a corpus nor a file") as caught:
        answer(Request(corpus=corpus, aspect="systematicity"))
    assert ", ".join(registry().names("corpus")) in str(caught.value)


def test_a_corpus_of_ones_own_needs_a_name_of_its_own(own_corpus: Path) -> None:
    path = own_corpus.rename(own_corpus.with_name("e2e.jsonl"))
    with pytest.raises(ConfigError, match="has the name of the corpus e2e"):
        answer(Request(corpus=str(path), aspect="systematicity"))


def test_sets_of_a_corpus_of_ones_own_were_never_published(own_corpus: Path) -> None:
    for corpus in ("mini", str(own_corpus)):
        with pytest.raises(SplitError, match="has no published sets"):
            answer(Request(corpus=corpus, aspect="systematicity", protocol="published"))


def test_settings_that_change_nothing_are_refused() -> None:
    for request in (
        Request(corpus="e2e", aspect="productivity", seed=0),
        Request(corpus="webnlg", aspect="systematicity", restarts=9),
    ):
        with pytest.raises(ConfigError, match="are the same for everyone"):
            answer(request)


def test_a_search_says_how_it_is_done_again(own_corpus: Path) -> None:
    request = Request(corpus=str(own_corpus), aspect="systematicity", search=True, seed=3, rounds=2)
    steps: list[tuple[int, int]] = []
    got = answer(request, lambda done, total, _: steps.append((done, total)))
    assert got == answer(request)
    assert check.check(got.pair).holds
    assert got.facts["seed"] == 3
    assert got.facts["settings"]["rounds"] == 2
    assert not got.interrupted
    assert steps[-1][0] == steps[-1][1]
    limited = answer(replace(request, rounds=None, seconds=1))
    assert limited.facts["settings"]["rounds"] >= 1


def test_a_search_that_cannot_show_a_pair_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    path.write_text(
        "".join(
            json.dumps({"data": [[letter, "is", letter] for letter in word], "texts": [word]})
            + "\n"
            for word in ("a", "b", "ab")
        )
    )
    with pytest.raises(SplitError, match="found no test sample"):
        answer(Request(corpus=str(path), aspect="systematicity", search=True))


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"aspect": "productivity", "search": True}, "search"),
        ({"aspect": "systematicity", "protocol": "published", "search": True}, "search"),
        ({"aspect": "systematicity", "part": "n3", "search": True}, "part"),
        ({"aspect": "systematicity", "restarts": 3, "search": True}, "restarts"),
        ({"aspect": "systematicity", "seconds": 9}, "seconds"),
        ({"aspect": "systematicity", "rounds": 1}, "rounds"),
    ],
)
def test_settings_that_no_search_has_are_refused(settings: dict[str, Any], where: str) -> None:
    for corpus in ("mini", "webnlg"):
        with pytest.raises(ConfigError) as caught:
            answer(Request(corpus=corpus, **settings))
        assert caught.value.where == where


def test_sets_are_found_by_name_and_in_a_folder(tmp_path: Path) -> None:
    pair = named.load("productivity", "mini", "strict", "n4")
    assert find("strict:productivity:mini:n4") == pair
    with folder.new(tmp_path / "sets") as staging:
        folder.write_sets(staging, pair, {})
    stored = find(str(tmp_path / "sets"))
    assert [split.name for split in stored.splits] == [split.name for split in pair.splits]


def test_names_that_there_are_not_and_folders_without_sets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SplitError, match="there is no split"):
        find("published:systematicity:mini")
    with pytest.raises(ResultError, match="is not a finished folder"):
        find(str(tmp_path))


def test_without_the_real_corpora_the_command_that_gets_them_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(tmp_path))
    with pytest.raises(CorpusError, match="spor data fetch"):
        answer(Request(corpus="webnlg", aspect="systematicity"))


@pytest.mark.real_data
def test_the_sets_of_a_real_corpus_say_of_which_commit_they_are(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(data_dir))
    got = answer(Request(corpus="e2e", aspect="systematicity"))
    assert got.pair.protocol == "published"
    assert got.facts == {
        "corpus_version": "git:ea664bb9d778a18f1a391d34e3ff385ab981d73c",
        "settings": {"limit": 0.02},
        "seed": None,
    }


@pytest.mark.parametrize("corpus", ["totto_mini", "logicnlg_mini", "compmctg_mini"])
def test_tables_and_control_codes_have_no_aspects(corpus: str) -> None:
    with pytest.raises(SplitError, match="tables or control codes") as caught:
        answer(Request(corpus=corpus, aspect="systematicity"))
    assert caught.value.remedy
