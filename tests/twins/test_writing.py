"""How invented words are written where others stood, and what agrees with them."""

import pytest

from spor_tasks.core.sample import Sample, SampleMaker, Triple
from spor_tasks.corpora.webnlg.kinds import KINDS
from spor_tasks.twins import Twins
from spor_tasks.twins.lexicon import lexicon
from spor_tasks.twins.tokens import tokens_of
from spor_tasks.twins.writing import rewritten


def written(text: str, **words: str) -> str:
    """Return a text with words, or numbers as `n12`, in the places of others."""
    tokens = tokens_of(text)
    found = {
        index: words[key]
        for index, token in enumerate(tokens)
        if (key := f"n{token.text}" if token.is_number else token.text) in words
    }
    return rewritten(text, tokens, found)


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("Tyus' club", "Zand's club"),
        ("Tyus’ club", "Zand’s club"),
        ("the club is Tyus'.", "the club is Zand's."),
        ("Tyus's club", "Zand's club"),
        ("known as 'Tyus' there", "known as 'Zand' there"),
        ("the 'Tyus'", "the 'Zand'"),
    ],
)
def test_a_bare_possessive_gets_an_s_after_another_letter(text: str, twin: str) -> None:
    assert written(text, Tyus="Zand") == twin
    assert written(text, Tyus="Zans") == text.replace("Tyus", "Zans")


@pytest.mark.parametrize(
    ("text", "words", "twin"),
    [
        ("a Velmor, an Ana", {"Velmor": "Oskan", "Ana": "Relm"}, "an Oskan, a Relm"),
        ("A “Velmor”", {"Velmor": "Oskan"}, "An “Oskan”"),
        ("A. Velmor of class a, Velmor", {"Velmor": "Oskan"}, "A. Oskan of class a, Oskan"),
        ("a US ship", {"US": "SD"}, "an SD ship"),
        ("an 18 and an 1850 hall", {"n18": "12", "n1850": "1842"}, "a 12 and an 1842 hall"),
        ("a 1912 and a 75 hall", {"n1912": "1904", "n75": "82"}, "a 1904 and an 82 hall"),
        ("a 12,000 and a 1200.5", {"n12,000": "18,000", "n1200.5": "1180.5"}, None),
        ("the 21st, the 4th of 3", {"n21": "22", "n4": "11", "n3": "2"}, "the 22nd, the 11th of 2"),
        ("the 3RD st", {"n3": "6"}, "the 6TH st"),
    ],
)
def test_articles_and_ordinals_agree(text: str, words: dict[str, str], twin: str | None) -> None:
    assert written(text, **words) == (twin or "an 18,000 and a 1180.5")


def test_a_text_is_exchanged_in_the_form_that_it_has() -> None:
    units = (
        Triple("Bandeja_paisa", "country", "United_States"),
        Triple("Bandeja_paisa", "region", "Paisa_Region"),
        Triple("Bandeja_paisa", "creator", "Ya'kub_Dørn"),
        Triple("Bandeja_paisa", "date", "1907-05-11"),
    )
    text = (
        "BANDEJA PAISA, or bandeja paisa, of the Paisa region in the U.S.A. is an American dish; "
        "Ya'kub Dorn made it on the 11th of May 1907 (11/05/1907, May 11th, 1907)."
    )
    sample = SampleMaker("webnlg")(units, [text], category="Food")
    twins = Twins(lexicon([sample] * 4, KINDS, "writing"))
    twin = twins.twin(sample)
    assert isinstance(twin, Sample)
    assert [unit.object for unit in twin.units if isinstance(unit, Triple)] == [
        *("Rofastad_Cantons", "Lurdroven_Region", "Skarv'dith_Slith", "1903-07-14")
    ]
    assert twin.references[0] == (
        "ZARJIRA LURDROVEN, or zarjira lurdroven, of the Lurdroven region in the R.C.A. is an "
        "Aderlan dish; Skarv'dith Slith made it on the 14th of July 1903 (14/07/1903, July 14th, "
        "1903)."
    )
