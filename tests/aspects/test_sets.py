"""Sets by their names, as a command line requests them, built, and in a folder."""

import hashlib
import json
from dataclasses import replace
from itertools import combinations

import pytest

from spor_tasks import __version__
from spor_tasks.aspects import build, check, folder, systematicity
from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.request import Request, answer, find
from spor_tasks.core import codec, files, named
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError, SplitError
from spor_tasks.core.sample import CorpusSamples, Hidden, Orders, SampleMaker
from spor_tasks.corpora.embedded import MINI
from tests.conftest import REPOSITORY
from tests.support.strategies import pool, sets, unit, words_of

LETTERS = pool([*"abcdefgh" * 2, "abcde", "cdefgh", "ab", "bc", "bcx", "abd"])


def corpus(train, test=()):
    return CorpusSamples("letters", train, test)


# --- By name --------------------------------------------------------------------------------------


NEAREST = {
    "systematicity webnlgg": "systematicity webnlg published",
    "produktivity mini": "productivity mini strict n3",
    "order_invariance e2e strict": "order_invariance e2e published main",
    "productivity e2e published n6": "productivity e2e published n5",
}


@pytest.mark.parametrize("name", NEAREST)
def test_an_unknown_name_is_an_error_with_the_nearest(name):
    with pytest.raises(SplitError, match=f"'{name}'") as caught:
        named.load(*name.split())
    assert NEAREST[name] in str(caught.value.remedy)


def test_files_are_in_the_current_folder(tmp_path, monkeypatch):
    for place in (tmp_path / "a", tmp_path / "b"):
        monkeypatch.setenv("SPOR_DATA_DIR", str(place))
        with pytest.raises(CorpusError, match="spor data fetch") as caught:
            answer(Request(corpus="webnlg", aspect="systematicity"))
        assert str(caught.value.where).startswith(str(place))


# --- Built ----------------------------------------------------------------------------------------


def test_an_impossible_threshold_is_refused_with_the_possible_ones():
    """A sample of four units cannot replace single units that are shown once."""
    long = [
        "".join(word)
        for size in (4, 6)
        for word in list(combinations("abcdefgh", size))[:: size - 1]
    ]
    letters = corpus(pool([*"abcdefgh", *long]), pool(["abcde", "defgh"]))
    assert build.build(letters, "productivity", "n4").facts.part == "n4"
    for part in ("n2", "n3", "n5"):
        with pytest.raises(SplitError) as caught:
            build.build(letters, "productivity", part)
        assert caught.value.remedy == "Use n4, or a larger corpus."


def test_the_possible_thresholds_begin_at_one():
    letters = corpus(pool([*"abcd" * 2, "ab", "cd"]), pool(["ac", "bd"]))
    assert build.build(letters, "productivity", "n1").test
    with pytest.raises(SplitError) as caught:
        build.build(letters, "productivity", "n2")
    assert caught.value.remedy == "Use n1, or a larger corpus."


def test_few_test_samples_are_a_hint_at_the_search():
    built = answer(Request(corpus="mini", aspect="systematicity", seed=1))
    few = replace(built.pair, test=built.pair.test[:35])
    assert built.warnings == ()
    assert "35 test samples are few: `spor data build --search`" in str(
        built._replace(pair=few).warnings
    )
    searched = {**built.origin, "settings": {"rounds": 1}}
    assert "few" not in str(built._replace(pair=few, origin=searched).warnings)


def test_another_threshold_than_the_papers_and_only_known_units_are_tested():
    pair = build.build(corpus(LETTERS, pool(["aceg", "abcfg", "abc"])), "productivity", "n2")
    assert (pair.facts.part, check.check(pair).holds) == ("n2", True)
    letters = corpus(pool(["a", "b", "ab"]), pool(["ab", "bc", "ba"]))
    for part in ("cwio", "performance"):
        assert words_of(build.build(letters, "order_invariance", part))[-1] == ["ab", "ba"]


@pytest.mark.parametrize(
    ("letters", "aspect", "part", "fault"),
    [
        (corpus(pool(["ab", "cd", "c"])), "systematicity", None, "of 2 .* lacks this for 1"),
        (corpus(pool(["a", "b", "ab"])), "systematicity", None, "would not differ from Atom"),
        (corpus(LETTERS), "productivity", "n3", "has no test samples"),
        (corpus((), LETTERS), "order_invariance", "main", "no training samples"),
        (corpus((), LETTERS), "rule_learnability", None, "no training samples"),
        (corpus(LETTERS, pool(["xyz"])), "productivity", None, "of 1, the nearest lacks 2"),
        (corpus(LETTERS, pool(["ab"])), "productivity", "n3", "the largest of 1 has 2"),
        (corpus(LETTERS, pool(["a"])), "order_invariance", "cwio", "in 1 no two units differ"),
        (corpus(LETTERS, pool(["a"])), "rule_learnability", None, "can be hidden"),
        (corpus(LETTERS, LETTERS), "productivity", "main", "has no part"),
        (corpus(LETTERS, LETTERS), "order_invariance", "n3", "'order_inv"),
        (corpus(LETTERS, LETTERS), "systematicity", "n3", "'systematicity n3'"),
        (corpus(LETTERS, LETTERS), "colour", None, "'colour'"),
    ],
)
def test_impossible_sets(letters, aspect, part, fault):
    with pytest.raises(SplitError, match=fault) as caught:
        build.build(letters, aspect, part)
    assert caught.value.remedy


# --- Requested ------------------------------------------------------------------------------------


@pytest.fixture
def letters(tmp_path):
    path = tmp_path / "letters.jsonl"
    files.write_rows(path, map(codec.to_row, pool(["a", "b", "a", "b", "ab", "abz"])))
    return path


def test_the_embedded_corpus_is_built_as_every_task_loads_it_and_otherwise_with_a_seed():
    default = answer(Request(corpus="mini", aspect="systematicity"))
    loaded = named.load("systematicity", "mini")
    assert (default.pair.all, str(default.pair.facts)) == (loaded.all, str(loaded.facts))
    facts = {"corpus_version": f"sha256:{MINI.read().sha256}", "seed": 0}
    settings = {"limit": 0.02, "restarts": systematicity.RESTARTS}
    assert default.origin == {**facts, "settings": settings}
    other = answer(Request(corpus="mini", aspect="systematicity", seed=1, restarts=2))
    assert other.origin == {**facts, "settings": {**settings, "restarts": 2}, "seed": 1}
    assert other.pair.test != default.pair.test


def test_a_search_says_how_it_is_repeated(letters):
    request = Request(corpus=str(letters), aspect="systematicity", search=True, seed=3, rounds=2)
    steps = []
    found = answer(request, lambda done, total, _: steps.append((done, total)))
    assert found == answer(request)
    assert check.check(found.pair).holds
    assert str(found.pair.facts) == "systematicity letters strict"
    assert words_of(found.pair)[-1] == ["ab"]
    assert (found.origin["seed"], found.origin["settings"]["rounds"]) == (3, 2)
    assert not found.interrupted
    assert steps[-1][0] == steps[-1][1]
    limited = answer(replace(request, rounds=None, seconds=1))
    assert limited.origin["settings"]["rounds"] >= 1


EMPTY = str(REPOSITORY / "docs" / "gallery")
SEARCH = {"aspect": "systematicity", "search": True}


@pytest.mark.parametrize(
    ("settings", "error", "where"),
    [
        ({"corpus": "none.jsonl"}, ConfigError, "none.jsonl"),
        ({"corpus": EMPTY}, CorpusError, EMPTY),
        ({"corpus": "mini", "protocol": "published"}, SplitError, "mini"),
        ({"corpus": "e2e", "aspect": "productivity", "seed": 0}, ConfigError, "seed"),
        ({"corpus": "webnlg", "restarts": 9}, ConfigError, "restarts"),
        ({"corpus": "totto_mini"}, SplitError, "totto_mini"),
        ({"corpus": "logicnlg_mini"}, SplitError, "logicnlg_mini"),
        ({"corpus": "compmctg_mini"}, SplitError, "compmctg_mini"),
        *(
            ({"corpus": corpus, **settings}, ConfigError, where)
            for corpus in ("mini", "webnlg")
            for settings, where in (
                ({"aspect": "productivity", "search": True}, "search"),
                (SEARCH | {"protocol": "published"}, "search"),
                (SEARCH | {"part": "n3"}, "part"),
                (SEARCH | {"restarts": 3}, "restarts"),
                ({"seconds": 9}, "seconds"),
                ({"rounds": 1}, "rounds"),
            )
        ),
    ],
)
def test_impossible_requests(settings, error, where):
    with pytest.raises(error) as caught:
        answer(Request(**{"aspect": "systematicity", **settings}))
    assert caught.value.where == where
    assert caught.value.remedy


def test_a_corpus_of_ones_own_needs_a_name_and_has_no_published_sets(letters):
    request = Request(corpus=str(letters), aspect="systematicity")
    with pytest.raises(SplitError, match="has no published sets"):
        answer(replace(request, protocol="published"))
    path = letters.rename(letters.with_name("e2e.jsonl"))
    with pytest.raises(ConfigError, match="has the name of the corpus e2e"):
        answer(replace(request, corpus=str(path)))


@pytest.mark.usefixtures("data_dir")
def test_sets_of_a_corpus_name_its_commit():
    released = answer(Request(corpus="e2e", aspect="systematicity"))
    assert released.pair.facts.protocol == "published"
    assert released.origin == {
        "corpus_version": "git:ea664bb9d778a18f1a391d34e3ff385ab981d73c",
        "settings": {"limit": 0.02},
        "seed": None,
    }


# --- In a folder ----------------------------------------------------------------------------------

FACTS = {"settings": {"limit": 0.02}, "seed": 3, "corpus_version": "sha256:0"}


def written(path, aspect="systematicity"):
    make = SampleMaker("letters")
    plain = make([unit("a"), unit("b")], ["A text."])
    tested = {
        "order_invariance": replace(plain, challenge=Orders(((0, 1), (1, 0)), ((1, 0),))),
        "rule_learnability": replace(make([unit("a")], ()), challenge=Hidden((("A", "a"),))),
    }
    arms = dict.fromkeys(ARMS[aspect], pool(["ab", "c", "ab"]))
    pair = sets(aspect, [tested.get(aspect, plain)], **arms)
    if aspect == "productivity":
        pair = replace(pair, facts=replace(pair.facts, part="n3"))
    with folder.new(path) as staging:
        folder.write_sets(staging, pair, FACTS)
    return pair


@pytest.mark.parametrize("aspect", ARMS)
def test_sets_come_back_as_they_were(tmp_path, aspect):
    assert written(tmp_path / "sets", aspect) == folder.read_sets(tmp_path / "sets")


def test_sets_are_found_by_name_and_in_a_folder_that_says_where_they_come_from(tmp_path):
    pair = written(tmp_path / "sets")
    assert find(str(tmp_path / "sets")) == pair
    assert find("strict:productivity:mini:n4") == named.load("productivity", "mini", part="n4")
    with pytest.raises(SplitError):
        find("published:systematicity:mini")
    with pytest.raises(ResultError, match="is not a finished folder"):
        find(str(tmp_path))
    manifest = json.loads((tmp_path / "sets" / "manifest.json").read_bytes())
    sha256 = hashlib.sha256((tmp_path / "sets" / "atom.jsonl").read_bytes()).hexdigest()
    atom = {"sha256": sha256, "samples": 3, "units": 5, "references": 3}
    assert manifest.pop("files")["atom.jsonl"] == atom
    head = {"schema": 1, "kind": "sets", "spor_tasks": __version__}
    assert manifest == {**head, **pair.facts.named, **FACTS}


@pytest.mark.parametrize("name", ["combination.jsonl", "test.jsonl"])
@pytest.mark.parametrize("damage", [lambda content: content[:-9], lambda content: content + b"\n"])
def test_damaged_files(tmp_path, name, damage):
    written(tmp_path / "sets")
    path = tmp_path / "sets" / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CorpusError) as caught:
        folder.read_sets(tmp_path / "sets")
    assert caught.value.where == str(path)


@pytest.mark.parametrize(
    "change",
    [{"kind": "adapter"}, {"schema": 2}, {"files": {}}, {"files": None}]
    + [{"aspect": each} for each in ("colour", "productivity", ["systematicity"])],
)
def test_another_manifest_is_refused(tmp_path, change):
    written(tmp_path / "sets")
    path = tmp_path / "sets" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))
    with pytest.raises(ResultError) as caught:
        folder.read_sets(tmp_path / "sets")
    assert caught.value.where == str(path)
