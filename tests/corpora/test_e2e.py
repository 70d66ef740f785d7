"""The CSV reader and its filter on rows of our own, and the real corpus against the published."""

import csv
import io
from pathlib import Path

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker
from spor_tasks.corpora.e2e import reader as e2e

FISH = "name[Gull], food[Fish], customer rating[5 out of 5]"
FISH_TEXT = "The Gull has fish and 5 out of 5 stars."


def table(*rows: tuple[str, str]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["mr", "ref", "fixed", "orig_mr"])
    writer.writerows([mr, reference, "0", mr] for mr, reference in rows)
    return text.getvalue().encode()


def read(content: bytes) -> list[Sample]:
    return list(e2e.read_csv(content, SampleMaker("e2e")))


def test_rows_of_one_mr_become_one_sample_even_if_others_stand_between() -> None:
    bar = "name[Crane], eatType[pub]"
    first, second = read(
        table((FISH, FISH_TEXT), (bar, "Crane is a pub."), (FISH, f"{FISH_TEXT} Go there!"))
    )
    assert first.units == (
        AttributeValue("food", "Fish"),
        AttributeValue("customer rating", "5 out of 5"),
    )
    assert (first.corpus, first.about("name")) == ("e2e", "Gull")
    assert first.references == (FISH_TEXT, f"{FISH_TEXT} Go there!")
    assert (second.about("name"), second.units) == ("Crane", (AttributeValue("eat type", "pub"),))


def test_only_references_that_mention_every_unit_stay() -> None:
    (sample,) = read(table((FISH, "The Gull has fish."), (FISH, FISH_TEXT)))
    assert sample.references == (FISH_TEXT,)


def test_a_yes_or_no_is_located_by_the_words_of_its_attribute() -> None:
    mr = "name[Gull], food[Fish], familyFriendly[no]"
    (sample,) = read(
        table((mr, "Gull: fish, not family-friendly."), (mr, "Gull: no fish for children."))
    )
    assert sample.references == ("Gull: fish, not family friendly.",)


@pytest.mark.parametrize(
    ("mr", "text"),
    [
        ("food[Fish]", "There is fish."),
        ("name[Gull]", "The Gull."),
        ("name[Gull], familyFriendly[yes]", "The Gull is family friendly."),
        ("name[Gull], food[Fish]", "The Gull."),
        (
            "name[Gull], " + ", ".join(f"unit{i}[value{i}]" for i in range(8)),
            "Gull " + " ".join(f"value{i}" for i in range(8)),
        ),
    ],
    ids=["no name", "no unit", "only a yes", "no reference left", "eight units"],
)
def test_what_the_paper_leaves_out_is_left_out(mr: str, text: str) -> None:
    assert [sample.about("name") for sample in read(table((mr, text), (FISH, FISH_TEXT)))] == [
        "Gull"
    ]


def test_where_both_training_files_are_missing_the_fetched_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="is missing") as caught:
        e2e.read_train(tmp_path)
    assert caught.value.where == str(tmp_path / e2e.TRAIN_FILTERED)


def test_the_training_csv_serves_where_the_released_set_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "e2e-clean/train-fixed.no-ol.csv"
    path.parent.mkdir()
    path.write_bytes(table((FISH, FISH_TEXT)))
    with pytest.raises(CorpusError, match="not the published file") as caught:
        e2e.read_train(tmp_path)
    assert caught.value.where == str(path)
