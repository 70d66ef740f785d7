"""ToTTo's scores: the published ones to the last digit, their definition, and without pads."""

import json

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from spor_tasks.core.files import read_rows
from spor_tasks.metrics.groups import in_groups
from spor_tasks.metrics.scores import over_groups
from spor_tasks.metrics.totto import TOTTO, TOTTO_REAL
from tests.oracles import totto as slow
from tests.support.scores import scores_of
from tests.support.totto import examples, sample

SIDES = ("p", "r", "f")
REAL = {TOTTO: "", TOTTO_REAL: "_real"}
HALVES = {"overall": "", "overlap": "_overlap", "nonoverlap": "_nonoverlap"}


def percent(judgement):
    real = "_real" if "totto_chrf" in judgement.details else ""
    return {key: judgement.details[f"parent{real}_{key}"] for key in SIDES}


@pytest.fixture(scope="module")
def published(golden_dir, tmp_path_factory):
    """The rows of each file of predictions, with the sample and its judgement."""
    folder = golden_dir / "totto"
    rows = [row for _, row in read_rows(folder / "examples.jsonl.gz")]
    read = examples([row["example"] for row in rows], tmp_path_factory.mktemp("totto"))
    samples = {row["id"]: each for row, each in zip(rows, read, strict=True)}
    files = {}
    for _, row in read_rows(folder / "predictions.jsonl.gz"):
        row["sample"] = samples[row["id"]]
        row["judgement"] = TOTTO.judge_one(row["sample"], row["prediction"])
        files.setdefault(row["file"], []).append(row)
    return files


def test_examples_and_aggregates(published, golden_dir):
    assert sum(map(len, published.values())) == 1400
    aggregates = json.loads((golden_dir / "totto" / "aggregates.json").read_bytes())
    assert aggregates.keys() == published.keys()
    for name, rows in published.items():
        for row in rows:
            expected = {key: row[f"parent_{key}"] for key in SIDES}
            assert percent(row["judgement"]) == pytest.approx(expected, abs=1e-9)
        judgements, samples = ([row[key] for row in rows] for key in ("judgement", "sample"))
        ours = {score.name: score for score in scores_of(TOTTO, judgements, samples)}
        for half, end in HALVES.items():
            of_half = aggregates[name][half]
            bleu, parent = ours[f"totto_bleu{end}"], ours[f"totto_parent{end}"]
            assert bleu.value == pytest.approx(of_half["bleu"]["score"], abs=1e-9)
            assert f"{bleu.value:.1f}" == f"{of_half['bleu_cli']['score']:.1f}"
            assert parent.n == of_half["parent"]["n"]
            for key, side in (("f", ""), ("precision", "_precision"), ("recall", "_recall")):
                value = ours[f"totto_parent{side}{end}"].value
                assert value == pytest.approx(of_half["parent"][key], abs=1e-9)
                assert f"{value:.2f}" == f"{of_half['parent_cli'][key]:.2f}"


def test_edge_cases_are_published(published_dir, tmp_path):
    cases = json.loads((published_dir / "totto" / "edge_cases.json").read_bytes())
    answered = [case for case in cases if "p" in case]
    assert len(answered) == len(cases) - 1
    samples = examples([case["example"] for case in answered], tmp_path)
    for each, case in zip(samples, answered, strict=True):
        expected = {key: case[key] for key in SIDES}
        judgement = TOTTO.judge_one(each, case["prediction"])
        assert percent(judgement) == pytest.approx(expected, abs=1e-9)


ANN = "Ann has 7 ."


def test_blanks_and_no_output_are_read_as_published():
    for odd, output, plain, plain_output in (
        (sample(ANN, title=" ", section_title="\t"), "Ann", sample(ANN), "Ann"),
        (sample(ANN, cells=[["a\r\nb"]]), "a\tb", sample(ANN, cells=[["a b"]]), "a b"),
        (sample(ANN, title="Page"), " ", sample(ANN, title="Page"), "<null>"),
    ):
        assert TOTTO.judge_one(odd, output) == TOTTO.judge_one(plain, plain_output)


def test_an_output_is_perfect_without_cells_and_with_entities():
    def real(case, output):
        return TOTTO_REAL.judge_one(case, output).values["totto_parent_real"]

    for case, output in (
        (sample("Bo has 8 .", cells=[[" ", "7"]]), "Bo has 8 ."),  # nothing is to be mentioned
        (sample("a &bar;&#124;&bar; b", cells=[["a &bar;&#124;&bar; b"]]), "A ||| B"),
    ):
        assert real(case, output) == pytest.approx(100)
        assert real(case, "no word of it") < 1e-3
        assert real(case, "") == 0


def test_a_sample_without_a_half_counts_in_the_overall_scores_only():
    whole = TOTTO.judge_one(sample(ANN), "Ann").values
    names = [info.name for info in over_groups(TOTTO.scores)]
    assert in_groups(sample(ANN), whole, names) == {}
    half = in_groups(sample(ANN, overlap=False), whole, names)
    assert half == {f"{name}_nonoverlap": each for name, each in whole.items()}


CELLS = ["ann", "Bo", "7", "3.5", "won", "(x)", "U.S.", "-", "a|b"]
values = st.lists(st.sampled_from(CELLS), min_size=1, max_size=3).map(" ".join)
sentences = st.lists(st.sampled_from(CELLS), min_size=1, max_size=10).map(" ".join)
tokenizer = Tokenizer13a()


def tokens(text):
    return str(tokenizer(text.strip().lower())).split()


@given(st.data())
def test_every_number_is_that_of_the_definition(data):
    rows = data.draw(st.lists(st.lists(values, min_size=1, max_size=3), min_size=1, max_size=3))
    places = [(row, index) for row, cells in enumerate(rows) for index in range(len(cells))]
    highlighted = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4))
    references = data.draw(st.lists(sentences, min_size=1, max_size=3))
    titles = ("title", "section_title", "section_text")
    context = {name: data.draw(st.just("") | values) for name in titles}
    title, section, text = context.values()
    output = data.draw(sentences)
    drawn = sample(*references, cells=rows, highlighted=highlighted, **context)

    def entries(*texts):
        return [tokens(value.replace("|", "-")) for value in texts if value]

    whole = entries(*(value for row in rows for value in row), title, section, text)
    mentioned = entries(*(rows[row][index] for row, index in highlighted), title, section)
    padded = [*references, *["<null>"] * (3 - len(references))]
    for metric, compared in ((TOTTO, padded), (TOTTO_REAL, references)):
        judgement = metric.judge_one(drawn, output)
        expected = slow.parent(tokens(output), [*map(tokens, compared)], whole, mentioned)
        numbers = [100 * each for each in expected]
        assert [*percent(judgement).values()] == pytest.approx(numbers, abs=1e-7)
        *totals, length, closest = map(int, judgement.values[f"totto_bleu{REAL[metric]}"])
        theirs = sacrebleu.BLEU.compute_bleu(totals[:4], totals[4:], length, closest, "exp")
        assert scores_of(metric, [judgement])[0].value == pytest.approx(theirs.score, rel=1e-12)
