"""Task files for a space of combinations of one's own, and for one's copy of published splits."""

import itertools
import json
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from lm_eval.api.instance import Instance
from lm_eval.tasks import TaskManager

from spor_tasks.aspects.request import Request, answer
from spor_tasks.benchmarks.compmctg import sets
from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.cli import main
from spor_tasks.core.contracts import SetName
from spor_tasks.core.errors import ConfigError, CorpusError, SplitError
from spor_tasks.corpora.compmctg.reader import combination_in, unseen_rows
from spor_tasks.corpora.compmctg.spaces import YELP, read_request
from spor_tasks.harness import own, plan
from spor_tasks.prompts.styles import prompt
from spor_tasks.results import reading
from tests.support import compmctg
from tests.support.scripted import ScriptedLM, evaluate
from training.config import DataConfig
from training.data import corpus_sha256, find_spec, sets_of

ASPECTS = {
    "mood": ["calm", "angry"],
    "tense": ["Past", "Present"],
    "topic": ["rain", "snow", "fog"],
}
COMBINATIONS = [
    dict(zip(ASPECTS, each, strict=True)) for each in itertools.product(*ASPECTS.values())
]
BEGINNINGS = ["In short,", "At last,"]
PROTOCOL: Literal["acd"] = "acd"
TASK = "compmctg_weather_acd_1"


@pytest.fixture
def weather(tmp_path: Path) -> Path:
    """A space with labelled texts beside it."""
    return write_space(tmp_path / "weather.yaml", beginnings=BEGINNINGS, repeats=2)


def write_space(path: Path, **more: object) -> Path:
    path.write_text(yaml.safe_dump({"aspects": ASPECTS, **more}), "utf-8")
    rows = [{"review": f"The {' '.join(each.values())}.", **each} for each in COMBINATIONS]
    (path.parent / "gen.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    return path


def make(folder: Path, corpus: Path | str, *protocols: str, seed: int | None = None) -> own.Made:
    request = Request(corpus=str(corpus), aspect="compmctg", seed=seed)
    return own.write_splits(folder, request, protocols)


def metadata(folder: Path, task: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((folder / f"{task}.yaml").read_bytes())["metadata"]
    return content


def test_tasks_of_a_space_are_made_evaluated_and_read(weather: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    main(["tasks", "make", str(weather), "--out", str(folder), "--protocol", PROTOCOL])
    group = yaml.safe_load((folder / "compmctg_weather_acd.yaml").read_bytes())
    assert TASK in group["task"]
    assert yaml.safe_load((folder / "compmctg_weather.yaml").read_bytes())["task"] == [
        "compmctg_weather_acd"
    ]

    def written(request: Instance) -> str:
        return " calm" if "calm" in request.arguments[0] else " storm"

    manager = TaskManager(include_path=folder, include_defaults=False)
    model = ScriptedLM(written)
    result = evaluate(model, TASK, manager=manager)
    assert len(model.requests) == 12 * 2 * 2
    assert {request.arguments[0] for request in model.requests} == {
        f"<|endoftext|> {' '.join(each.values())}{beginning}"
        for each in COMBINATIONS
        for beginning in BEGINNINGS
    }
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps({**result, "samples": {}}, default=str))
    (found,) = reading.read(file)
    assert (found.corpus, found.protocol, found.variant) == ("weather", PROTOCOL, "")
    assert found.spec == COMPMCTG.find(SetName("compmctg", "weather", PROTOCOL, "1"))
    assert 0 < found.scores["dist_1_comp"] <= 1


def test_training_and_the_task_have_the_same_texts(weather: Path, tmp_path: Path) -> None:
    make(tmp_path / "tasks", weather, PROTOCOL, seed=5)
    data = DataConfig("compmctg", str(weather), "train", PROTOCOL, 1, seed=5)  # type: ignore[arg-type]
    trained, asked = sets_of(data), plan.resolve(metadata(tmp_path / "tasks", TASK))
    (arm,) = trained.arms
    assert asked.pair.arms[0].samples.sha256 == arm.samples.sha256  # type: ignore[attr-defined]
    unseen = {combination_in(s) for s in asked.pair.test.samples if s.context["unseen"]}
    shown = [combination_in(sample) for sample in arm.samples]
    assert (len(shown), len(unseen), {*shown} & unseen) == (6, 6, set())
    assert prompt(arm.samples[0], "causal") == f"<|endoftext|> {' '.join(shown[0])}"
    version = metadata(tmp_path / "tasks", TASK)["own_corpus"]["version"]
    assert f"sha256:{corpus_sha256(data)}" == version
    assert find_spec(SetName("compmctg", "weather", PROTOCOL, "1")).arms == ("train",)
    other = sets_of(DataConfig("compmctg", str(weather), "train", PROTOCOL, "1"))
    assert {combination_in(sample) for sample in other.arms[0].samples} != {*shown}


def test_without_beginnings_and_repeats_they_are_the_published(tmp_path: Path) -> None:
    weather = write_space(tmp_path / "weather.yaml")
    made = make(tmp_path / "tasks", weather, "original", "holdout")
    assert set(made.tasks.values()) == {12 * 35 * 10}
    assert {"compmctg_weather_original", "compmctg_weather_holdout_11"} <= {*made.tasks}


def test_splits_of_ones_own_are_read_from_beside_the_space(weather: Path, tmp_path: Path) -> None:
    space = read_request(weather).space
    left_out = [space.combinations[:3]]
    rows = "".join(json.dumps(row) + "\n" for row in unseen_rows(space, "acd", left_out))
    (tmp_path / "unseen.jsonl").write_text(rows, "utf-8")
    make(tmp_path / "tasks", weather, "acd_published")
    pair = plan.resolve(metadata(tmp_path / "tasks", "compmctg_weather_acd_published_0")).pair
    assert len(pair.arms[0].samples) == 9
    with pytest.raises(SplitError):
        make(tmp_path / "other", weather, "holdout_published")


def test_tasks_over_published_splits(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPMCTG_DATA_DIR", str(tmp_path))
    left_out = [YELP.combinations[:4], YELP.combinations[3:5]]
    compmctg.write(tmp_path, "yelp", "gen", compmctg.cases(data_dir, "yelp"))
    compmctg.write(tmp_path, "yelp", "unseen", list(unseen_rows(YELP, "acd", left_out)))
    folder = tmp_path / "tasks"
    main(["tasks", "make", "yelp", "--out", str(folder)])
    names = ["compmctg_yelp_acd_published_0", "compmctg_yelp_acd_published_1"]
    group = yaml.safe_load((folder / "compmctg_yelp_acd_published.yaml").read_bytes())
    assert group["task"] == names
    manager = TaskManager(include_path=folder, include_defaults=False)
    result = evaluate(ScriptedLM(lambda _: " was good"), names[1], manager=manager, limit=16)
    unseen = {
        tuple(value for _, value in json.loads(row["doc"]["units"]))
        for row in result["samples"][names[1]]
        if json.loads(row["doc"]["context"])["unseen"]
    }
    assert unseen == {*left_out[1]}
    found = plan.resolve(metadata(folder, names[1]))
    assert found.spec.title == "CompMCTG Yelp, ACD as published"
    trained = sets_of(DataConfig("compmctg", "yelp", "train", "acd_published", "1"))
    assert trained.arms[0].samples.sha256 == found.pair.arms[0].samples.sha256  # type: ignore[attr-defined]
    compmctg.write(tmp_path, "yelp", "unseen", list(unseen_rows(YELP, "acd", left_out[:1] * 2)))
    sets._load.cache_clear()
    with pytest.raises(SplitError) as caught:
        plan.resolve(metadata(folder, names[1]))
    assert caught.value.remedy


def test_a_space_that_changed_is_refused(weather: Path, tmp_path: Path) -> None:
    make(tmp_path / "tasks", weather, PROTOCOL)
    write_space(weather, repeats=3)
    with pytest.raises(CorpusError) as caught:
        plan.resolve(metadata(tmp_path / "tasks", TASK))
    assert "spor tasks make" in str(caught.value.remedy)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "aspects: {mood: calm, tense: [a, b]}",
        "aspects: {mood: [yes, no]}",
        "aspects: {mood: [calm, ' angry']}",
        "aspects: {mood: [calm]}",
        "aspects: {mood: [calm, calm]}",
        "aspects: {../mood: [calm, angry]}",
        "aspects: {mood: [calm, angry]}\nprompts: [In short]",
        "aspects: {mood: [calm, angry]}\nbeginnings: []",
        "aspects: {mood: [calm, angry]}\nbeginnings: [Now, Now]",
        "aspects: {mood: [calm, angry]}\nrepeats: 0",
        "aspects: {mood: [calm, angry]}\nrepeats: true",
    ],
)
def test_malformed_spaces_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "weather.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_request(path)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("name", ["yelp.yaml", "mini.yaml", "my weather.yaml"])
def test_a_space_needs_a_name_of_its_own(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(tmp_path / "tasks", write_space(tmp_path / name), PROTOCOL)
    assert caught.value.remedy


def test_what_has_no_effect_or_no_splits_is_told(weather: Path, tmp_path: Path) -> None:
    for corpus, protocol in (("yelp", "acd"), ("webnlg", "acd_published")):
        with pytest.raises(ConfigError):
            make(tmp_path / "tasks", corpus, protocol)
    odd = tmp_path / "odd.yaml"
    odd.write_text("aspects: {a: [x, z, w], b: [x, z, w]}")
    made = make(tmp_path / "odd", odd, "acd", "holdout")
    assert "acd" in made.refused
    assert "two halves" in made.refused["acd"]
    with pytest.raises(SplitError):
        make(tmp_path / "none", odd, "acd")
    for asked, part in ((None, None), ("acd", "10"), ("strict", None)):
        request = Request(corpus=str(weather), aspect="compmctg", protocol=asked, part=part)
        with pytest.raises((ConfigError, SplitError)):
            answer(request)
    with pytest.raises(ConfigError):
        answer(Request(corpus=str(weather), aspect="compmctg", protocol="acd", restarts=3))


def test_a_value_that_no_training_text_has_is_told(weather: Path, tmp_path: Path) -> None:
    rows = (tmp_path / "gen.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "gen.jsonl").write_text("".join(row for row in rows if '"fog"' not in row))
    pair = answer(Request(corpus=str(weather), aspect="compmctg", protocol="acd")).pair
    with pytest.raises(CorpusError) as caught:
        len(pair.arms[0].samples)
    assert "fog" in caught.value.what
    assert caught.value.remedy
    assert len(pair.test.samples) == 12 * 2 * 2
