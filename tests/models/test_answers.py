"""Answers that a server does not give: they are counted in the result, and named in the report."""

import json

import pytest
import requests

from spor_tasks import report
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.report.document import plain_text
from spor_tasks.results import runs
from tests.support.openai_server import serve

pytest.importorskip("tenacity", reason="lm-eval's extra `api` is not installed")

MINI = "spor_systematicity_mini"
ERROR = {"error": {"message": "Provider returned error", "code": 502}}


def choice(content="Some text.", **more):
    """A choice of both interfaces."""
    message = {"role": "assistant", "content": content, "refusal": more.pop("refusal", None)}
    return {"index": 0, "message": message, "text": content, "finish_reason": "stop", **more}


def body(*args, **more):
    return {"choices": [choice(*args, **more)]}


FAULTS = {
    "error": [
        ERROR,
        [ERROR],
        {"error": "overloaded", "choices": []},
        {**ERROR, **body()},
        {"detail": "Not found"},
        {"choices": None},
        [],
        body(None, error={"message": "broken"}, finish_reason="error"),
        body("Half a", finish_reason="error"),
    ],
    "missing": [{"choices": []}, {"choices": [None]}],
    "null": [
        body(None),
        body(None, finish_reason="length"),
        body([{"type": "text", "text": "A text."}]),
        {"choices": [{"index": 0, "finish_reason": "stop"}]},
    ],
    "filtered": [
        body(None, finish_reason="content_filter"),
        body("Half", finish_reason="content_filter"),
        body("", finish_reason="SAFETY"),
    ],
    "unfinished": [
        body("Half a", finish_reason="abort"),
        body(None, finish_reason="tool_calls"),
        body("", finish_reason="length"),
    ],
}
GOOD = [
    body("A text."),
    body("A text.", finish_reason="length"),
    body("A text.", finish_reason="STOP"),
    body("A text.", finish_reason=None),
    body("A text.", finish_reason=""),
    body("", finish_reason="stop"),
    {"choices": [{"message": {"content": "A text."}, "text": "A text."}]},
]


def evaluated(folder, answers, model, path, **more):
    """Evaluate as many samples as there are answers, and return the run."""
    waiting = iter(answers)
    with serve(lambda _: next(waiting)) as server:
        arguments = {
            "base_url": f"{server.url}/{path}",
            "model": "tiny",
            "tokenizer_backend": None,
            "max_retries": 1,
            **more,
        }
        Evaluator(model).evaluate(
            [arguments],
            [MINI],
            folder,
            limit=len(answers),
            apply_chat_template=path.startswith("chat"),
        )
    (found,) = runs.collect([folder]).runs
    return found


@pytest.mark.parametrize("concurrent", [1, 2])
@pytest.mark.parametrize(
    ("model", "path"),
    [("local-chat-completions", "chat/completions"), ("local-completions", "completions")],
)
def test_each_kind_of_fault_is_counted_and_no_answer_is_moved(model, path, concurrent, tmp_path):
    faults = {
        **FAULTS,
        **({"refusal": [body(None, refusal="I cannot.")]} if "chat" in path else {}),
    }
    answers = [*GOOD, *(each for of_kind in faults.values() for each in of_kind)]
    found = evaluated(tmp_path, answers, model, path, num_concurrent=concurrent)
    assert found.n == len(answers)
    assert found.log.failures == {why: len(of_kind) for why, of_kind in faults.items()}
    (file,) = tmp_path.rglob("samples_*.jsonl")
    texts = [json.loads(line)["resps"][0][0] for line in file.read_text().splitlines()]
    assert sorted(filter(None, texts)) == ["A text."] * 6 + ["Half", "Half a", "Half a"]


def test_the_other_chat_interface_has_the_same_faults(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    thought, text = {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "A text."}
    answers = [
        {"content": [thought, text], "stop_reason": "end_turn"},
        {"content": [], "stop_reason": "end_turn"},
        {"content": [text], "stop_reason": "refusal"},
        {"type": "error", "error": {"type": "overloaded_error"}},
        {"content": None},
        {"detail": "Not found"},
    ]
    found = evaluated(tmp_path, answers, "anthropic-chat-completions", "chat/messages")
    assert found.log.failures == {"error": 3, "unfinished": 1}
    (file,) = tmp_path.rglob("samples_*.jsonl")
    texts = [json.loads(line)["resps"][0][0] for line in file.read_text().splitlines()]
    assert sorted(texts) == ["", "", "", "", "A text.", "A text."]


def test_a_report_names_them_in_every_format(tmp_path):
    evaluated(tmp_path / "runs", [body("A text."), ERROR, body(None)], "local-completions", "comp")
    document = report.write([tmp_path / "runs"], tmp_path / "out")
    said = f"2 answers of {MINI} were not given by the server"
    assert document.whole
    assert said in plain_text(document)
    for name in ("report.md", "report.tex", "report.json", "page.html"):
        assert said in (tmp_path / "out" / name).read_text().replace("\\_", "_"), name
    (problem,) = [
        each
        for each in json.loads((tmp_path / "out" / "report.json").read_text())["problems"]
        if each["kind"] == "unanswered"
    ]
    assert problem["what"].endswith("scored as they are: 1 error, 1 null")


def test_in_a_batch_the_missing_answer_is_the_failed_one(tmp_path):
    def half(_):
        return {"choices": [{**choice("Second."), "index": 1}, {**choice("Third."), "index": 2}]}

    with serve(half) as server:
        arguments = {"base_url": f"{server.url}/c", "model": "tiny", "tokenizer_backend": None}
        Evaluator("local-completions", batch_size=3).evaluate(
            [arguments], [MINI], tmp_path, limit=3
        )
        (sent,) = (request["prompt"] for request in server.requests)
    (found,) = runs.collect([tmp_path]).runs
    assert found.log.failures == {"missing": 1}
    (file,) = tmp_path.rglob("samples_*.jsonl")
    rows = map(json.loads, file.read_text().splitlines())
    outputs = {row["arguments"]["gen_args_0"]["arg_0"]: row["resps"][0][0] for row in rows}
    assert [outputs[prompt] for prompt in sent] == ["", "Second.", "Third."]


@pytest.mark.parametrize("sent", [ERROR, body(), {"choices": []}])
@pytest.mark.parametrize("concurrent", [1, 2])
def test_likelihoods_that_a_server_does_not_give_are_an_error(sent, concurrent, checkpoint):
    with serve(lambda _: sent) as server:
        arguments = {
            "base_url": f"{server.url}/completions",
            "model": "tiny",
            "tokenizer": str(checkpoint("gpt2")),
            "tokenizer_backend": "huggingface",
            "tokenized_requests": False,
            "max_retries": 1,
            "num_concurrent": concurrent,
        }
        with pytest.raises(requests.RequestException, match="it gave no log likelihoods"):
            Evaluator("local-completions").evaluate([arguments], ["logicnlg_mini_ppl"], limit=2)
