"""Our tasks inside lm-eval: prompts, demonstrations, refusals, and the facts in results."""

import json
import logging
from dataclasses import replace

import peft
import pytest
import transformers

from spor_tasks import __version__
from spor_tasks.core import named
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import write_manifest
from spor_tasks.core.weights import digest_weights
from spor_tasks.harness import documents, plan, task_files
from spor_tasks.prompts import content
from spor_tasks.prompts.styles import prompt
from spor_tasks.results import runs
from tests.support.result_files import adapter_manifest
from tests.support.scripted import ScriptedLM, evaluate, evaluate_folder, half_right, load, simple
from tests.support.soak import soak

MINI, MAIN = "spor_systematicity_mini", "spor_order_invariance_mini_main"
PAIR = named.load("systematicity", "mini")


def context(task, shots=0):
    task.set_fewshot_seed(1234)
    return task.fewshot_context(task.eval_docs[0], num_fewshot=shots)


@pytest.mark.parametrize(("kind", "style"), [("llama", "causal"), ("t5", "seq2seq")])
def test_the_prompt_is_that_of_the_model(kind, style, checkpoint):
    task = load(MINI, pretrained=str(checkpoint(kind)))
    assert task.dump_config()["metadata"]["spor"]["prompt"]["style"] == style
    cue = " Output:" if style == "causal" else ""
    assert context(task) == context(load(MINI, prompt_style="seq2seq")) + cue
    assert context(task).startswith("translate from Triple to Text: <head> ")


@pytest.mark.parametrize(
    ("setting", "arm"), [({}, "atom"), ({"fewshot_arm": "combination"}, "combination")]
)
def test_demonstrations_are_drawn_from_an_arm(setting, arm):
    own, other = (
        {prompt(sample, "causal") + sample.references[0] for sample in PAIR.arms[name]}
        for name in (arm, *({*PAIR.arms} - {arm}))
    )
    task = load(MINI, **setting)
    *drawn, last = context(task, shots=30).split("\n\n")
    assert last == context(task)
    assert len(drawn) == 30
    assert set(drawn) <= own
    assert not set(drawn) <= other


def test_a_draw_depends_on_the_seed_the_task_and_the_sample_alone():
    """So neither several processes, nor --limit, nor the order of the samples change a prompt."""

    def contexts(numbers, seed=1234, name=MINI):
        task = load(MINI)
        task.config.task = name
        task.set_fewshot_seed(seed)
        docs = task.eval_docs
        return {i: task.fewshot_context(docs[i], num_fewshot=3) for i in numbers}

    everything = contexts(range(6))
    assert contexts([5, 3, 1]) == {number: everything[number] for number in (1, 3, 5)}
    assert contexts([4]) == {4: everything[4]}
    assert contexts([4], seed=1)[4] != everything[4]
    shown = {text.rpartition("\n\n")[0] for text in everything.values()}
    assert len(shown) == 6
    other = contexts([4], name="another")[4]
    assert other.rpartition("\n\n")[2] == everything[4].rpartition("\n\n")[2]
    assert other != everything[4]


def test_a_limit_parts_no_outputs_of_a_sample_and_both_follow_the_same_demonstrations():
    model = ScriptedLM(half_right)
    rows = evaluate(model, MAIN, limit=3, num_fewshot=2)["samples"][MAIN]
    assert [request.doc_id for request in model.requests] == [0, 0, 1, 1, 2, 2]
    assert [len(row["resps"]) for row in rows] == [2, 2, 2]
    contexts = [request.args[0].rsplit("\n\n", maxsplit=1) for request in model.requests]
    shown = [demonstrations for demonstrations, _ in contexts]
    assert shown[0::2] == shown[1::2]
    assert len(set(shown)) == 3
    assert [prompt for _, prompt in contexts] == [
        row["doc"][key] for row in rows for key in ("prompt", "prompt_2")
    ]


def test_a_cue_for_seq2seq_models_is_before_the_text_of_a_demonstration():
    demonstration, prompt = context(load(MINI, prompt_style="seq2seq"), shots=1).split("\n\n")
    assert demonstration.count(" Output: ") == 1
    assert " Output:" not in prompt


def test_the_first_of_several_references_is_held_out():
    one, two = PAIR.test[:2]
    one, two = replace(one, references=("a",)), replace(two, references=("b", "c"))
    (doc,) = documents.without_first_references((one, two), "causal")
    assert (doc["held_out"], *doc["references"]) == two.references
    with pytest.raises(ConfigError, match="no sample of the test set has two references"):
        documents.without_first_references((one,), "causal")


def test_a_task_file_without_a_benchmark_is_of_spor():
    (file,) = task_files.expand([MINI])
    metadata = {key: value for key, value in file.metadata.items() if key != "benchmark"}
    found = plan.resolve(plan.read(metadata))
    assert (found.spec.benchmark, found.spec.task) == ("spor", MINI)


def test_sets_without_an_arm_have_no_hint_of_what_to_show():
    (file,) = task_files.expand([MINI])
    metadata = plan.read(file.metadata)
    found = plan.resolve(metadata)
    assert "evaluate spor_systematicity_mini_icl_atom or " in plan.hint(found, metadata, None)
    alone = found._replace(spec=replace(found.spec, arms=()))
    assert plan.hint(alone, metadata, None) is None


def test_outputs_may_be_written_without_scores(checkpoint):
    result = evaluate_folder(checkpoint(), MINI, limit=2, predict_only=True)
    assert result["results"][MINI]["bypass,none"] == 999
    assert len(result["samples"][MINI]) == 2


# --- Adapters -------------------------------------------------------------------------------------


@pytest.fixture
def adapter(tmp_path, checkpoint):
    """A LoRA adapter of the tiny model, with the manifest that training writes."""
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint())
    folder = tmp_path / "adapter"
    peft.get_peft_model(model, peft.LoraConfig(r=2, task_type="CAUSAL_LM")).save_pretrained(folder)
    write(folder, checkpoint())
    return folder


def write(adapter, base, **changes):
    """Write the manifest of an adapter."""
    facts = {
        "sets": PAIR.facts.named | {"test_sha256": digest(PAIR.test)},
        "arm": "combination",
        "arm_sha256": digest([*PAIR.arms.values()][1]),
        "violations": ["2 atoms do not occur in Atom"],
        "pairs": 36,
        "selection": {"policy": "dev-best", "scores": [{"parent": 1.0}], "epoch": 1},
    }
    write_manifest(adapter, adapter_manifest(adapter, base, **facts | changes))


def test_a_result_has_the_facts_of_its_run_and_its_adapter(adapter, checkpoint, tmp_path):
    settings = {"model_args": {"peft": str(adapter)}, "limit": 2, "log_samples": False}
    found = evaluate_folder(checkpoint(), MINI, **settings)
    file = tmp_path / "results.json"
    file.write_text(json.dumps(found, default=str))
    (result,) = runs.read(file)
    assert (result.task, str(result.spec.sets)) == (MINI, "systematicity mini strict")
    assert (result.n, result.seed) == (2, 3)
    parent = ("parent", "parent_precision", "parent_recall", "parent_full_table")
    assert set(result.scores) == {*parent, "chrf", "coverage", "empty"}
    assert result.signature["test_sha256"] == digest(PAIR.test)
    facts = found["configs"][MINI]["metadata"]["spor"]
    assert (facts["spor_tasks"], facts["prompt"]["arm"]) == (__version__, "atom")
    assert facts["arms"] == {arm: digest(samples) for arm, samples in PAIR.arms.items()}
    of_adapter = facts["adapter"]
    assert (of_adapter["arm"], of_adapter["pairs"]) == ("combination", 36)
    assert of_adapter["adapter_sha256"] == digest_weights(adapter)
    assert of_adapter["violations"] == ["2 atoms do not occur in Atom"]
    assert of_adapter["selection"]["scores"] == [{"parent": 1.0}]


def test_an_adapter_of_other_sets_needs_permission(adapter, checkpoint):
    sets = {**PAIR.facts.named, "corpus": "webnlg"}
    write(adapter, checkpoint(), sets=sets, arm_sha256="0" * 64)
    arguments = {"pretrained": str(checkpoint()), "peft": str(adapter)}
    with pytest.raises(
        ConfigError, match="was trained on combination of systematicity webnlg, SHA-256 000"
    ) as caught:
        load(MINI, **arguments)
    assert "allow_split_mismatch=true" in str(caught.value.remedy)
    assert load(MINI, **arguments, allow_split_mismatch=True)
    with pytest.raises(ConfigError, match="allow_split_mismatch=no is neither true nor false"):
        load(MINI, **arguments, allow_split_mismatch="no")


def test_an_adapter_whose_arm_contradicts_its_digest_is_refused(adapter, checkpoint):
    write(adapter, checkpoint(), arm="atom")
    arguments = {"pretrained": str(checkpoint()), "peft": str(adapter)}
    with pytest.raises(ConfigError, match=r"trained on atom, but .* is that of combination"):
        load(MINI, **arguments)


def test_an_adapter_serves_every_task_with_its_arm(adapter, checkpoint):
    original = named.load("order_invariance", "mini", part="main").arms["original"]
    write(adapter, checkpoint(), arm="original", arm_sha256=digest(original))
    arguments = {"pretrained": str(checkpoint()), "peft": str(adapter)}
    for task in ("order_invariance_mini_cwio", "rule_learnability_mini"):
        assert load(f"spor_{task}", **arguments)
    with pytest.raises(ConfigError, match="not atom or combination here"):
        load(MINI, **arguments)


def test_equal_metadata_have_one_plan_while_no_file_changes(adapter, checkpoint):
    (file,) = task_files.expand([MINI])
    metadata = {**file.metadata, "pretrained": str(checkpoint()), "peft": str(adapter)}
    first = plan.resolve(plan.read(metadata))
    assert plan.resolve(plan.read({**metadata, "config_source": "elsewhere"})) is first
    assert plan.resolve(plan.read({**metadata, "limit_evenly": True})) is not first
    (adapter / "README.md").write_text("Another file.", "utf-8")
    assert plan.resolve(plan.read(metadata)) is not first
    loaded = plan.read({**file.metadata, "pretrained": object()})
    assert plan.resolve(loaded) is not plan.resolve(loaded)  # nothing holds the model


def test_an_adapter_without_a_manifest_is_evaluated_with_a_warning(adapter, checkpoint, caplog):
    (adapter / "spor.json").unlink()
    with caplog.at_level(logging.WARNING, logger="spor_tasks"):
        task = load(MINI, pretrained=str(checkpoint()), peft=str(adapter))
    assert "does not say what it was trained on" in caplog.text
    facts = task.dump_config()["metadata"]["spor"]["adapter"]
    assert facts.pop("adapter_sha256") == digest_weights(adapter)
    assert set(facts.values()) == {None}


# --- Demonstrations in the prompt -----------------------------------------------------------------


ATOM = "spor_systematicity_mini_icl_atom"
COMBINATION = "spor_systematicity_mini_icl_combination"
ORDER = "spor_order_invariance_mini_main_icl_match"


def facts_of(result, name):
    return result["configs"][name]["metadata"]["spor"]


def test_no_demonstrations_are_refused_and_the_arm_is_that_of_the_name():
    task = load(ATOM, fewshot_arm="combination")
    assert task.dump_config()["metadata"]["spor"]["prompt"]["arm"] == "atom"
    with pytest.raises(ConfigError, match="demonstrations are what this task is about"):
        task.set_config("num_fewshot", 0)


# --- Chat templates -------------------------------------------------------------------------------

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    "{% if enable_thinking is defined and not enable_thinking %}<no thoughts>{% endif %}"
)


@pytest.fixture
def chat_model(checkpoint, tmp_path):
    transformers.AutoModelForCausalLM.from_pretrained(checkpoint()).save_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint())
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


def in_turns(doc, *, multiturn, between):
    """Return the turns of a document as the template writes them, without the last sign."""
    shown, prompt = doc["demonstrations"], doc["prompt"]
    if multiturn:
        pairs = (f"<user>{d['prompt']}</user><assistant>{d['target']}</assistant>" for d in shown)
        return f"{''.join(pairs)}<user>{prompt}</user>"
    examples = (f"{d['prompt']}{between}{d['target']}\n\n" for d in shown)
    return f"<user>{''.join(examples)}{prompt}</user>"


@pytest.mark.parametrize(
    ("model", "style", "multiturn", "reasoning"),
    [
        ("hf", "instruction", True, False),
        ("hf", "instruction", False, True),
        ("spor-hf", "causal", True, False),
        ("spor-hf", "instruction", False, False),
        ("spor-hf", "instruction", True, True),
    ],
)
def test_a_chat_template_has_all_turns_and_no_reasoning_by_default(
    chat_model, model, style, *, multiturn, reasoning
):
    arguments = {"enable_thinking": True, "think_end_token": "</think>"} if reasoning else {}
    result = evaluate_folder(
        chat_model,
        ATOM,
        model=model,
        model_args=arguments,
        apply_chat_template=True,
        fewshot_as_multiturn=multiturn,
        metadata={"prompt_style": style},
    )
    for row in result["samples"][ATOM]:
        assert len(row["doc"]["demonstrations"]) > 1
        turns = in_turns(row["doc"], multiturn=multiturn, between=" ")
        assert row["arguments"][0][0] == turns + ("" if reasoning else "<no thoughts>")
    assert facts_of(result, ATOM)["prompt"]["thinking"] is reasoning


@pytest.mark.parametrize(
    ("name", "shots", "metric", "kind"),
    [
        (ATOM, None, "parent", "llama"),
        (COMBINATION, 3, "parent", "t5"),
        soak("spor_productivity_mini_n3_icl_visible", None, "parent", "llama"),
        (ORDER, None, "ordering_pbh", "t5"),
        soak("spor_order_invariance_mini_cwio_icl_original", None, "cwio", "llama"),
        ("spor_rule_learnability_mini_icl_original", None, "copy_rule", "llama"),
    ],
)
def test_a_result_counts_the_covered_samples(name, shots, metric, kind, checkpoint):
    (file,) = task_files.expand([name])
    sets = [file.metadata.get(key) for key in ("aspect", "corpus", "part")]
    pair = named.load(sets[0], sets[1], part=sets[2])
    arm = name.rpartition("_")[2]
    prompted = documents.chosen(pair, shots or 8)
    result = evaluate_folder(checkpoint(kind), name, num_fewshot=shots)
    assert f"{metric},none" in result["results"][name]
    assert result["n-samples"][name]["original"] == len(prompted)
    assert result["n-shot"][name] == (shots or 8)
    written = json.loads(json.dumps(facts_of(result, name)))
    asked, test = written["prompt"], written["test"]
    assert asked["demonstrations_sha256"] == content.digest(prompted)
    assert (test["covered"], test["samples"]) == (len(prompted), len(pair.test))
    assert (asked["arm"], asked["thinking"]) == (arm, None)
    for row, shown in zip(result["samples"][name], prompted, strict=False):
        ids = [demonstration["id"] for demonstration in row["doc"]["demonstrations"]]
        assert ids == [sample.id for sample in shown.arms[[*pair.arms].index(arm)]]
        contexts = [arguments[0] for arguments in row["arguments"]]
        assert len({context.rpartition("\n\n")[0] for context in contexts}) == 1
        expected = len(ids) + 1 if kind == "llama" else len(ids)
        assert contexts[0].count(" Output:") == expected > 0


@pytest.mark.parametrize("refreshed", [False, True])
def test_prompts_of_another_run_are_not_taken(refreshed, monkeypatch, tmp_path, caplog):
    """lm-eval's cache of requests knows neither the style of a prompt nor which samples it took."""
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path))
    for style, evenly in (("causal", False), ("instruction", True)):
        caplog.clear()
        model = ScriptedLM(lambda _: "A text.")
        result = simple(
            model,
            MINI,
            manager=task_files.manager({"prompt_style": style, "limit_evenly": evenly}),
            limit=3,
            cache_requests=True,
            rewrite_requests_cache=refreshed,
        )
        assert facts_of(result, MINI)["prompt"]["style"] == style
        rows = result["samples"][MINI]
        prompts = [row["doc"]["prompt"] for row in rows]
        assert prompts == [request.args[0] for request in model.requests]
        assert ("all of these facts" in prompts[0]) == (style == "instruction")
        assert sum("cache_requests is ignored" in each for each in caplog.messages) == 1
    assert list(tmp_path.iterdir()) == []
