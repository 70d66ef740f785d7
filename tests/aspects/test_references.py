"""References: texts that are none, rows of one input, and texts in other words than the data."""

import json
from dataclasses import replace

import pytest

from spor_tasks.aspects import folder
from spor_tasks.aspects.references import left_out, of_corpus
from spor_tasks.core.codec import doc_of, from_row, sample_of
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError, ResultError
from spor_tasks.core.references import with_references
from spor_tasks.core.sample import SampleMaker
from spor_tasks.corpora import own
from spor_tasks.corpora.totto import reader as totto
from spor_tasks.corpora.viggo import reader as viggo
from spor_tasks.corpora.webnlg.reader import read_xml
from spor_tasks.prompts.styles import prompted
from spor_tasks.results.samples import answered
from tests.support.rows import write_rows
from tests.support.strategies import pool, sets

TOWN = [["Greyport", "harbour", "Old_Basin"], ["Greyport", "mayor", "Ida_Holm"]]
TEXT = "The mayor of Greyport, which has the Old Basin, is Ida Holm."
ROW = {"data": TOWN, "texts": [TEXT], "output": "Greyport has Old Basin."}
WORDLESS = ["", " ", "\f", "…", "¿?", "--", "\u200b", "\u3164", "🙂"]
PARENT = "--metric parent --corpus webnlg"


def read(**fields):
    make = SampleMaker("webnlg")
    sample = from_row(ROW | fields, make, where="rows:1")
    return with_references(sample, make, where="rows:1")


def logged(sample, *references):
    """Return the sample as it is read of a logged line, with these references."""
    doc = prompted(sample, "causal") | {"references": references}
    row = {"doc": doc, "resps": [["A."]], "arguments": {}, "prompt_hash": ""}
    found, _ = answered(row, "samples:3", whole=True)
    return found


# --- Texts without a letter or digit --------------------------------------------------------------


@pytest.mark.parametrize("text", WORDLESS)
def test_a_text_without_letter_or_digit_is_no_reference(text):
    plain, padded = read(), read(texts=[text, TEXT, text])
    assert (padded.references, padded.left_out) == ((TEXT,), 2)
    assert (padded.id, digest([padded])) == (plain.id, digest([plain]))
    assert sample_of(doc_of(padded)) == padded
    assert logged(plain, TEXT, text) == plain
    assert logged(plain, TEXT, text).left_out == 1
    with pytest.raises(ResultError, match="none of its texts") as caught:
        logged(plain, text)
    assert caught.value.where == "samples:3"
    with pytest.raises(CorpusError, match="none of its texts has a letter or digit") as caught:
        read(texts=[text])
    assert caught.value.where == "rows:1"


@pytest.mark.parametrize("text", ["7", "½", "灯台", "маяк", "منارة", "ⅻ", "a"])
def test_any_script_has_letters_and_digits(text):
    assert read(texts=[text]).references == (text,)


def test_the_order_of_a_text_that_is_no_reference_is_left_out_with_it():
    orders = {"input_order_1": [0, 1], "input_order_2": [1, 0], "output_order": [[0, 1], [1, 0]]}
    sample = read(texts=["", TEXT], **orders)
    assert sample.challenge.references == ((1, 0),)
    assert sample.references == (TEXT,)


def test_every_reader_leaves_such_texts_out(tmp_path):
    make = SampleMaker("any")
    csv = f'mr,ref\n"inform(genres[maze])",\n"inform(genres[maze])",{TEXT[:9]}\n'
    (slots,) = viggo.read_csv(csv.encode(), make)
    lexes = f"<lex>{TEXT}</lex><lex> </lex>"
    entry = f"<modifiedtripleset><mtriple>a | b | c</mtriple></modifiedtripleset>{lexes}"
    (triples,) = read_xml(f"<b><entry>{entry}</entry></b>".encode(), make)
    example = {"example_id": 1, "table": [[{"value": "a", "is_header": False}]]}
    example |= {"highlighted_cells": [[0, 0]]}
    texts = [{"final_sentence": text} for text in ("", TEXT, "")]
    path = write_rows(tmp_path / "a.jsonl", example | {"sentence_annotations": texts})
    (cells,) = totto.read(path)
    for sample, count in ((slots, 1), (triples, 1), (cells, 2)):
        assert (len(sample.references), sample.left_out) == (1, count)
    write_rows(path, example | {"sentence_annotations": texts[:1]})
    with pytest.raises(CorpusError, match="none of its texts") as caught:
        list(totto.read(path))
    assert caught.value.where == f"{path}:1"


def test_scores_are_of_references_alone(tmp_path, spor):
    padded = [ROW | {"texts": [TEXT, *more]} for more in ([], [""], [" "])]
    file = write_rows(tmp_path / "outputs.jsonl", *padded)
    for metric in ("parent", "chrf"):
        written = tmp_path / "scores.jsonl"
        options = f"--metric {metric} --corpus webnlg --per-sample {written} --overwrite"
        printed = spor(f"score {file} {options}")
        assert "2 texts without a letter or digit are left out" in printed
        scored = [json.loads(line) for line in written.read_text().splitlines()]
        field = {"parent": "f", "chrf": "chrf"}[metric]
        assert len({row[field] for row in scored}) == 1
    assert json.loads(spor(f"score {file} {PARENT} --json"))["left_out"] == 2
    write_rows(file, ROW, ROW | {"texts": [""]}, ROW)
    for metric in ("parent", "coverage"):
        error = spor(f"score {file} --metric {metric} --corpus webnlg", ends=2)
        assert f"{file}:2: none of its texts" in error


def test_a_check_says_how_many_texts_the_files_of_sets_lose(tmp_path, spor):
    wordless = [replace(each, references=("", *each.references)) for each in pool(["ab", "b"])]
    place = tmp_path / "sets"
    with folder.new(place) as staging:
        folder.write_sets(staging, sets("rule_learnability", wordless, original=wordless), {})
    checked = spor(f"data check {place}", ends=1)  # nothing is hidden
    assert "4 texts without a letter or digit are left out" in checked
    (found,) = json.loads(spor(f"data check {place} --json", ends=1)).values()
    assert found["left_out"] == 4


# --- Rows of one input ----------------------------------------------------------------------------

PAIRS = [["dish", "fish"], ["door", "blue"]]


def cafe(text, data=PAIRS, **fields):
    return {"name": "Gull", "data": data, "texts": [text], "split": "test", **fields}


def test_rows_of_one_input_are_one_sample_with_the_texts_of_all(tmp_path):
    rows = [
        cafe("Fish.", id=1),
        cafe("Rye.", [["dish", "rye"]]),
        cafe("Fish!", id=2, texts=["Fish!", "", "Fish?"]),
        cafe("Fish turned.", PAIRS[::-1]),
        cafe("Tern's fish.", name="Tern"),
        cafe("Cafe's fish.", category="Cafe"),
        cafe("Page's fish.", context={"source": "page"}),
        cafe("Trained fish.", split="train"),
        cafe("Fish.", id=3),
    ]
    corpus = own.read_corpus(write_rows(tmp_path / "cafes.jsonl", *rows))
    first, *others = corpus.test
    assert first.references == ("Fish.", "Fish!", "Fish?", "Fish.")
    assert first.left_out == 1
    assert [sample.references for sample in others] == [
        (row["texts"][0],) for row in rows if row["texts"][0] not in {"Fish.", "Fish!"}
    ][:-1]
    assert (len(corpus.train), corpus.rows) == (1, {"train": 1, "test": 8})
    assert len({sample.id for sample in corpus.samples}) == len(corpus.samples)


def test_a_corpus_without_equal_inputs_is_read_as_before(tmp_path):
    rows = [cafe("Fish."), cafe("Rye.", [["dish", "rye"]])]
    corpus = own.read_corpus(write_rows(tmp_path / "cafes.jsonl", *rows))
    make = SampleMaker("cafes")
    assert corpus.test == tuple(from_row(row, make, where="") for row in rows)


def test_commands_print_how_many_rows_are_how_many_samples(tmp_path, spor):
    doors = ["blue", "red"]
    rows = [
        cafe(f"{start}{dish} behind a {door} door.", [["dish", dish], ["door", door]], split=split)
        for split in ("train", "test")
        for dish in ("fish", "rye")
        for door in doors
        for start in ("Gull serves ", "At Gull, it is ")
    ]
    rows[-1]["texts"].append("")
    file = write_rows(tmp_path / "cafes.jsonl", *rows)
    made = spor(f"tasks make {file} --aspect order_invariance --out {tmp_path / 'tasks'}")
    options = f"--corpus {file} --aspect order_invariance --out {tmp_path / 'sets'}"
    built = spor(f"data build {options}")
    for printed in (made, built):
        assert "8 train rows are 4 samples" in printed
        assert "8 test rows are 4 samples" in printed
        assert "1 texts without a letter or digit are left out" in printed
        assert "references mention 100% of the units" in printed
    assert json.loads(spor(f"data build {options} --overwrite --json"))["aspect"]


def test_scores_of_rows_with_a_text_each_are_warned_of(tmp_path, spor):
    def warnings(*rows, metric="parent"):
        file = write_rows(tmp_path / "outputs.jsonl", *rows)
        command = f"score {file} --metric {metric} --corpus webnlg --json"
        return json.loads(spor(command))["warnings"]

    other = ROW | {"texts": ["Ida Holm is mayor."]}
    (warning,) = warnings(ROW, other, ROW | {"data": TOWN[:1]})
    assert "2 rows are of 1 inputs" in warning
    assert warnings(ROW, other, metric="coverage") == []
    assert warnings(ROW, ROW, ROW | {"data": TOWN[::-1], "texts": other["texts"]}) == []
    assert warnings(ROW | {"texts": [TEXT, *other["texts"]]}, other) == []


# --- Texts in other words than the data -----------------------------------------------------------


def test_references_that_do_not_mention_the_units_are_warned_of(tmp_path, capsys, spor):
    def corpus(name, *texts):
        dishes = ["fish", "rye", "leek"]
        rows = [
            cafe(text.format(dish), [["dish", dish], ["door", "blue"]], split=split)
            for split in ("train", "test")
            for dish, text in zip(dishes, texts * 3, strict=False)
        ]
        return write_rows(tmp_path / f"{name}.jsonl", *rows)

    named = corpus("named", "Gull serves {}.")
    foreign = corpus("foreign", "Die Möwe tischt auf.")
    mixed = corpus("mixed", "Gull serves {} behind a blue door.", "Die Möwe tischt auf.")
    for file, share in ((named, 50), (foreign, 0), (mixed, 67)):
        assert round(100 * of_corpus(own.read_corpus(file)).mentioned) == share
        options = f"--aspect order_invariance --out {tmp_path / file.stem}"
        part = "--part performance"
        capsys.readouterr()
        assert f"references mention {share}% of the units" in spor(f"tasks make {file} {options}")
        spor(f"data build --corpus {file} {options}-sets {part}")
        sets = tmp_path / f"{file.stem}-sets"
        checked = spor(f"data check {sets}")
        assert f"references mention {share}% of the units" in checked
        assert ("warning: references mention" in checked) == (share < 50)
        (found,) = json.loads(spor(f"data check {sets} --json")).values()
        assert (found["left_out"], round(100 * found["mentioned"])) == (0, share)
        assert bool(found["warnings"]) == (share < 50)


def test_sets_without_references_are_judged_by_an_arm(spor):
    assert "references mention 100% of the units" in spor(
        "data check strict:rule_learnability:mini"
    )


def test_the_embedded_corpora_lose_no_text():
    for name in ("mini", "totto_mini", "logicnlg_mini", "compmctg_mini"):
        corpus = own.corpus_of(name)
        assert left_out(sample for part in corpus.parts(None).values() for sample in part) == 0
