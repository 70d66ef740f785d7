"""Each reader on files of our own: the samples that it makes, and the fault that it names."""

import csv
import io
import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import (
    AttributeValue,
    CorpusSamples,
    SampleMaker,
    Triple,
    with_known_units,
)
from spor_tasks.core.table import from_json
from spor_tasks.corpora import jsonl, own
from spor_tasks.corpora.compmctg import reader as compmctg
from spor_tasks.corpora.compmctg.outputs import read_outputs
from spor_tasks.corpora.compmctg.spaces import YELP
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.tables import header_of, header_values
from spor_tasks.corpora.totto import reader as totto
from spor_tasks.corpora.viggo import VIGGO
from spor_tasks.corpora.viggo import reader as viggo
from spor_tasks.corpora.webnlg import reader as webnlg
from tests.support.rows import write_rows


def read_own(path):
    return jsonl.parse_samples(path.read_bytes(), "own", where=str(path))


# --- WebNLG: XML ----------------------------------------------------------------------------------

ENTRY = """
  <entry category="Ship" eid="Id7" size="2">
    <originaltripleset><otriple>Gull | port | Harbour</otriple></originaltripleset>
    <modifiedtripleset>
      <mtriple>Gull | homePort | Ålborg_Harbour</mtriple>
      <mtriple>Gull | IMO_number | "12"</mtriple>
    </modifiedtripleset>
    <lex comment="good" lid="Id1">The Gull (12) lies at Ålborg.</lex>
    <lex comment="bad" lid="Id2">12: Gull, &lt;Ålborg&gt;.</lex>
  </entry>
"""


def test_an_entry_is_a_sample_with_raw_ends_and_the_predicate_in_words():
    make = SampleMaker("webnlg")
    document = f"<benchmark><entries>{ENTRY}{ENTRY}</entries></benchmark>".encode()
    samples = [sample for _ in range(2) for sample in webnlg.read_xml(document, make)]
    assert len({sample.id for sample in samples}) == 4  # all files of a corpus count together
    for sample in samples:
        assert sample.units == (
            Triple("Gull", "home port", "Ålborg_Harbour"),
            Triple("Gull", " i m o_number", '"12"'),
        )
        assert sample.references == ("The Gull (12) lies at Ålborg.", "12: Gull, <Ålborg>.")
        assert sample.context == {"category": "Ship"}


def test_only_samples_of_known_triples_are_tested():
    def sample(*units):
        return SampleMaker("webnlg")([Triple(*unit) for unit in units], ["A text."])

    port, crew = ("Gull", "port", "Ålborg"), ("Crane", "crew", "4")
    known = sample(crew, port)
    unknown = [sample(crew, ("Heron", *port[1:])), sample(("Gull", "home port", "Ålborg"))]
    unknown.append(sample(port, ("Crane", "crew", "5")))
    assert with_known_units([*unknown, known], [sample(port, crew)]) == (known,)


# --- E2E and ViGGO: meaning representations in CSV ------------------------------------------------


def table(*rows, header="mr,ref,fixed,orig_mr"):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header.split(","), *([*row, "0", row[0]] for row in rows)])
    return text.getvalue().encode()


def read_e2e(*rows):
    return list(e2e.read_csv(table(*rows), SampleMaker("e2e")))


FISH = "name[Gull], food[Fish], customer rating[5 out of 5]"
FISH_TEXT = "The Gull has fish and 5 out of 5 stars."


def test_rows_of_one_mr_become_one_sample_without_texts_that_lack_a_unit():
    bar = ("name[Crane], eatType[pub]", "Crane is a pub.")
    more = f"{FISH_TEXT} Go there!"
    first, second = read_e2e((FISH, FISH_TEXT), bar, (FISH, "The Gull has fish."), (FISH, more))
    assert first.units == (("food", "Fish"), ("customer rating", "5 out of 5"))
    assert first.references == (FISH_TEXT, more)
    assert (second.about("name"), second.units) == ("Crane", (("eat type", "pub"),))
    mr = "name[Gull], food[Fish], familyFriendly[no]"
    (sample,) = read_e2e((mr, "Gull: fish, not family-friendly."), (mr, "Gull: no fish for kids."))
    assert sample.references == ("Gull: fish, not family friendly.",)


@pytest.mark.parametrize(
    ("mr", "text"),
    [
        ("food[Fish]", "There is fish."),  # no name
        ("name[Gull]", "The Gull."),  # no unit
        ("name[Gull], familyFriendly[yes]", "The Gull is family friendly."),  # only a yes
        ("name[Gull], food[Fish]", "The Gull."),  # no reference is left
        ("name[Gull]" + "".join(f", u{i}[v{i}]" for i in range(8)), "v0 v1 v2 v3 v4 v5 v6 v7"),
    ],
)
def test_the_paper_leaves_these_out(mr, text):
    samples = read_e2e((mr, text), (FISH, FISH_TEXT))
    assert [sample.references for sample in samples] == [(FISH_TEXT,)]


def test_the_training_csv_serves_where_the_released_set_is_missing(tmp_path):
    with pytest.raises(CorpusError, match="is missing") as caught:
        e2e.read_train(tmp_path)
    assert caught.value.where == str(tmp_path / e2e.TRAIN_FILTERED)
    path = tmp_path / "e2e-clean/train-fixed.no-ol.csv"
    path.parent.mkdir()
    path.write_bytes(table((FISH, FISH_TEXT)))
    with pytest.raises(CorpusError, match="not the published file") as caught:
        e2e.read_train(tmp_path)
    assert caught.value.where == str(path)


def read_viggo(*mrs):
    return list(viggo.read_csv(table(*((mr, "Hi!") for mr in mrs)), SampleMaker("viggo")))


def test_a_slot_is_a_unit_with_all_its_values_and_name_and_act_are_context():
    mr = "recommend(name[Gull], genres[sport, puzzle], exp_release_date[May 2, 2018])"
    (sample,) = read_viggo(mr, mr)
    assert sample.units == (("genres", "sport, puzzle"), ("exp release date", "May 2, 2018"))
    assert sample.context == {"name": "Gull", "act": "recommend"}
    assert sample.references == ("Hi!", "Hi!")
    (sample,) = read_viggo("inform(has_linux_release[no], available_on_steam[yes])")
    assert sample.units == (AttributeValue("linux", "no"), AttributeValue("steam", "yes"))
    prompt = VIGGO.linearize(sample, "seq2seq")
    assert prompt.endswith(": inform has linux release[no] available on steam[yes]")
    assert read_viggo("request_attribute(esrb[])", "confirm(name[Gull])") == []


VALUES = st.text("abc,() :", min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.tuples(st.sampled_from(["esrb", "developer"]), VALUES), min_size=1))
def test_slots_are_read_as_they_were_write_rows(slots):
    (sample,) = read_viggo(f"inform({', '.join(f'{slot}[{value}]' for slot, value in slots)})")
    assert sample.units == tuple(slots)


def test_the_published_viggo(viggo_dir, tmp_path):
    parts = {part: viggo.read_parts(part, folder=viggo_dir) for part in ("train", "valid", "test")}
    assert [len(samples) for samples in parts.values()] == [1_665, 231, 349]
    folder = tmp_path / "data" / "video_game"
    folder.mkdir(parents=True)
    for file in viggo_dir.glob("*.csv"):
        shutil.copy(file, folder)
    assert VIGGO.read(tmp_path) == VIGGO.read(viggo_dir)  # the tree of the repository
    (folder / "valid.csv").chmod(0o644)
    (folder / "valid.csv").write_bytes(table(("inform(name[a])", "")))
    with pytest.raises(CorpusError):
        VIGGO.read(tmp_path)


# --- Rows in the published field names, and corpora of one's own ----------------------------------

SHIP = {"data": [["Gull", "home port", "Ålborg"]], "texts": ["The Gull lies at Ålborg."]}
CAFE = {"name": "Gull", "data": [["food", "fish"]], "texts": ["Fish at Gull.", "Gull: fish."]}
RYE = {"data": [["food", "rye"]], "texts": ["There is rye."]}
ORDERED = {
    "name": "Gull",
    "data": [["food", "fish"], ["area", "harbour"]],
    "texts": ["Fish at the harbour.", "At the harbour: fish."],
    "input_order_1": [1, 0],
    "input_order_2": [0, 1],
    "output_order": [[0, 1], [1, 0]],
}
ENTITY = {"data": [["Entity 1", "crew", "4"]], "replaced_entity": {"Gull": "Entity 1"}}
VALUE = {
    "name": "Gull",
    "data": [["price range", "more than Value A"]],
    "replaced_kv_pair": {"price range": "more than Value A"},
}
NAMELESS = {field: VALUE[field] for field in ("data", "replaced_kv_pair")}
TRAIN, TEST = {"split": "train"}, {"split": "test"}


def test_rows_go_to_the_part_they_name_and_to_training_by_default(tmp_path):
    path = write_rows(tmp_path / "cafes.jsonl", CAFE, RYE)
    corpus = own.read_corpus(path)
    assert (corpus.name, len(corpus.train), corpus.test) == ("cafes", 2, ())
    as_list = tmp_path / "cafes.json"
    as_list.write_text(json.dumps([CAFE, RYE], indent=1) + "\n\n")
    assert own.read_corpus(as_list) == corpus
    named = CAFE | TEST | {"category": "Cafe", "note": None}
    write_rows(path, named, RYE | TRAIN, CAFE | TRAIN, CAFE | TEST)
    corpus = own.read_corpus(path)
    assert [sample.units[0][1] for sample in corpus.train] == ["rye", "fish"]
    assert [sample.units[0][1] for sample in corpus.test] == ["fish", "fish"]
    assert [sample.about("category") for sample in corpus.test] == ["Cafe", None]
    assert len({sample.id for sample in corpus.samples}) == 4


def test_all_that_a_build_can_see_changes_the_digest_of_a_corpus():
    def corpus(*texts, name="cafes", category=None):
        make = SampleMaker("cafes")
        samples = tuple(make([AttributeValue("a", t)], [t], category=category) for t in texts)
        return CorpusSamples(name, samples[:1], samples[1:])

    plain, again = corpus("a", "b"), corpus("a", "b")
    others = [corpus("b", "a"), corpus("a", "b", "b"), corpus("a", "b", name="bars")]
    others += [corpus("a", "b", category="Bar"), CorpusSamples("cafes", plain.samples, ())]
    assert plain.sha256 == again.sha256
    assert len({plain.sha256, *(other.sha256 for other in others)}) == 6


# --- ToTTo ----------------------------------------------------------------------------------------


def cell(value, *, is_header=False, columns=1, rows=1):
    return {"value": value, "is_header": is_header, "column_span": columns, "row_span": rows}


EXAMPLE = {
    "table": [
        [cell("Year", is_header=True), cell("Film", is_header=True, columns=2)],
        [cell("1990", is_header=True), cell("Moss", rows=2), cell("ü")],
    ],
    "table_webpage_url": "http://en.wikipedia.org/wiki/Moss",
    "table_page_title": "Moss",
    "table_section_title": "Films",
    "table_section_text": "",
    "highlighted_cells": [[1, 1], [1, 0]],
    "example_id": -(10**25),
    "overlap_subset": True,
    "sentence_annotations": [{"original_sentence": "x", "final_sentence": "Moss is of 1990."}],
}


def test_an_example_of_totto_becomes_a_sample(tmp_path):
    hidden = {key: EXAMPLE[key] for key in EXAMPLE if key[0] != "s" and key != "overlap_subset"}
    path = write_rows(tmp_path / "a.jsonl", EXAMPLE, hidden)
    (where, sample), (_, of_test_set) = totto.read(path).numbered()
    assert where == f"{path}:1"
    assert sample.units == (AttributeValue("Film", "Moss"), AttributeValue("Year", "1990"))
    assert sample.references == ("Moss is of 1990.",)
    cells = [
        [["Year", True, 1, 1], ["Film", True, 2, 1]],
        [["1990", True, 1, 1], ["Moss", False, 1, 2], "ü"],
    ]
    assert sample.context == {
        "name": str(-(10**25)),
        "title": "Moss",
        "section_title": "Films",
        "source": "http://en.wikipedia.org/wiki/Moss",
        "overlap": True,
        "table": from_json({"cells": cells, "highlighted": [[1, 1], [1, 0]]}),
    }
    assert header_values(sample) == {"Year", "Film", "1990"}
    assert header_of(sample) == {"year", "film", "1990"}
    assert (of_test_set.references, of_test_set.context.get("overlap")) == ((), None)


# --- What is wrong with a line --------------------------------------------------------------------

TEXT = {"review": "a text", "sentiment": "Positive", "pronoun": "plural", "tense": "Past"}
OUTPUT = {**TEXT, "text": "It was."}
SPLIT = {"mode": "ACD", "idx": "0", "unseen_combs": []}
READERS = {
    "triples": (read_own, SHIP),
    "pairs": (read_own, CAFE),
    "own": (own.read_corpus, RYE | {"id": "1"}),
    "own parts": (own.read_corpus, RYE | TRAIN),
    "totto": (lambda path: list(totto.read(path)), EXAMPLE),
    "texts": (lambda path: list(compmctg.read(path, YELP)), TEXT),
    "splits": (lambda path: compmctg.read_unseen(path, YELP), SPLIT),
    "outputs": (lambda path: list(read_outputs(read_rows(path), YELP)), OUTPUT),
}
FAULTS = [
    ("triples", b"{", "not JSON"),
    ("triples", b"[]", "not a JSON object"),
    ("triples", {"data": SHIP["data"]}, "texts"),
    ("triples", SHIP | {"data": []}, "data"),
    ("triples", SHIP | {"data": [["Gull", "crew", 4]]}, r"data\["),
    ("triples", SHIP | {"data": [["Gull", "a", "b"], "abc"]}, r"data\["),
    ("triples", SHIP | {"data": [["food", "fish"]]}, r"data\[0\]"),
    ("triples", SHIP | {"name": "Gull"}, "name"),
    ("triples", SHIP | {"category": 3}, "category"),
    ("triples", ENTITY | {"replaced_entity": {}}, "replaced_entity"),
    ("pairs", CAFE | {"data": [["Gull", "food", "fish"]]}, r"data\[0\]"),
    ("pairs", ORDERED | {"input_order_1": [0]}, "input_order_1"),
    ("pairs", ORDERED | {"input_order_1": [False, True]}, "input_order_1"),
    ("pairs", ORDERED | {"output_order": [[0, 1]]}, "output_order"),
    ("pairs", VALUE | {"replaced_kv_pair": ["Value A"]}, "replaced_kv_pair"),
    ("own", SHIP, r"data\[0\]"),
    ("own", NAMELESS, "has no `texts`"),
    ("own", RYE | {"id": 1}, r"has the same `id` 1 as .*:1"),
    ("own", RYE | TEST, "`split`"),
    ("own parts", RYE, "`split`"),
    ("own parts", RYE | {"split": "dev"}, '`split` must be "train" or "test"'),
    ("totto", b"Hello.", "ToTTo"),
    ("totto", EXAMPLE | {"table_page_title": "\ud800"}, "ToTTo"),
    ("totto", b'{"a": ' + b"[" * 100_000, "ToTTo"),
    ("totto", EXAMPLE | {"highlighted_cells": [[1, 3]]}, r"\[1, 3\]"),
    ("totto", EXAMPLE | {"highlighted_cells": []}, "highlighted"),
    ("totto", EXAMPLE | {"table": [[{"is_header": True}]]}, "value"),
    ("totto", EXAMPLE | {"table": [[cell("a", columns=0)]]}, "column_span"),
    ("texts", TEXT | {"tense": "Future"}, "tense"),
    ("splits", SPLIT | {"mode": "Other"}, "mode"),
    ("splits", SPLIT | {"unseen_combs": [{}]}, "unseen_combs"),
    ("splits", SPLIT | {"unseen_combs": [{"tense": "Future"}]}, "tense"),
    ("outputs", OUTPUT | {"tense": "Future"}, "tense"),
    ("outputs", {"text": "It was.", "tense": "Past"}, "sentiment"),
    ("outputs", OUTPUT | {"text": {"0": "It was.", "2": "It is."}}, "text"),
    ("outputs", OUTPUT | {"unseen": "yes"}, "unseen"),
]


@pytest.mark.parametrize(("reader", "line", "field"), FAULTS)
def test_a_faulty_line_is_named(tmp_path, reader, line, field):
    read, good = READERS[reader]
    path = write_rows(tmp_path / "a.jsonl", good, line)
    with pytest.raises(CorpusError, match=field) as caught:
        read(path)
    assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize("reader", ["triples", "own"])
def test_a_file_without_samples_is_refused(tmp_path, reader):
    path = write_rows(tmp_path / "a.jsonl")
    with pytest.raises(CorpusError, match="has no samples") as caught:
        READERS[reader][0](path)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("reader", ["own", "totto", "texts", "splits"])
@pytest.mark.parametrize("name", ["missing", "."])
def test_a_missing_file_and_a_folder_are_named(tmp_path, reader, name):
    with pytest.raises(CorpusError) as caught:
        READERS[reader][0](tmp_path / name)
    assert caught.value.where == str(tmp_path / name)
