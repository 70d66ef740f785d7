"""Task files for a corpus, or a space of combinations, of one's own."""

import itertools
import json
import os
import re
from dataclasses import replace

import pytest
import yaml
from lm_eval.tasks import TaskManager

from spor_tasks.aspects import folder
from spor_tasks.aspects.request import Request, answer
from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.cli import main
from spor_tasks.core.errors import ConfigError, CorpusError, SplitError, SporError
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.compmctg.spaces import read_request
from spor_tasks.harness import own, plan
from spor_tasks.prompts.styles import prompt
from spor_tasks.results import runs
from tests.support.compmctg import unseen_rows
from tests.support.rows import write_rows
from tests.support.scripted import ScriptedLM, evaluate
from training.config import DataConfig
from training.data import corpus_sha256, find_spec, sets_of


def metadata(corpus, task):
    """Return the metadata of a task, whose file lies beside the corpus."""
    text = corpus.with_name("tasks").joinpath(f"{task}.yaml").read_bytes()
    return yaml.safe_load(text)["metadata"]


def evaluated(corpus, task, model, **metadata):
    """Return the scores of a model, and its result as it is read from a file."""
    place = corpus.with_name("tasks")
    manager = TaskManager(include_path=place, include_defaults=False, metadata=metadata)
    result = evaluate(model, task, manager=manager)
    file = corpus.with_name("results_1.json")
    file.write_text(json.dumps({**result, "samples": {}}, default=str))
    (found,) = runs.read(file)
    return result["results"][task], found


# --- A corpus -------------------------------------------------------------------------------------

CAFES = [
    ("train", "fish", "blue", "Gull"),
    ("train", "rye", "red", "Gull"),
    ("train", "fish", "red", "Auk"),
    ("train", "rye", "blue", "Auk"),
    ("test", "fish", "red", "Tern"),
    ("test", "rye", "blue", "Tern"),
]
HIDING, ORDERS = "spor_rule_learnability_cafes", "spor_order_invariance_cafes_main"


@pytest.fixture
def cafes(tmp_path):
    """A corpus of attribute-value pairs that are not E2E's."""
    rows = [
        {
            "split": split,
            "name": name,
            "data": [["dish", dish], ["door", door]],
            "texts": [f"{name} serves {dish} behind a {door} door."],
        }
        for split, dish, door, name in CAFES
    ]
    path = tmp_path / "cafes.jsonl"
    return write_rows(path, *rows)


def write(cafes, *aspects, overwrite=False, **settings):
    """Write the task files beside the corpus."""
    request = Request(corpus=str(cafes), aspect="", **settings)
    return own.write(cafes.with_name("tasks"), request, aspects, overwrite=overwrite)


def test_all_possible_tasks_are_made_and_their_results_are_read(cafes):
    made = write(cafes, hide=("door",))
    assert made.tag == "spor_cafes"
    assert made.tasks[HIDING] == made.tasks[ORDERS] == 2
    assert "productivity n5" in made.refused
    assert not made.tasks.keys() & made.refused.keys()
    copier = ScriptedLM(lambda _: "There is a Value A door, and fish.")
    scores, found = evaluated(cafes, HIDING, copier)
    assert scores["copy_rule,none"] == 100
    assert (found.spec.sets.corpus, found.spec.sets.aspect, found.variant) == (
        "cafes",
        "rule_learnability",
        "",
    )


def test_values_that_references_copy_are_hidden_by_default(cafes):
    write(cafes, "rule_learnability")
    for sample in plan.resolve(plan.read(metadata(cafes, HIDING))).pair.test:
        assert [*dict(sample.challenge.phrases)] == ["dish", "door"]
    cafes.write_text(re.sub(r'"texts": \[.*?\]', '"texts": ["A cafe."]', cafes.read_text("utf-8")))
    with pytest.raises(SplitError) as caught:
        write(cafes, "rule_learnability", overwrite=True)
    assert caught.value.where == str(cafes)
    assert cafes.with_name("tasks").exists()


def test_a_corpus_that_changed_is_refused(cafes):
    write(cafes, "order_invariance")
    plan.resolve(plan.read(metadata(cafes, ORDERS)))
    lines = cafes.read_text("utf-8").splitlines(keepends=True)
    cafes.write_text("".join(lines[1:]), "utf-8")
    with pytest.raises(CorpusError) as caught:
        plan.resolve(plan.read(metadata(cafes, ORDERS)))
    assert caught.value.where == str(cafes)
    assert "spor tasks make" in str(caught.value.remedy)
    cafes.write_text("".join(lines[-2:]), "utf-8")  # too few for the sets
    with pytest.raises(CorpusError, match="has changed"):
        plan.resolve(plan.read(metadata(cafes, ORDERS)))
    cafes.unlink()
    with pytest.raises(ConfigError, match="neither the name of a corpus nor a file"):
        plan.resolve(plan.read(metadata(cafes, ORDERS)))


def test_tasks_and_trainings_take_sets_from_a_folder(cafes, tmp_path):
    place, data = tmp_path / "sets", DataConfig("rule_learnability", str(cafes), "original")
    found = answer(Request(corpus=str(cafes), aspect=data.aspect, hide=("door",)))
    with folder.new(place) as staging:
        folder.write_sets(staging, found.pair, found.origin)
    assert (
        main(["tasks", "make", str(cafes), "--sets", str(place), "--out", str(tmp_path / "tasks")])
        == 0
    )
    assert plan.resolve(plan.read(metadata(cafes, HIDING))).pair == found.pair
    assert plan.resolve(plan.read(metadata(cafes, ORDERS))).pair.facts.part == "main"
    assert sets_of(replace(data, sets=str(place))) == found.pair
    assert sets_of(data).test != found.pair.test
    with pytest.raises(ConfigError, match="has the sets rule_learnability"):
        sets_of(replace(data, aspect="systematicity", sets=str(place)))
    with pytest.raises(ConfigError) as caught:
        sets_of(replace(data, seed=3, sets=str(place)))
    assert caught.value.where == "seed"
    cafes.write_text(cafes.read_text("utf-8") * 2, "utf-8")
    with pytest.raises(CorpusError, match="not the corpus that the sets"):
        sets_of(replace(data, corpus=os.path.relpath(cafes), sets=str(place)))


def test_two_sets_of_one_aspect_and_strict_sets_that_break_a_rule_are_refused(
    cafes, tmp_path, capsys
):
    places = tmp_path / "first", tmp_path / "second"
    found = answer(Request(corpus=str(cafes), aspect="order_invariance", part="main"))
    arms = found.pair.arms
    broken = replace(found.pair, arms={**arms, "original": arms["original"][:1]})
    for place, pair in zip(places, (found.pair, broken), strict=True):
        with folder.new(place) as staging:
            folder.write_sets(staging, pair, found.origin)
    out = ["tasks", "make", str(cafes), "--out", str(tmp_path / "tasks")]
    assert main([*out, "--sets", str(places[0]), "--sets", str(places[0])]) == 2
    assert f"error: {places[0]}: has sets of order_invariance main" in capsys.readouterr().err
    assert main([*out, "--sets", str(places[1])]) == 2
    assert f"error: {places[1]}: breaks a rule of order_invariance" in capsys.readouterr().err
    assert not (tmp_path / "tasks").exists()
    with pytest.raises(SplitError, match="breaks a rule"):
        sets_of(DataConfig("order_invariance", str(cafes), "original", sets=str(places[1])))


# --- An instruction -------------------------------------------------------------------------------

GERMAN = "Schreibe einen kurzen Text über: {{alles}}, und nichts sonst."


def asked(cafes, task, **metadata):
    """Return what a model reads, and the signature of the result."""
    model = ScriptedLM(lambda _: "Gull.")
    _, found = evaluated(cafes, task, model, **metadata)
    return [request.args[0] for request in model.requests], found.signature


@pytest.mark.parametrize("task", [ORDERS, f"{ORDERS}_icl_match"])
def test_prompts_in_plain_words_ask_for_what_the_instruction_says(cafes, task):
    make = ["tasks", "make", str(cafes), "--out", str(cafes.with_name("tasks")), "--overwrite"]
    prompts = {}
    for name, words in (("english", []), ("german", ["--instruction", GERMAN])):
        assert main([*make, *words]) == 0
        for style in ("instruction", "causal"):
            prompts[name, style] = asked(cafes, task, prompt_style=style)
    english, _ = prompts["english", "instruction"]
    german, signature = prompts["german", "instruction"]
    request = "Write a short English text that says all of these facts and nothing else."
    assert all(request in text for text in english)
    assert german == [text.replace(request, GERMAN) for text in english]
    assert signature["instruction"] == GERMAN
    (read, signature), others = prompts["german", "causal"], prompts["english", "causal"]
    assert (read, signature) == others  # a style without instructions
    assert "instruction" not in signature


@pytest.mark.parametrize("text", ["", " ", "…", "\udc80 ü"])
def test_an_instruction_that_is_no_text_is_refused(cafes, capsys, text):
    out = str(cafes.with_name("tasks"))
    assert main(["tasks", "make", str(cafes), "--out", out, "--instruction", text]) == 2
    assert "error: instruction: " in capsys.readouterr().err
    assert not cafes.with_name("tasks").exists()


def test_combinations_of_aspects_take_no_instruction(weather, capsys):
    out = str(weather.with_name("tasks"))
    assert main(["tasks", "make", str(weather), "--out", out, "--instruction", GERMAN]) == 2
    assert "instruction: has no effect on combinations" in capsys.readouterr().err


# --- A space of combinations ----------------------------------------------------------------------

ASPECTS = {
    "mood": ["calm", "angry"],
    "tense": ["Past", "Present"],
    "topic": ["rain", "snow", "fog"],
}
COMBINATIONS = [
    dict(zip(ASPECTS, each, strict=True)) for each in itertools.product(*ASPECTS.values())
]
BEGINNINGS = ["In short,", "At last,"]
TASK = "compmctg_weather_holdout"


@pytest.fixture
def weather(tmp_path):
    """A space with labelled texts beside it."""
    return write_space(tmp_path / "weather.yaml", beginnings=BEGINNINGS, repeats=2)


def write_space(path, **more):
    path.write_text(yaml.safe_dump({"aspects": ASPECTS, **more}), "utf-8")
    rows = [{"review": f"The {' '.join(each.values())}.", **each} for each in COMBINATIONS]
    write_rows(path.with_name("gen.jsonl"), *rows)
    return path


def make(corpus):
    return own.write(corpus.with_name("tasks"), Request(corpus=str(corpus), aspect="compmctg"))


def write_unseen(weather):
    """Write splits of ACD and one of Few-Shot beside a space."""
    space = read_request(weather).space
    rows = [
        *unseen_rows(space, "acd", [space.combinations[6:], space.combinations[:6]]),
        *unseen_rows(space, "fewshot", [space.combinations[:3]]),
    ]
    write_rows(weather.with_name("unseen.jsonl"), *rows)


def test_tasks_of_a_space_are_made_evaluated_and_read(weather):
    main(["tasks", "make", str(weather), "--out", str(weather.with_name("tasks"))])

    def written(request):
        return " calm" if "calm" in request.arguments[0] else " storm"

    model = ScriptedLM(written)
    _, found = evaluated(weather, TASK, model)
    assert len(model.requests) == 12 * 2 * 2
    assert {request.arguments[0] for request in model.requests} == {
        f"<|endoftext|> {' '.join(each.values())}{beginning}"
        for each in COMBINATIONS
        for beginning in BEGINNINGS
    }
    assert (found.spec.sets.corpus, found.spec.sets.protocol, found.variant) == (
        "weather",
        "holdout",
        "",
    )
    spec = COMPMCTG.find("compmctg", "weather", "holdout")
    assert (found.spec.sets, found.spec.displayed) == (
        spec.sets,
        (*map(str, spec.judging.displayed),),
    )
    assert 0 < found.scores["dist_3"] <= 1


def test_training_and_the_task_have_the_same_texts(weather):
    write_unseen(weather)
    made = make(weather)
    assert [name.rpartition("_")[2] for name in made.tasks] == [*SHOWN, "acd", "fewshot"]
    data = DataConfig("compmctg", str(weather), "train", "acd", "1")
    task = metadata(weather, "compmctg_weather_acd")
    trained, asked = sets_of(data), plan.resolve(plan.read(task | {"split": 1}))
    (arm,) = trained.arms.values()
    assert next(iter(asked.pair.arms.values())).sha256 == arm.sha256
    unseen = {combination_in(s) for s in asked.pair.test if s.context["unseen"]}
    shown = [combination_in(sample) for sample in arm]
    assert (len(shown), len(unseen), {*shown} & unseen) == (6, 6, set())
    assert prompt(arm[0], "causal") == f"<|endoftext|> {' '.join(shown[0])}"
    assert f"sha256:{corpus_sha256(data)}" == task["own_corpus"]["version"]
    assert find_spec("compmctg", "weather", "acd", "1").arms == ("train",)
    for split in ("2", "x"):
        with pytest.raises(SplitError) as caught:
            plan.resolve(plan.read(task | {"split": split}))
        assert caught.value.remedy


SHOWN = ("original", "holdout")


def test_beginnings_and_repeats_are_the_published_by_default(tmp_path):
    made = make(write_space(tmp_path / "weather.yaml"))
    assert made.tasks == dict.fromkeys((f"compmctg_weather_{name}" for name in SHOWN), 12 * 35 * 10)
    assert {"acd", "fewshot"} <= {*made.refused}


def test_a_space_that_changed_is_refused(weather):
    make(weather)
    write_space(weather, repeats=3)
    with pytest.raises(CorpusError) as caught:
        plan.resolve(plan.read(metadata(weather, TASK)))
    assert "spor tasks make" in str(caught.value.remedy)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[",
        "a: b",
        "aspects: {}",
        "aspects: [mood]",
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
def test_malformed_spaces_are_refused(tmp_path, text):
    path = tmp_path / "weather.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_request(path)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("name", ["yelp.yaml", "mini.yaml", "my weather.yaml"])
def test_a_space_needs_a_name_of_its_own(tmp_path, name):
    with pytest.raises(SplitError) as caught:
        make(write_space(tmp_path / name))
    assert name.partition(".")[0] in str(caught.value)


@pytest.mark.parametrize(
    ("protocol", "settings"),
    [
        ("acd", {"part": "0"}),
        ("strict", {}),
        ("holdout", {"part": "12"}),
        ("holdout", {"restarts": 3}),
    ],
)
def test_a_request_without_splits_or_with_a_setting_of_others_is_refused(
    weather, protocol, settings
):
    with pytest.raises(SporError):
        answer(Request(corpus=str(weather), aspect="compmctg", protocol=protocol, **settings))


def test_a_value_without_training_texts_is_an_error_when_they_are_read(weather):
    texts = weather.with_name("gen.jsonl")
    rows = texts.read_text("utf-8").splitlines(keepends=True)
    texts.write_text("".join(row for row in rows if '"fog"' not in row))
    pair = answer(Request(corpus=str(weather), aspect="compmctg", protocol="original")).pair
    assert len(pair.test) == 12 * 2 * 2
    with pytest.raises(CorpusError, match="fog") as caught:
        len(next(iter(pair.arms.values())))
    assert caught.value.remedy
