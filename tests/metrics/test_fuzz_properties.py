"""Whatever a file holds, its outputs are scored or the line at fault is named."""

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import SporError
from spor_tasks.core.files import read_rows
from spor_tasks.evaluation.score import score as score_files
from spor_tasks.metrics import copy_rule
from tests.support.scoring import score

# Halves of surrogate pairs included, which JSON can hold and UTF-8 cannot.
anything = st.text(st.characters(exclude_categories=()), max_size=40)
PHRASES = "Entity 1|Value A|2001|yes|low|family friendly|u.s.|can't|שלום|👍🏽"
texts = anything | st.lists(st.sampled_from(PHRASES.split("|")) | anything, max_size=8).map(
    " ".join
)
looping = st.builds(lambda text, times: text * times, texts, st.integers(1, 8))


@given(looping | st.text("aİ Σ "))
def test_a_place_in_a_normalized_output_is_traced_back(output):
    length = len(copy_rule.normalized(output))
    for start, index in enumerate(copy_rule.origins(output)[:length]):
        before, upto = (len(copy_rule.normalized(output[: index + more])) for more in (0, 1))
        assert before <= start < upto


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
CAFE = {"name": "n", "data": [["food", "a"], ["area", "b"]], "texts": ["a b"]}
ORDERS = {"input_order_1": [0, 1], "input_order_2": [1, 0], "output_order": [[0, 1]]}
PHRASE = {"data": [["food", "Value A"]], "replaced_kv_pair": {"food": "Value A"}}
ROWS = {
    "parent": {**CAFE, "output": "a"},
    "order": {**CAFE, **ORDERS, "output_1": "a b", "output_2": "b"},
    "cwio": {**CAFE, "output": "a"},
    "copy_rule": {**PHRASE, "possible_values": {"food": ["a"]}, "output": "Value A"},
}
FIELDS = sorted({"replaced_entity", "category", "twin"}.union(*ROWS.values()))
field = st.sampled_from(FIELDS)
pairs = st.lists(st.tuples(texts, texts), min_size=2, max_size=2).map(
    lambda drawn: [*map(list, drawn)]
)
SOUND = {**dict.fromkeys(("output", "output_1", "output_2"), looping), "data": pairs}
SOUND["texts"] = st.lists(texts, min_size=1, max_size=1)


@given(
    st.sampled_from([*ROWS]),
    st.dictionaries(field, values) | st.fixed_dictionaries({}, optional=SOUND),
    st.sets(field, max_size=2),
    st.none() | st.tuples(st.integers(1, 300), st.binary(max_size=3)),
)
def test_a_line_with_anything_in_it_is_scored_or_named(
    tmp_path_factory, metric, changes, gone, damage
):
    folder = tmp_path_factory.mktemp("outputs")
    file, evidence = folder / "outputs.jsonl", folder / "evidence.jsonl"
    row = {key: value for key, value in {**ROWS[metric], **changes}.items() if key not in gone}
    line = json.dumps(row).encode()
    if damage:
        start, put = damage
        start = 1 + start % (len(line) - 1)
        rest = line[start + len(put) :] + b"\n" if put else b""  # nothing follows a cut
        line = line[:start] + put.replace(b"\n", b"") + rest
    file.write_bytes(json.dumps(ROWS[metric]).encode() + b"\n" + line)
    try:
        result = score(file, metric, "e2e", per_sample=evidence)
    except SporError as error:
        assert error.where == f"{file}:2"  # noqa: PT017 - most contents raise nothing
        assert not evidence.exists()
    else:
        assert len(list(read_rows(evidence))) == result.samples == 2
        for each in result.scores:
            assert math.isnan(each.value) if each.n == 0 else -1 <= each.value <= 100 + 1e-9


LINE = json.dumps({**CAFE, "output": "a"}).encode() + b"\n"


@given(
    st.lists(
        st.binary(max_size=12) | st.sampled_from([LINE, b"[", b'["a", "b"]', b"{}"]), max_size=4
    )
)
def test_whatever_stands_in_a_file_of_texts_is_scored_or_named(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("texts")
    (file, references) = folder / "out.txt", folder / "references.jsonl"
    file.write_bytes(b"\n".join(lines))
    references.write_bytes(2 * LINE)
    for settings in ({"references": references}, {"corpus": references}):
        try:
            result = score_files([file], metrics=["chrf"], **settings)
        except SporError as error:
            assert str(error.where).startswith(str(file))  # noqa: PT017 - most contents raise nothing
        else:
            assert result.samples == (2 if "references" in settings else 1)
