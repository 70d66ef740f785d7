"""Whatever a model writes, marks lie in it, and agree with the metrics."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, Hidden, Sample, Triple
from spor_tasks.metrics.copy_rule import normalized, origins, verdicts
from spor_tasks.metrics.order import is_strict
from spor_tasks.report import marking
from spor_tasks.report.marking import Fault, Marked
from spor_tasks.text import align
from spor_tasks.text.filters import first_line
from spor_tasks.text.normalize import clean, token_spans

_PIECES = ["Amber_Heron", "Morvmouth", "46 metres", "a", "Entity 1", "1st entity", "low", "yellow"]
_PIECES += ["Value A", "out of 5", "İ", "Σ", "\n", '"', "\\", "_", "\u202e", "😀", "\ud800", "<b>"]
texts = st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=12).map(" ".join)
units = st.lists(st.builds(Triple, texts, texts, texts), min_size=1, max_size=4)
values = st.lists(st.builds(AttributeValue, texts, texts), min_size=1, max_size=4)
pairs = st.tuples(st.sampled_from(["Low", "İ Heron", "Morvmouth"]), st.sampled_from(_PIECES[4:6]))
plain = st.builds(
    lambda units: Sample("1", "drawn", tuple(units), ("A b.",)), st.one_of(units, values)
)
copying = st.builds(
    lambda units, hidden: replace(
        Sample("1", "drawn", tuple(units), ()), challenge=Hidden(tuple(hidden))
    ),
    units,
    st.lists(pairs, max_size=3),
)


def mark(sample: Sample, output: str) -> Marked:
    return marking.mark(sample, output, first_line(output))


@given(texts)
def test_token_spans_are_those_of_the_cleaned_tokens(text: str) -> None:
    spans = list(token_spans(text))
    assert [clean(text[start:end]) for start, end in spans] == clean(text).split()


@given(texts)
def test_origins_are_those_of_the_normalized_characters(text: str) -> None:
    seen, (*begins, end) = normalized(text), origins(text)
    assert (len(begins), end) == (len(seen), len(text))
    assert begins == sorted(begins)
    assert all(0 <= begin < len(text) for begin in begins)


@given(plain | copying, texts)
def test_marks_ascend_without_overlap_inside_what_is_scored(sample: Sample, output: str) -> None:
    found = mark(sample, output)
    edges = [edge for start, end, _ in found.marks for edge in (start, end)]
    assert edges == sorted(edges)
    first, last = found.scored
    assert all(first <= start < end <= last <= len(output) for start, end, _ in found.marks)
    assert found.output == output


@given(plain | copying, texts)
def test_a_unit_is_marked_or_missing_as_fidelity_has_it(sample: Sample, output: str) -> None:
    found = mark(sample, output)
    text = first_line(output)
    positions = align.locate(sample.units, text, strict=is_strict(sample))
    marked = {
        label.number for _, _, labels in found.marks for label in labels if "unit" in label.kind
    }
    assert found.units == tuple(i for i, position in enumerate(positions) if position is None)
    assert marked == set(range(len(sample.units))) - set(found.units)
    assert (Fault.UNIT in found.faults) is bool(found.units)


@given(copying, texts)
def test_every_leak_and_copy_is_marked_as_the_copy_rule_has_it(sample: Sample, output: str) -> None:
    found = mark(sample, output)
    verdict = verdicts(sample, first_line(output))[0]
    labels = [label for _, _, labels in found.marks for label in labels]
    assert found.leaks == tuple(leak.value for leak in verdict.leaks)
    leaks = {label.number for label in labels if "leak" in label.kind}
    assert {found.leaks[number] for number in leaks} == set(found.leaks)
    copied = {number for kind, number in labels if kind == "phrase"}
    assert copied.isdisjoint(found.phrases)
    assert (Fault.LEAK in found.faults, Fault.PHRASE in found.faults) == (
        bool(verdict.leaks),
        bool(verdict.missing),
    )
