"""The XML reader on XML of our own, and the real corpus against what was published."""

from pathlib import Path

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample, SampleMaker, Triple
from spor_tasks.corpora import sources
from spor_tasks.corpora.webnlg import reader as webnlg

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


def document(*entries: str) -> bytes:
    return f"<benchmark><entries>{''.join(entries)}</entries></benchmark>".encode()


def read(content: bytes) -> list[Sample]:
    return list(webnlg.read_xml(content, SampleMaker("webnlg")))


def test_an_entry_becomes_a_sample_with_raw_ends_and_the_predicate_in_words() -> None:
    (sample,) = read(document(ENTRY))
    assert sample.units == (
        Triple("Gull", "home port", "Ålborg_Harbour"),
        Triple("Gull", " i m o_number", '"12"'),
    )
    assert sample.references == ("The Gull (12) lies at Ålborg.", "12: Gull, <Ålborg>.")
    assert (sample.corpus, sample.about("category"), sample.about("name")) == (
        "webnlg",
        "Ship",
        None,
    )


def test_equal_entries_are_two_samples_with_two_ids() -> None:
    first, second = read(document(ENTRY, ENTRY))
    assert first.id != second.id
    assert first.units == second.units


def test_the_files_of_a_corpus_are_numbered_together() -> None:
    make = SampleMaker("webnlg")
    ids = [sample.id for _ in range(2) for sample in webnlg.read_xml(document(ENTRY), make)]
    assert len(set(ids)) == 2


def one(*units: Triple) -> Sample:
    return SampleMaker("webnlg")(units, ["A text."])


def test_samples_with_an_unknown_triple_are_left_out() -> None:
    train = [one(Triple("Gull", "port", "Ålborg"), Triple("Crane", "crew", "4"))]
    known = one(Triple("Crane", "crew", "4"), Triple("Gull", "port", "Ålborg"))
    other_subject = one(Triple("Crane", "crew", "4"), Triple("Heron", "port", "Ålborg"))
    other_predicate = one(Triple("Gull", "home port", "Ålborg"))
    other_object = one(Triple("Gull", "port", "Ålborg"), Triple("Crane", "crew", "5"))
    samples = [other_object, other_subject, other_predicate, known]
    assert webnlg.keep_known(samples, train) == (known,)


def test_a_folder_without_the_corpus_names_the_first_missing_file(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="is missing") as caught:
        webnlg.read_train(tmp_path)
    assert caught.value.where == str(tmp_path / sources.SPOR.under("webnlg3.0/train")[0])
