"""Each form of a corpus of one's own: the samples of a small file, and the faults that it names."""

import gzip
import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.cli import main
from spor_tasks.core import named
from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import SporError
from spor_tasks.core.files import ROW_BYTES
from spor_tasks.corpora import own
from spor_tasks.corpora.embedded import MINI
from spor_tasks.prompts.styles import prompt
from tests.support.rows import write_rows
from training.config import DataConfig
from training.data import sets_of

XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<benchmark><entries>
  <entry category="Ship" eid="1" shape="(X (X))" size="2">
    <originaltripleset><otriple>Gull | port | Ebb</otriple></originaltripleset>
    <modifiedtripleset>
      <mtriple>Gull | homePort | Ebb</mtriple><mtriple>Gull | CREW | 4</mtriple>
    </modifiedtripleset>
    <lex comment="good" lang="" lid="Id1">The Gull of Ebb has four hands.</lex>
    <lex comment="good" lang="br" lid="Id1">Pevar den zo war ar Gull.</lex>
  </entry>
  <entry category="Ship" eid="2" size="1">
    <modifiedtripleset><mtriple>Auk | homePort | Ebb</mtriple></modifiedtripleset>
    <lex comment="good" lid="Id1"><text>The Auk lies in Ebb.</text><template>A</template></lex>
  </entry>
</entries></benchmark>
"""
E2E = """\
mr,ref
"name[Gull], eatType[pub], customer rating[5 out of 5]","Gull, a pub, has ""5 out of 5"" stars."
"name[Auk], eatType[pub]",The Auk is a pub.
"name[Gull], eatType[pub], customer rating[5 out of 5]",A pub with 5 stars is Gull.
name[Tern],There is the Tern.
"""
ACTS = """\
mr;ref
give_opinion(name[Gull], has_pier[no], FOOD[fish, rye]);Fish and rye at the Gull, and no pier!
request_attribute(food[]);Which food do you like?
"""
DART = [
    {
        "tripleset": [["Gull", "CREW", "4"], ["[TABLECONTEXT]", "[TITLE]", "Ships"]],
        "subtree_was_extended": False,
        "annotations": [
            {"source": "invented", "text": "The Gull has four hands."},
            {"source": "invented", "text": "Four hands sail the Gull."},
        ],
    },
    {"tripleset": [["Auk", "CREW", "2"]], "annotations": {"text": ["Two."], "source": ["x"]}},
]
ROWS = [
    {"data": [["pier", "no"]], "name": "Gull", "texts": ["No pier."], "split": "train"},
    {"data": [["pier", "yes"]], "name": "Gull", "texts": ["A pier."], "split": "test"},
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def read(tmp_path, content, *, name="ships.x", lang=None):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return own.read_corpus(file, lang)


def fault(tmp_path, content, **settings):
    with pytest.raises(SporError) as caught:
        read(tmp_path, content, **settings)
    return str(caught.value).replace(f"{tmp_path}/ships.x", "FILE")


def test_webnlg_s_xml_is_read_in_one_of_its_languages(tmp_path):
    corpus = read(tmp_path, XML, name="ships.xml.gz", lang="en")
    assert (corpus.name, corpus.empty, corpus.test) == ("ships", 0, ())
    gull, auk = corpus.train
    assert gull.units == (("Gull", "home port", "Ebb"), ("Gull", "CREW", "4"))
    assert gull.references == ("The Gull of Ebb has four hands.",)
    assert gull.context == {"category": "Ship"}
    assert auk.references == ("The Auk lies in Ebb.",)  # of the enriched form, without templates
    corpus = read(tmp_path, XML, lang="br")
    assert [sample.references for sample in corpus.samples] == [("Pevar den zo war ar Gull.",)]
    assert corpus.empty == 1
    assert read(tmp_path, XML.replace('lang="br"', "")).train[0].references[1].startswith("Pevar")
    assert "FILE, entry 1: has texts in several languages: br, en" in fault(tmp_path, XML)
    assert "FILE: has no text in 'de', but in br, en" in fault(tmp_path, XML, lang="de")


@pytest.mark.parametrize("sign", [",", "\t"])
def test_rows_of_one_meaning_representation_are_a_sample(tmp_path, sign):
    corpus = read(
        tmp_path,
        f"\ufeff{E2E}"
        if sign == ","
        else E2E.replace('",', '"\t').replace("mr,", "mr\t").replace("[Tern],", "[Tern]\t"),
    )
    gull, auk = corpus.train
    assert gull.units == (("eat type", "pub"), ("customer rating", "5 out of 5"))
    assert (gull.about("name"), auk.about("name")) == ("Gull", "Auk")
    assert gull.references == (
        'Gull, a pub, has "5 out of 5" stars.',
        "A pub with 5 stars is Gull.",
    )
    assert corpus.empty == 1  # the Tern, of which nothing is told


def test_a_dialogue_act_is_in_the_context_and_in_the_prompt(tmp_path):
    corpus = read(tmp_path, ACTS)
    (sample,) = corpus.samples
    assert sample.units == (("has pier", "no"), ("food", "fish, rye"))
    assert sample.context == {"act": "give_opinion", "name": "Gull"}
    assert corpus.empty == 1
    assert prompt(sample, "seq2seq") == (
        "translate from MR to Text: give opinion name[Gull] has pier[no] food[fish, rye]"
    )
    assert prompt(sample, "instruction").startswith("Dialogue act: give opinion. Write a short")


@pytest.mark.parametrize("form", [json.dumps, lambda rows: json.dumps(rows, indent=2)])
def test_an_item_of_dart_is_a_sample(tmp_path, form):
    gull, auk = read(tmp_path, form(DART), name="ships.json").train
    assert gull.units == (("Gull", "CREW", "4"), ("[TABLECONTEXT]", "[TITLE]", "Ships"))
    assert gull.references == ("The Gull has four hands.", "Four hands sail the Gull.")
    assert (auk.units, auk.references) == ((("Auk", "CREW", "2"),), ("Two.",))
    assert read(tmp_path, "\n".join(map(json.dumps, DART)), name="ships").train == (gull, auk)


@pytest.mark.parametrize(
    "content", [LINES, f"\n \n{LINES}", json.dumps(ROWS), gzip.compress(LINES.encode())]
)
def test_rows_and_a_list_of_them_are_read_as_before(tmp_path, content):
    corpus = read(tmp_path, content)
    assert [sample.references for sample in corpus.samples] == [("No pier.",), ("A pier.",)]
    assert (len(corpus.train), len(corpus.test)) == (1, 1)


ENGLISH = XML.replace('lang="br"', "")
BOMB = '<!DOCTYPE b [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><benchmark/>'
OUTSIDE = '<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]><benchmark><entry>&a;</entry></benchmark>'


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (BOMB, "FILE: declares a document type"),
        (f"<?xml version='1.0'?>\n{OUTSIDE}", "FILE: declares a document type"),
        (BOMB.encode("utf-16"), "FILE:1: is not UTF-8"),
        (BOMB.encode("utf-16-le"), "FILE: declares a document type"),
        (ENGLISH[:-40], "FILE: is not XML: unclosed token: line 13"),
        (ENGLISH.replace("</lex>", "", 1), "FILE: is not XML: mismatched tag"),
        (ENGLISH.replace("UTF-8", "UTF-1"), "FILE: is not XML: unknown encoding"),
        (ENGLISH.replace("UTF-8", "shift_jis"), "FILE: is not XML: multi-byte encodings"),
        ("<html><p/></html>", "FILE: has no <entry>"),
        (f"<html>{'x' * ROW_BYTES}", f"FILE: has {ROW_BYTES:,} bytes without an <entry>"),
        (
            ENGLISH.replace("Gull | homePort | Ebb", "Gull | Ebb", 1),
            "FILE, entry 1: 'Gull | Ebb' is not",
        ),
        (
            re.sub("<lex.*</lex>", "", XML),
            "FILE: has no samples: 2 entries have no unit, or no text to read",
        ),
        ("a,b\n1,2\n", "FILE: is neither JSON nor XML, and its first line has no columns `mr`"),
        ("word\n" * 10, "FILE: is neither JSON nor XML"),
        ("\0" * 99, "FILE: is neither JSON nor XML"),
        (b"PK\x03\x04\xff\xfe", "FILE:1: is not UTF-8"),
        ('mr,ref\n"name[Gull], food[rye],Rye.\n', "FILE:2: is not CSV: unexpected end of data"),
        ("mr,ref\nfood[rye],Rye, Gull.\n", "FILE:2: has more or fewer cells than the first line"),
        ("mr,ref\nfood[rye]\n", "FILE:2: has more or fewer cells than the first line"),
        (
            f"mr,ref\nfood[rye],{'x' * 200_000}\n",
            "FILE:2: is not CSV: field larger than field limit",
        ),
        ("mr,ref\nrye bread,Rye.\n", "FILE:2: 'rye bread' is not a meaning representation"),
        (
            'mr,ref\n"a(food[rye]) & b(food[fish])",Rye.\n',
            "FILE:2: 'a(food[rye]) & b(food[fish])' is",
        ),
        ("mr,ref\n,Rye.\n", "FILE:2: '' is not a meaning representation"),
        ("mr,ref\nfood[rye],...\n", "FILE: has no samples: 1 entries"),
        ("mr,ref\n", "FILE: has no samples"),
        (
            '[{"tripleset": [["Gull", 4]], "annotations": []}]',
            "FILE, row 1: is not an item of DART",
        ),
        (
            '[{"tripleset": [["Gull", "crew", "4"]], "annotations": [{"text": "4"}]}, {}]',
            "FILE, row 2: is n",
        ),
        (
            '[{"tripleset": [["Gull", "crew"]], "annotations": [{"text": "4"}]}]',
            "FILE, row 1: is not an item of DART: Expected `array` of length 3, got 2",
        ),
        (
            f"{E2E}inform(food[rye]),Rye.\n",
            "FILE:6: some meaning representations have a dialogue act and others do not",
        ),
        ('{"data": [["a", "b"]], "texts": []}', "FILE:1: is not a sample: Expected `array` of l"),
        ("", "FILE: has no samples"),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path, content, what):
    assert fault(tmp_path, content).startswith(what)


@given(
    content=st.sampled_from([ENGLISH, E2E, ACTS, LINES, json.dumps(DART)]),
    place=st.floats(0, 1),
    length=st.integers(0, 40),
    inserted=st.one_of(st.binary(max_size=4), st.sampled_from([b'"', b"[", b"<", b",", b"null"])),
)
def test_a_damaged_file_is_a_corpus_or_an_error(tmp_path_factory, content, place, length, inserted):
    start = int(place * len(content))
    file = tmp_path_factory.getbasetemp() / "damaged.x"
    file.write_bytes(content[:start].encode() + inserted + content[start + length :].encode())
    with suppress(SporError):
        assert own.read_corpus(file).samples


@pytest.mark.parametrize("content", [E2E, ACTS, LINES, json.dumps(DART)])
def test_only_texts_in_xml_have_languages(tmp_path, content):
    assert "lang: has no effect on " in fault(tmp_path, content, lang="en")


@pytest.mark.parametrize(
    "content",
    [
        re.sub("<lex.*lid.*</lex>", "", ENGLISH, count=2),
        ENGLISH.replace("<mtriple>Auk | homePort | Ebb</mtriple>", ""),
        json.dumps([DART[0], {**DART[1], "annotations": []}]),
        json.dumps([DART[0], {**DART[1], "tripleset": []}]),
        "mr,ref\nfood[rye],Rye.\nfood[fish],\n",
    ],
)
def test_an_entry_without_a_unit_or_a_text_is_left_out_and_counted(tmp_path, content):
    corpus = read(tmp_path, content)
    assert (len(corpus.samples), corpus.empty) == (1, 1)


def test_the_files_of_a_folder_are_of_one_kind_of_units(tmp_path):
    (tmp_path / "train.jsonl").write_text(json.dumps(DART))
    (tmp_path / "test.csv").write_text(E2E)
    with pytest.raises(SporError, match="triples here and pairs there") as caught:
        own.read_corpus(tmp_path)
    assert f"{tmp_path / 'test.csv'}:2" in caught.value.what


def test_the_files_of_a_folder_have_one_form_of_meaning_representations(tmp_path):
    (tmp_path / "train.csv").write_text(E2E)
    (tmp_path / "test.csv").write_text(ACTS)
    with pytest.raises(SporError, match="have a dialogue act and others do not") as caught:
        own.read_corpus(tmp_path)
    assert caught.value.where == f"{tmp_path / 'test.csv'}:2"


def test_the_files_of_a_folder_are_of_the_parts_that_their_paths_name(tmp_path):
    folder = tmp_path / "ships"
    for place, content in {
        "train/1triples/Ship.xml": ENGLISH,
        "dev/README.md": "# Ships",
        "dev/Ship.xml": ENGLISH.replace("Ebb", "Orra"),
        "ships-v1.1-full-test.json": json.dumps(DART),
        "test/.hidden.json": "{",
    }.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(content)
    corpus, state = own.read_corpus(folder), own.state_of(folder)
    assert (corpus.name, dict(corpus.rows)) == ("ships", {"train": 2, "test": 4})
    objects = [sample.units[0][2] for sample in corpus.samples]
    assert objects == ["Ebb"] * 2 + ["Orra"] * 2 + [
        "4",
        "2",
    ]
    for content, path in ((E2E, "extra.csv"), (E2E, "train/test.csv")):
        (folder / path).write_text(content)
        with pytest.raises(SporError, match="the training or the test part") as caught:
            own.read_corpus(folder)
        assert caught.value.where == str(folder / path)
        (folder / path).unlink()
    assert own.state_of(folder) == state
    (folder / "valid.json").write_text(json.dumps(DART))
    assert own.state_of(folder) != state
    with pytest.raises(SporError, match="has no file that ends with"):
        own.read_corpus(folder / "test")


def test_a_folder_has_tasks_and_trainings_of_every_aspect(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "ships"
    folder.mkdir()
    parts = ("train", "test")
    for part, samples in zip(parts, (MINI.read().train, MINI.read().test), strict=True):
        write_rows(folder / f"{part}.jsonl", *map(to_row, samples))
    assert main(["tasks", "make", "ships", "--aspect", "productivity", "--out", "made"]) == 0
    assert "spor_productivity_ships_n3 " in capsys.readouterr().out
    task = ("spor_productivity_ships_n3", "--include_path", "made")
    assert main(["baseline", "copy-input", *task, "--limit", "2"]) == 0
    data = DataConfig("productivity", "ships", "visible", part="n3")
    whole = named.load("productivity", "mini", "strict", "n3")
    assert len(sets_of(data).test) == len(whole.test)
    with (folder / "test.jsonl").open("a") as file:
        file.write(json.dumps(to_row(MINI.read().test[0])) + "\n")
    assert main(["baseline", "copy-input", *task]) == 2
    assert "has changed since its task files were made" in capsys.readouterr().err
