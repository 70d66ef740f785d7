"""PARENT's tokens: what is split, what stays together, what is dropped."""

import hashlib
from pathlib import Path

import pytest

from spor_tasks.benchmarks.spor import released
from spor_tasks.core.files import read_rows
from spor_tasks.text.tokenize import tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  \n", ""),
        ("The Mill, a Pub: cheap; (quiet) & near!", "the mill a pub cheap quiet near"),
        ("rated 5% - $20 or £20?", "rated 5 20 or £20"),
        ("the top-rated bar/café at 3:30, for 1,000.5 people", None),
    ],
)
def test_words_are_lower_cased_and_punctuation_is_dropped(text: str, expected: str | None) -> None:
    kept = "the top-rated bar/café at 3:30 for 1,000.5 people" if expected is None else expected
    assert tokens(text) == tuple(kept.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is quiet. It is cheap.", "it is quiet it is cheap"),
        ("Is it? Yes! (It is.) Good.", "is it yes it is good"),
        ("(It is quiet.) He said 'no.' It is.", "it is quiet he said 'no it is"),
        ("It ends with an abbreviation, Inc.", "it ends with an abbreviation inc"),
        ("The U.S. army, Dr. No and Foo Inc. met.", "the u.s. army dr. no and foo inc. met"),
        ("He saw Vincent-St. Mary in Jan. 1990.", "he saw vincent-st. mary in jan. 1990"),
        ("By J. R. Smith and O. Q. Doe.", "by j. r. smith and o. q. doe"),
        ("By B.M. Smith, e.g. no. 7.", "by b.m smith e.g no 7"),
        ("It scored 5. near the end.", "it scored 5. near the end"),
        ("It scored 5. 3 of us came.", "it scored 5 3 of us came"),
        ("Plan Q. (that one)", "plan q that one"),
        ("Plan C. (that one)", "plan c. that one"),
        ("Wait... what.. no", "wait ... what .. no"),
        ("Foo S.A. is here.", "foo s.a. is here"),
        ("See node.js here", "see node.js here"),
    ],
)
def test_a_period_is_split_off_at_the_end_of_a_sentence_only(text: str, expected: str) -> None:
    assert tokens(text) == tuple(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('It is "quiet".', "it is `` quiet ''"),
        ('"Quiet" it is', "`` quiet '' it is"),
        ("It is “quiet” or «calm»", "it is “ quiet ” or « calm »"),
        ("Ann's dog, the dogs' bed", "ann 's dog the dogs bed"),
        ("Ann’s dog", "ann ’ s dog"),
        ("It isn't, I'm sure they'll go", "it is n't i 'm sure they 'll go"),
        ("We've cannot wanna gotta", "we 've can not wan na got ta"),
        ("'Tis more'n d'ye know", "'t is more 'n d 'ye know"),
        ("rock 'n' roll in '5 and 'quoted' text", "rock 'n roll in 5 and 'quoted text"),
    ],
)
def test_quotes_clitics_and_contractions_are_split_as_in_the_penn_treebank(
    text: str, expected: str
) -> None:
    assert tokens(text) == tuple(expected.split())


def test_dashes_between_words_stay_as_before_nltk_3_10() -> None:
    assert tokens("New–Old Road — a road -- here") == (
        "new–old",
        "road",
        "—",
        "a",
        "road",
        "--",
        "here",
    )


def test_a_token_is_dropped_only_if_it_is_a_run_of_punctuation_in_code_order() -> None:
    assert tokens("a ^_ b _^ c '' d") == ("a", "b", "_^", "c", "``", "d")


@pytest.mark.parametrize("piece", ["a.", ".", "? ", "'", '"', "a' ", "u.s. ", "``", ".) ", "\t"])
def test_a_text_that_repeats_itself_is_no_trap(piece: str) -> None:
    # Quadratic time would take minutes here, and the suite has a time limit.
    tokens(piece * 30_000)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("corpus", "texts", "digest"),
    [
        ("webnlg", 5959, "0474aa83d3482cb82f241566fee4465b814d36d8ea673cc29c9c703f5b48ee11"),
        ("e2e", 3922, "c085de66917a197528c439aea70322391a028088285a91fa16f287e5e7aec3b2"),
    ],
)
def test_the_test_references_have_the_tokens_that_nltk_and_its_model_give(
    data_dir: Path, corpus: str, texts: int, digest: str
) -> None:
    path = data_dir / released.path(f"test_{corpus}_order-invariance_performance")
    lines = [" ".join(tokens(text)) + "\n" for _, row in read_rows(path) for text in row["texts"]]
    assert len(lines) == texts
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == digest
