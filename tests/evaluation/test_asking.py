"""The lines of `spor eval` on standard error: of each task, and of a server; none of others."""

import io
import logging
import re
import sys
import warnings

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook

from spor_tasks import cli
from spor_tasks.evaluation import asking
from spor_tasks.harness import host
from tests.support import commands
from tests.support.openai_server import serve

MINI, PERFORMANCE = "spor_systematicity_mini", "spor_order_invariance_mini_performance"
PROMPTS = {"first": ["a", "b"], "second": ["a", "c", "d"]}


@pytest.fixture(autouse=True)
def _quick(monkeypatch, tmp_path):
    commands.without_other_tasks(monkeypatch, tmp_path)


def run(*arguments):
    return cli.main(["eval", *map(str, arguments)])


class HFLM(LM):
    """Tells lm-eval's cache of each answer; a prompt that it cuts gets another text."""

    def loglikelihood(self, requests):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood

    @asking.shown
    def generate_until(self, requests):
        for request in reversed(requests):
            prompt, settings = request.args
            self.cache_hook.add_partial(
                "generate_until", (prompt.replace("d", "cut"), settings), ""
            )
            self.after_each()
        return [""] * len(requests)

    def after_each(self):
        """Take no time."""


def requests():
    return [
        Instance("generate_until", {}, (prompt, {}), 0, metadata=(task, number, 1))
        for task, prompts in PROMPTS.items()
        for number, prompt in enumerate(prompts)
    ]


@pytest.mark.skipif(host.IS_NEW, reason="0.5 names tasks of requests otherwise")
@pytest.mark.parametrize("is_terminal", [True, False])
def test_each_task_has_a_line(is_terminal, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(asking, "_SECONDS", 0 if not is_terminal else 60)
    model = HFLM()
    told = []
    model.cache_hook = hook = CacheHook(None)
    monkeypatch.setattr(hook, "add_partial", lambda *given: told.append(given[1][0]))
    assert model.generate_until(requests()) == [""] * 5
    assert told == ["cut", "c", "a", "b", "a"], "lm-eval's own cache is told, too"
    assert model.cache_hook is hook
    printed = stream.getvalue()
    if is_terminal:
        for line in ("first: 2 of 2 ", "second: 3 of 3 "):
            assert line in printed
        assert printed.count("00:00 left") >= 2
    else:
        lines = printed.splitlines()
        assert lines[-2:] == ["first: 2 of 2, in 00:00", "second: 3 of 3, in 00:00"]
        assert all(re.fullmatch(r"\w+: \d of \d, 00:0\d left", line) for line in lines[:-2])
        assert len(lines) == 5 + 2


@pytest.mark.skipif(host.IS_NEW, reason="0.5 names tasks of requests otherwise")
def test_an_interrupt_leaves_lm_evals_cache_as_it_was(monkeypatch):
    model = HFLM()
    hook = model.cache_hook
    monkeypatch.setattr(model, "after_each", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        model.generate_until(requests())
    assert model.cache_hook is hook


def test_an_evaluation_prints_its_tasks_and_no_line_of_others(
    checkpoint, tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)  # no repository
    model = ("--model", "spor-hf", "--model_args", f"pretrained={checkpoint()}", "--device", "cpu")
    capfd.readouterr()
    short = ("--limit", 2, "--gen_kwargs", "max_gen_toks=4", "-o", tmp_path / "runs")
    assert run("--tasks", f"{MINI},{PERFORMANCE}", *model, *short) == 0
    lines = capfd.readouterr().err.splitlines()
    ours = [line for line in lines if re.fullmatch(r"spor_\w+: 2 of 2, in 00:\d\d", line)]
    assert {line.split(":")[0] for line in ours} == {MINI, PERFORMANCE}
    # transformers' bar is hidden in a log, where its package is not loaded yet
    known = ("hint: ", "next: ", "without --log_samples ", *ours)
    others = [line for line in lines if not line.startswith(known)]
    assert [line for line in others if line and "Loading weights" not in line] == []


@pytest.mark.parametrize("words", [(), ("-v",), ("--verbosity", "warning")])
def test_lines_of_other_packages_need_v(words, monkeypatch, capsys):
    def noisy(*_):
        logging.getLogger("elsewhere").warning("a foreign warning")
        logging.getLogger("elsewhere").error("a foreign error")
        logging.getLogger("spor_tasks.somewhere").info("an own line")
        warnings.warn("an old name", FutureWarning, stacklevel=1)

    monkeypatch.setattr("spor_tasks.evaluation.checks.check", noisy)
    root = logging.getLogger().handlers[:]
    warned = pytest.warns(FutureWarning) if words else warnings.catch_warnings()
    with warned:
        assert run("--model", "dummy", "--tasks", MINI, "--limit", 1, *words) == 0
    printed = capsys.readouterr().err
    assert ("a foreign warning" in printed) == bool(words)
    assert "a foreign error" in printed
    assert "an own line" in printed
    assert logging.getLogger().handlers == root


@pytest.mark.parametrize("concurrent", [1, 2])
def test_a_line_says_what_a_server_will_be_asked(concurrent, tmp_path, capsys):
    pytest.importorskip("tenacity", reason="lm-eval's extra `api` is not installed")
    printed_when_asked = []

    def answer(_):
        printed_when_asked.append(capsys.readouterr().err)
        return "A text."

    with serve(answer) as server:
        secret = "user:secret@" if concurrent == 1 else ""  # aiohttp takes none
        url = f"{server.url}/completions".replace("//", f"//{secret}")
        arguments = f"base_url={url},model=tiny,tokenizer_backend=None,num_concurrent={concurrent}"
        model = ("--model", "local-completions", "--model_args", arguments)
        assert run("--tasks", MINI, *model, "--limit", 2, "-o", tmp_path / "out") == 0
    letters = sum(len(body["prompt"]) for body in server.requests)
    most = sum(body["max_tokens"] for body in server.requests)
    line = (
        f"{server.url}/completions gets 2 requests with about {letters // 4:,} tokens, and writes "
        f"at most {most:,}"
    )
    assert line in printed_when_asked[0].splitlines()
    assert "Requesting API" not in "".join([*printed_when_asked, capsys.readouterr().err])
