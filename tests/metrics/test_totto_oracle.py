"""ToTTo's PARENT against its definition written down, on texts and tables that overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from spor_tasks.metrics.totto import TOTTO, TOTTO_REAL
from tests.oracles import totto as slow
from tests.support.totto import sample

WORDS = ["ann", "Bo", "7", "3.5", "won", "(x)", "U.S.", "-", "a|b"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10).map(" ".join)
values = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


tokenizer = Tokenizer13a()  # type: ignore[no-untyped-call]


def tokens(text: str) -> list[str]:
    return str(tokenizer(text.strip().lower())).split()


@given(st.data())
def test_every_number_is_that_of_the_definition(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(values, min_size=1, max_size=3), min_size=1, max_size=3))
    places = [(row, index) for row, cells in enumerate(rows) for index in range(len(cells))]
    highlighted = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4))
    references = data.draw(st.lists(texts, min_size=1, max_size=3))
    title, section, text = (data.draw(st.just("") | values) for _ in range(3))
    output = data.draw(texts)
    given = sample(
        *references,
        cells=rows,
        highlighted=highlighted,
        title=title,
        section_title=section,
        section_text=text,
    )

    def entries(*given: str) -> list[list[str]]:
        return [tokens(value.replace("|", "-")) for value in given if value]

    whole = entries(*(value for row in rows for value in row), title, section, text)
    told = entries(*(rows[row][index] for row, index in highlighted), title, section)
    padded = [*references, *["<null>"] * (3 - len(references))]
    for metric, compared in ((TOTTO, padded), (TOTTO_REAL, references)):
        details = metric.judge_one(given, output).details
        expected = slow.parent(tokens(output), [*map(tokens, compared)], whole, told)
        found = [value for key, value in details.items() if key.startswith("parent")]
        assert found == pytest.approx([100 * each for each in expected], abs=1e-7)
