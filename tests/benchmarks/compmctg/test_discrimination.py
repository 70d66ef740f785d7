"""Tasks that ask for the combination of held-out texts: which texts, which rivals, which tables."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from lm_eval import simple_evaluate

from spor_tasks import report
from spor_tasks.benchmarks.compmctg import discrimination, splits
from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Rivals, SetName, challenge_of
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.compmctg.spaces import FYELP, PUBLISHED, YELP
from spor_tasks.corpora.embedded import COMPMCTG_MINI, attributes
from spor_tasks.harness import task_files
from spor_tasks.harness.plan import arm_digest, split_digest
from spor_tasks.metrics.discrimination import DISCRIMINATION
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.prompts.styles import prompts_of
from spor_tasks.report.document import Document, plain_text
from spor_tasks.report.exhibit import exhibit, terminal
from spor_tasks.results.benchmarks import grids
from tests.support import compmctg, golden, table_runs
from tests.support.result_files import sample_row
from tests.support.scores import values_of

MINI = "compmctg_mini_discrimination"


def name_of(corpus: str, split: str | None = None) -> SetName:
    return SetName("compmctg", corpus, "discrimination", split)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPMCTG_DATA_DIR", str(tmp_path))
    return tmp_path


def row(number: int, values: dict[str, str], text: str = "") -> dict[str, Any]:
    return {"review": text or f"This is the text number {number}.", **values}


def rows(each: int, start: int = 0) -> list[dict[str, Any]]:
    """Return different texts of all combinations of Yelp, as rows of a dataset."""
    asked = [YELP.as_row(own) for own in YELP.combinations] * each
    return [row(start + number, values) for number, values in enumerate(asked)]


def test_a_task_is_read_under_the_splits_of_all_protocols_with_so_many_likelihoods() -> None:
    whole, split = COMPMCTG.find(name_of("yelp")), COMPMCTG.find(name_of("yelp", "acd_3"))
    assert {"holdout_7", "acd_9", "fewshot_3"} <= {*whole.splits}
    assert len(whole.splits) == 8 + 10 + 4
    assert (split.task, split.split_of) == ("compmctg_yelp_discrimination", whole.name)
    assert ("_comp" in str(whole.scores), "_comp" in str(split.scores)) == (False, True)
    assert COMPMCTG.find(name_of("compmctg_mini")).is_pinned
    assert not whole.is_pinned
    for space in (*PUBLISHED, attributes.SPACE):
        each, count = discrimination.number_of_texts(space), len(space.combinations)
        assert each == (20 if space is FYELP else 100)
        assert each * count * count <= 32_000  # likelihoods of a task


def test_the_embedded_texts_are_new_and_of_all_combinations_alike() -> None:
    pair = COMPMCTG.load(name_of("compmctg_mini", "acd_0"))
    assert Counter(map(combination_in, pair.test.samples)) == dict.fromkeys(
        attributes.SPACE.combinations, 100
    )
    texts = {sample.target for sample in pair.test.samples}
    assert len(texts) == 1200
    assert texts.isdisjoint(sample.target for sample in COMPMCTG_MINI.part("train"))
    assert pair.arms == COMPMCTG.load(SetName("compmctg", "compmctg_mini", "acd", "0")).arms
    other = COMPMCTG.load(name_of("compmctg_mini", "acd_1"))
    assert [each.id for each in other.test.samples] == [each.id for each in pair.test.samples]
    assert digest(other.test.samples) != digest(pair.test.samples)


def test_rivals_are_all_other_combinations_and_say_which_are_of_the_same_half() -> None:
    split = splits.shipped(attributes.SPACE, "acd")[0]
    for sample in COMPMCTG.load(name_of("compmctg_mini", "acd_0")).test.samples[:12]:
        own, rivals = combination_in(sample), challenge_of(sample, Rivals)
        others = [tuple(unit[-1] for unit in units) for units in rivals.units]
        assert {own, *others} == {*attributes.SPACE.combinations}
        assert sample.context["unseen"] == (own in split.unseen)
        half = split.unseen if own in split.unseen else split.seen
        assert {own, *(o for o, alike in zip(others, rivals.alike, strict=True) if alike)} == {
            *half
        }
        assert sample.cluster == sample.id


def test_held_out_texts_are_drawn_from_those_that_train_nothing(folder: Path) -> None:
    held_out = rows(120, start=1000)
    ambiguous = [row(0, YELP.as_row(own), "Whose is this?") for own in YELP.combinations[:2]]
    long = [row(0, YELP.as_row(YELP.combinations[0]), "word " * 257)]
    compmctg.write(folder, "yelp", "gen", rows(2))
    compmctg.write(folder, "yelp", "cls", [*rows(2), *ambiguous, *long, *held_out, *held_out[:9]])
    pair = COMPMCTG.load(name_of("yelp", "acd_0"))
    found = [sample.target for sample in pair.test.samples]
    assert Counter(map(combination_in, pair.test.samples)) == dict.fromkeys(YELP.combinations, 100)
    assert {*found} <= {each["review"] for each in held_out}
    assert len({*found}) == len(found)
    assert [combination_in(sample) for sample in pair.test.samples[:8]] == [*YELP.combinations]
    assert arm_digest(pair.arms[0])
    drawn = discrimination.texts.__wrapped__(YELP, folder)
    assert [sample.target for sample in drawn] == found
    compmctg.write(folder, "yelp", "cls", held_out[:-937])
    assert len(discrimination.texts.__wrapped__(YELP, folder)) == 23  # all of few


@pytest.mark.parametrize(
    ("written", "missing"), [((), "gen"), (("gen",), "cls"), (("gen", "cls"), "cls")]
)
def test_without_texts_an_error_says_what_to_type(
    folder: Path, written: tuple[str, ...], missing: str
) -> None:
    for part in written:
        compmctg.write(folder, "yelp", part, rows(1))
    pair = COMPMCTG.load(name_of("yelp", "holdout_0"))
    with pytest.raises(CorpusError) as caught:
        split_digest(pair.test)  # as the task does, before any model is loaded
    assert caught.value.where == str(folder / "Yelp" / f"{missing}.jsonl")
    assert caught.value.remedy


def test_a_text_follows_the_prompt_of_each_combination_after_the_same_demonstrations() -> None:
    metadata = {"prompt_style": "causal", "split": "acd_0"}
    result = simple_evaluate(
        model="dummy",
        tasks=[MINI],
        task_manager=task_files.manager(metadata),
        num_fewshot=2,
        limit=24,
        log_samples=True,
    )
    scores, logged = result["results"][MINI], result["samples"][MINI]
    assert scores["disc_acc,none"] == pytest.approx(sum(e["disc_acc"] for e in logged) / 24)
    assert scores["disc_gap_stderr,none"] > 0
    for each in logged:
        logs = [log for ((log, _),) in each["resps"]]
        assert each["disc_acc"] == 100 * (logs[0] == max(logs))
        contexts, texts = zip(*each["arguments"], strict=True)
        shown, prompts = zip(*(context.rsplit("\n\n", 1) for context in contexts), strict=True)
        assert prompts == prompts_of(each["doc"])
        assert {*texts} == {each["doc"]["target"]}
        assert (len({*shown}), len({*contexts})) == (1, 12)


def write_run(folder: Path, split: str) -> Path:
    """Write a result of a system that errs on the first text alone."""
    spec = COMPMCTG.find(name_of("compmctg_mini", split))
    asked = COMPMCTG.load(spec.name).test.samples[:24]
    logs = [[-9.0, *[-20.0] * 10, -9.0 + (number == 0)] for number in range(24)]
    values = [
        dict(values_of(DISCRIMINATION, *each, spec.scores))
        for each in zip(
            asked,
            DISCRIMINATION.judge(asked, [[Likelihood(log, 9, 40) for log in of] for of in logs]),
            strict=True,
        )
    ]
    rows: list[dict[str, Any]] = [
        sample_row(sample, [""] * 12, found)
        | {"resps": [[[str(log), "False"]] for log in of], "filtered_resps": list(map(str, of))}
        for sample, of, found in zip(asked, logs, values, strict=True)
    ]
    _, corpus, protocol, part = spec.name
    metadata = {"benchmark": "compmctg", "corpus": corpus, "protocol": protocol}
    about = {"aspect": "compmctg", "metadata": metadata}
    table_runs.write_rows(folder, spec.task, part, rows, **about)
    return folder


def test_tables_of_splits_and_a_sample_are_shown_as_in_the_golden_file(tmp_path: Path) -> None:
    for split in ("acd_0", "acd_1"):
        write_run(tmp_path / split, split)
    tables = Document("", tuple(grids(*report.collect([tmp_path]).tables)))
    samples = (terminal(exhibit(tmp_path / "acd_0", number, task=MINI)) for number in "01")
    golden.same("discrimination.txt", "\n\n".join([plain_text(tables), *samples]) + "\n")
