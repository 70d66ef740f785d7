"""An evaluation that was cut short goes on, with the results of one that was not."""

import json
import logging
import os
import shutil
import signal
from types import SimpleNamespace
from unittest.mock import Mock

import lm_eval.__main__
import pytest
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM

from spor_tasks import cli
from spor_tasks.core.errors import ResultError
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.models import continued
from spor_tasks.models.hf import SporHF
from tests.support import commands, foreign_tasks
from tests.support.openai_server import serve
from tests.support.processes import forked, wait_until

MINI = "spor_systematicity_mini"
ICL = "spor_systematicity_mini_icl_atom"
BEAMS = {"max_gen_toks": 12, "num_beams": 3, "do_sample": False}
SHORT = {"max_gen_toks": 12}
DRAWN = "compmctg_mini_original"
LIKELY = "logicnlg_mini_ppl"


def _interrupts(evaluate, *arguments, **options):
    try:
        return evaluate(*arguments, **options) == 130  # the status of a command
    except KeyboardInterrupt:
        return True


@pytest.fixture
def interrupt(monkeypatch):
    """Return what evaluates until a model is to read one more batch than so many."""

    def interrupted(batches, evaluate, *arguments, **options):
        calls = []

        def stopping(whole):
            def call(self, *args, **kwargs):
                calls.append(1)
                if len(calls) > batches:
                    raise KeyboardInterrupt
                return whole(self, *args, **kwargs)

            return call

        with monkeypatch.context() as patch:
            for owner, name in (
                (SporHF, "_model_generate"),
                (HFLM, "_model_generate"),
                (HFLM, "_model_call"),
            ):
                patch.setattr(owner, name, stopping(getattr(owner, name)))
            assert _interrupts(evaluate, *arguments, **options)

    return interrupted


def kept_in(folder):
    return sorted((folder / ".unfinished").glob("*.jsonl"))


def written(folder):
    """Return what an evaluation wrote, but for what another one has otherwise."""
    (file,) = folder.rglob("results_*.json")
    results = json.loads(file.read_text())
    for changing in ("date", "start_time", "end_time", "total_evaluation_time_seconds"):
        results.pop(changing, None)
    samples = {
        path.name.partition("_2")[0]: path.read_text() for path in folder.rglob("samples_*.jsonl")
    }
    return results, samples


def evaluate(kind, arguments, tasks, out, **options):
    evaluator = Evaluator(kind, batch_size=3, device="cpu")
    return evaluator.evaluate([arguments], tasks, out, **{"limit": 14, **options})


@pytest.mark.parametrize(
    ("kind", "base", "tasks", "decoding"),
    [
        ("spor-hf", "llama", [MINI, ICL], SHORT),
        ("spor-hf", "t5", [MINI], BEAMS),
        ("spor-hf", "gpt2", [DRAWN], SHORT),
        ("spor-hf", "gpt2", [LIKELY], None),
        ("hf", "llama", [MINI, ICL], SHORT),
    ],
)
def test_a_continued_evaluation_has_the_files_of_a_whole_one(
    *, kind, base, tasks, decoding, checkpoint, tmp_path, interrupt, caplog
):
    arguments = {"pretrained": str(checkpoint(base))}
    options = {"gen_kwargs": decoding}
    evaluate(kind, arguments, tasks, tmp_path / "whole", **options)
    for batches in (2, 1):
        interrupt(batches, evaluate, kind, arguments, tasks, tmp_path / "cut", **options)
    (file,) = kept_in(tmp_path / "cut")
    assert "9 of " in caplog.messages[-1]
    evaluate(kind, arguments, tasks, tmp_path / "cut", **options)
    assert f"outputs are of a run that was cut short: {file}" in caplog.text
    assert written(tmp_path / "cut") == written(tmp_path / "whole")
    assert not (tmp_path / "cut" / ".unfinished").exists()


FEW = {"gen_kwargs": {"max_gen_toks": 8}, "limit": 9}


def test_the_same_batches_stand_side_by_side(checkpoint, tmp_path, interrupt, monkeypatch):
    read = []
    encode = SporHF.tok_batch_encode

    def noting(self, strings, **settings):
        read.append(tuple(strings))
        return encode(self, strings, **settings)

    arguments = {"pretrained": str(checkpoint())}
    interrupt(1, evaluate, "spor-hf", arguments, [MINI], tmp_path, **FEW)
    monkeypatch.setattr(SporHF, "tok_batch_encode", noting)
    evaluate("spor-hf", arguments, [MINI], tmp_path, **FEW)
    continued_with, read[:] = read[-2:], []
    evaluate("spor-hf", arguments, [MINI], tmp_path, **FEW)
    assert read[-3:][1:] == continued_with


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"limit": 8}, "limit"),
        ({"gen_kwargs": {"max_gen_toks": 7}}, "gen_kwargs"),
        ({"system_instruction": "Be brief."}, "system_instruction"),
        ({"metadata": {"prompt_style": "instruction"}}, "its prompts"),
        ({"batch_size": 2}, "batch_size"),
        ({"dtype": "bfloat16"}, "dtype"),
        ({"kind": "hf"}, "model type"),
        ({"weights": "model"}, "files of the model"),
        ({"weights": "tokenizer"}, "files of the model"),
    ],
)
def test_a_changed_setting_starts_anew_and_says_so(
    *, change, named, checkpoint, tmp_path, interrupt, caplog
):
    base = tmp_path / "base"
    shutil.copytree(checkpoint(), base)
    arguments = {"pretrained": str(base), "tokenizer": str(tmp_path / "tokenizer")}
    shutil.copytree(checkpoint(), tmp_path / "tokenizer")
    interrupt(2, evaluate, "spor-hf", arguments, [MINI], tmp_path / "out", **FEW)
    (former,) = kept_in(tmp_path / "out")
    changed = change.pop("weights", None)
    if changed == "model":
        for file in base.glob("*.safetensors"):
            shutil.copyfile(checkpoint("llama", 1) / file.name, file)
    elif changed:
        (tmp_path / "tokenizer" / "tokenizer.json").touch()
    evaluator = Evaluator(
        change.pop("kind", "spor-hf"), batch_size=change.pop("batch_size", 3), device="cpu"
    )
    if "dtype" in change:
        arguments["dtype"] = change.pop("dtype")
    evaluator.evaluate([arguments], [MINI], tmp_path / "out", **{**FEW, **change})
    (said,) = (text for text in caplog.messages if "differs in" in text)
    assert f"differs in {named}, so this one starts anew; 6 outputs stay in {former}" in said
    assert "outputs are of a run" not in caplog.text
    assert kept_in(tmp_path / "out") == [former]


def test_another_adapter_or_task_has_nothing_to_do_with_it(
    checkpoint, lora, tmp_path, interrupt, caplog
):
    arguments = {"pretrained": str(checkpoint())}
    interrupt(1, evaluate, "spor-hf", arguments, [MINI], tmp_path, **FEW)
    caplog.clear()
    evaluate("spor-hf", {**arguments, "peft": str(lora("llama"))}, [MINI], tmp_path, **FEW)
    evaluate("spor-hf", arguments, [ICL], tmp_path, **FEW)
    assert not [record for record in caplog.records if record.name == continued.__name__]
    assert len(kept_in(tmp_path)) == 1


def run_of(arguments, kind="hf"):
    model = SimpleNamespace(device=SimpleNamespace(type="cpu"))
    return continued.Conditions.of(model, kind, arguments, [MINI], {})


def test_an_adapter_that_changes_is_another_model(checkpoint, lora, tmp_path):
    adapter = shutil.copytree(lora("llama"), tmp_path / "adapter")
    arguments = {"pretrained": str(checkpoint()), "peft": str(adapter)}
    before = run_of(arguments)
    assert run_of(arguments) == before
    (adapter / "adapter_model.safetensors").touch()
    after = run_of(arguments)
    assert after.name == before.name
    assert after.prefix != before.prefix
    assert {*after.settings.items()} ^ {*before.settings.items()} == {
        ("files of the model", run.settings["files of the model"]) for run in (before, after)
    }


def test_an_adapter_that_is_merged_is_another_setting(checkpoint, lora):
    beside = {"pretrained": str(checkpoint()), "peft": str(lora("llama"))}
    before, after = run_of(beside, "spor-hf"), run_of({**beside, "merge": True}, "spor-hf")
    assert after.name == before.name
    assert {*after.settings} - {*before.settings} == {"merge"}
    assert after.prefix != before.prefix


@pytest.mark.parametrize("kind", ["hf", "spor-vllm", "hf-multimodal"])
def test_a_model_whose_files_are_not_known_keeps_nothing(kind, caplog):
    caplog.set_level(logging.INFO)
    assert run_of({"pretrained": "no/such-model"}, kind) is None
    assert run_of({"pretrained": object()}, kind) is None
    assert "outputs are not kept while they come" in caplog.text


@pytest.mark.parametrize("damage", ["cut", "other", "emptied", "zeros"])
def test_what_is_damaged_is_written_anew(damage, checkpoint, tmp_path, interrupt):
    arguments = {"pretrained": str(checkpoint())}
    evaluate("spor-hf", arguments, [MINI], tmp_path / "whole", **FEW)
    interrupt(2, evaluate, "spor-hf", arguments, [MINI], tmp_path / "cut", **FEW)
    (file,) = kept_in(tmp_path / "cut")
    content = file.read_bytes()
    *_, last = content.splitlines(keepends=True)
    damaged = {
        "cut": content[:-5],
        "other": content[: -len(last)] + last.replace(b"[", b"{", 1),
        "emptied": b"",
        "zeros": content + bytes(4096),
    }
    file.write_bytes(damaged[damage])
    interrupt(0, evaluate, "spor-hf", arguments, [MINI], tmp_path / "cut", **FEW)
    evaluate("spor-hf", arguments, [MINI], tmp_path / "cut", **FEW)
    assert written(tmp_path / "cut") == written(tmp_path / "whole")


def test_a_kept_file_that_cannot_be_written_stops_nothing(
    checkpoint, tmp_path, monkeypatch, caplog
):
    arguments = {"pretrained": str(checkpoint())}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".unfinished").touch()
    evaluate("spor-hf", arguments, [MINI], tmp_path / "out", **FEW)
    assert "no outputs are kept" in caplog.text
    monkeypatch.setattr(continued, "_line", Mock(side_effect=OSError(28, "No space left")))
    evaluate("spor-hf", arguments, [MINI], tmp_path / "full", **FEW)
    assert caplog.text.count("no further outputs are kept: [Errno 28]") == 1
    assert written(tmp_path / "full") == written(tmp_path / "out")


def test_results_that_were_not_written_cost_no_output(checkpoint, tmp_path, monkeypatch):
    arguments = {"pretrained": str(checkpoint())}
    with monkeypatch.context() as patch:
        patch.setattr(EvaluationTracker, "save_results_samples", lambda *_, **__: None)
        with pytest.raises(ResultError):
            evaluate("spor-hf", arguments, [MINI], tmp_path, **FEW)
    assert len(kept_in(tmp_path)) == 1
    monkeypatch.setattr(SporHF, "_model_generate", Mock(side_effect=AssertionError))
    evaluate("spor-hf", arguments, [MINI], tmp_path, **FEW)
    assert not (tmp_path / ".unfinished").exists()


def test_two_runs_at_a_time_do_not_share_a_file(checkpoint, tmp_path, monkeypatch, caplog):
    arguments = {"pretrained": str(checkpoint())}
    generate, begun = SporHF._model_generate, []

    def with_another(self, *args, **settings):
        begun.append(True)
        if len(begun) == 2:
            evaluate("spor-hf", arguments, [MINI], tmp_path, **FEW)
            assert len(kept_in(tmp_path)) == 1
        return generate(self, *args, **settings)

    monkeypatch.setattr(SporHF, "_model_generate", with_another)
    evaluate("spor-hf", arguments, [MINI], tmp_path, **FEW)
    assert caplog.text.count("is being written by another process") == 1
    assert "differs" not in caplog.text
    assert len([*tmp_path.rglob("results_*.json")]) == 2
    assert not (tmp_path / ".unfinished").exists()


def test_without_a_folder_of_results_the_users_cache_has_them(
    checkpoint, tmp_path, interrupt, monkeypatch, caplog
):
    monkeypatch.setattr(continued, "user_cache", lambda: tmp_path)
    arguments = {"pretrained": str(checkpoint())}
    interrupt(1, evaluate, "hf", arguments, [MINI], None, **FEW)
    assert len([*(tmp_path / "unfinished").glob("*.jsonl")]) == 1
    evaluate("hf", arguments, [MINI], None, **FEW)
    assert "3 outputs are of a run that was cut short" in caplog.text
    assert not any(tmp_path.iterdir())


def test_texts_that_hf_draws_are_not_kept(checkpoint, tmp_path, interrupt):
    options = {"gen_kwargs": {"max_gen_toks": 8, "do_sample": True, "temperature": 0.8}}
    interrupt(2, evaluate, "hf", {"pretrained": str(checkpoint())}, [MINI], tmp_path, **options)
    assert not (tmp_path / ".unfinished").exists()


@pytest.mark.parametrize("concurrent", [1, 2])
@pytest.mark.parametrize("path", ["completions", "chat/completions"])
def test_a_server_is_asked_only_for_the_rest(concurrent, path, tmp_path, caplog):
    broken = []

    def write(prompt):
        if len(server.requests) > 5 and not broken:
            return None
        return f"A text of {len(prompt)} letters."

    kind = "local-chat-completions" if path.startswith("chat") else "local-completions"

    def asked(out, concurrent):
        arguments = {
            "base_url": f"{server.url}/{path}",
            "model": "tiny",
            "tokenizer_backend": None,
            "max_retries": 1,
            "num_concurrent": concurrent,
        }
        Evaluator(kind).evaluate(
            [arguments], [MINI], out, limit=12, apply_chat_template=path.startswith("chat")
        )

    with serve(write) as server:
        with pytest.raises(Exception, match="500"):
            asked(tmp_path / "cut", concurrent)
        server.requests.clear()
        broken.append(False)
        asked(tmp_path / "cut", 3 - concurrent)  # a server that failed is asked for less
        assert len(server.requests) <= 12 - 4
        asked(tmp_path / "whole", 3 - concurrent)
    assert "run that was cut short; if the server has another model now, stop" in caplog.text
    assert written(tmp_path / "cut") == written(tmp_path / "whole")


@pytest.mark.parametrize(
    "at", [(EvaluationTracker, "save_results_samples"), (lm_eval.utils, "make_table")]
)
def test_an_interrupt_says_which_results_there_are(at, checkpoint, tmp_path, monkeypatch, capsys):
    words = f"eval --tasks {ICL} --model hf --limit 2 --log_samples --gen_kwargs max_gen_toks=4"
    command = [*words.split(), "--output_path", str(tmp_path), "--model_args"]
    monkeypatch.setattr(*at, Mock(side_effect=KeyboardInterrupt))
    assert cli.main([*command, f"pretrained={checkpoint()}"]) == 130
    (file,) = tmp_path.rglob("results_*.json")
    said, is_written = capsys.readouterr().err, at[0] is lm_eval.utils
    assert (f"these results are written: {file}" in said) == is_written
    assert (f"2 of 2 outputs are kept in {tmp_path}" in said) == bool(kept_in(tmp_path))
    assert is_written != bool(kept_in(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_evaluation_goes_on(*, number, checkpoint, tmp_path, monkeypatch, caplog, capfd):
    commands.without_other_tasks(monkeypatch, tmp_path)
    base = ["--model_args", f"pretrained={checkpoint()}", "--device", "cpu", "--log_samples"]
    words = ["eval", "--tasks", f"{MINI},{ICL}", "--model", "spor-hf", *base, "--limit", "12"]

    def lines():
        return sum(file.read_bytes().count(b"\n") for file in kept_in(tmp_path / "cut"))

    process = forked(cli.main, [*words, "--output_path", str(tmp_path / "cut")])
    wait_until(lambda: lines() > 3, process)
    os.kill(process.pid, number)
    process.join()
    assert process.exitcode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    said = capfd.readouterr().err
    assert (
        ("interrupted" in said)
        == ("of 24 outputs are kept in" in said)
        == (number == signal.SIGINT)
    )
    for name in ("cut", "whole"):
        assert cli.main([*words, "--output_path", str(tmp_path / name)]) == 0
    assert "outputs are of a run that was cut short" in caplog.text
    assert written(tmp_path / "cut") == written(tmp_path / "whole")
    assert not (tmp_path / "cut" / ".unfinished").exists()


@pytest.mark.parametrize("kind", ["hf", "spor-hf"])
def test_tasks_that_are_not_ours_go_on_too(
    *, kind, checkpoint, tmp_path, interrupt, monkeypatch, capfd
):
    commands.without_other_tasks(monkeypatch, tmp_path)
    monkeypatch.setattr(lm_eval.__main__, "setup_logging", lambda: None)
    tasks = foreign_tasks.write_tasks(tmp_path / "tasks", foreign_tasks.documents(10))
    for file in tasks.glob("*.yaml"):  # without scores whose errors take lm-eval minutes
        lines = file.read_text().replace(", {metric: mcc}", "").splitlines()
        file.write_text("\n".join(line for line in lines if "metric: chrf" not in line))
    names = f"{foreign_tasks.CHOICES},{foreign_tasks.TEXTS},{MINI}"
    base = ["--model_args", f"pretrained={checkpoint('gpt2')}", "--device", "cpu", "--log_samples"]
    words = ["eval", "--tasks", names, "--include_path", str(tasks), "--model", kind, *base]
    words += ["--limit", "10", "--batch_size", "3", "--gen_kwargs", "max_gen_toks=8"]

    def evaluated(out):
        return cli.main([*words, "--output_path", str(tmp_path / out)])

    for batches in (3, 12):
        interrupt(batches, lambda: evaluated("cut"))
    assert len(kept_in(tmp_path / "cut")) == 2  # of likelihoods, and of texts
    assert [evaluated(out) for out in ("cut", "whole")] == [0, 0]
    assert capfd.readouterr().err.count("outputs are of a run that was cut short") == 3
    assert written(tmp_path / "cut") == written(tmp_path / "whole")
    assert not (tmp_path / "cut" / ".unfinished").exists()


BATCHES = [[["key", "A text."], ["other", "Zwölf — \ud800"]], [["key", [-1.5, True]]]]


@pytest.fixture
def lines(tmp_path):
    """Return a file of two batches."""
    path = tmp_path / "kept.jsonl"
    file = continued._Journal(path, {"rank": 0})
    assert file.rows() == []
    for batch in BATCHES:
        file.append(batch)
    return path


def read(path):
    return continued._Journal(path, {"rank": 0}).rows()


def test_a_file_cut_anywhere_has_its_whole_batches_and_goes_on(lines):
    content = lines.read_bytes()
    header, first, _ = content.splitlines(keepends=True)
    for length in range(len(content) + 1):
        lines.write_bytes(content[:length])
        whole = [] if length < len(header + first) else BATCHES[0]
        assert read(lines) == (whole if length < len(content) else [*whole, *BATCHES[1]])
        file = continued._Journal(lines, {"rank": 0})
        kept = file.rows()
        file.append([["more", "Text"]])
        assert read(lines) == [*kept, ["more", "Text"]]


def test_no_changed_byte_changes_what_is_read(lines):
    content = lines.read_bytes()
    known = [row for batch in BATCHES for row in batch]
    for place in range(len(content)):
        lines.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        rows = read(lines)
        assert rows == known[: len(rows)]
        assert len(rows) < len(known)


def test_the_file_of_another_header_is_not_read(lines):
    assert continued._Journal(lines, {"rank": 1}).rows() == []
    assert read(lines) == []
