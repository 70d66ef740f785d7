"""Chat templates without a system role: prompts have the instruction, and results say so."""

import json

import pytest
import transformers

from spor_tasks.models.chats import FIRST_TURN
from tests.support.openai_server import serve
from tests.support.scripted import evaluate_folder

MCTG = "compmctg_mini_acd"
MINI = "spor_systematicity_mini"
INSTRUCTION = "Answer as a sailor would."
TASK = "Task: write a sentence"

TURN = "<{{ m.role }}>{{ m.content | trim }}</{{ m.role }}>"
LOOP = "{% for m in messages %}" + TURN + "{% endfor %}"
NOT_FIRST = "{% set messages = messages[1:] if messages[0].role == 'system' else messages %}"
TEMPLATES = {
    "has the role": (LOOP, None),
    "has it in the first turn": (
        "{% if messages[0].role == 'system' %}{% set s = messages[0].content %}{% endif %}"
        + NOT_FIRST
        + "{% for m in messages %}<{{ m.role }}>{% if loop.first %}{{ s }}\n\n{% endif %}"
        "{{ m.content | trim }}</{{ m.role }}>{% endfor %}",
        None,
    ),
    "refuses it": (
        "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}" + LOOP,
        FIRST_TURN,
    ),
    "wants turns by turns": (
        "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Roles must alternate user/assistant/user/assistant/...') }}"
        "{% endif %}" + TURN + "{% endfor %}",
        FIRST_TURN,
    ),
    "drops it": (NOT_FIRST + LOOP, FIRST_TURN),
    "has one of its own": ("<system>Be good.</system>" + NOT_FIRST + LOOP, FIRST_TURN),
    "keeps its first line": (
        "{% for m in messages %}{% if m.role == 'system' %}{{ m.content.split('\n')[0] }}"
        "{% else %}" + TURN + "{% endif %}{% endfor %}",
        FIRST_TURN,
    ),
    "drops it before many turns": (
        "{% if messages | length > 2 %}" + NOT_FIRST + "{% endif %}" + LOOP,
        FIRST_TURN,
    ),
}


@pytest.fixture
def chat_model(checkpoint, tmp_path):
    def build(template):
        tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint("gpt2"))
        model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint("gpt2"))
        tokenizer.chat_template = template
        for part in (model, tokenizer):
            part.save_pretrained(tmp_path / "model")
        return tmp_path / "model"

    return build


def asked(result, task):
    return [row["arguments"][0][0] for row in result["samples"][task]]


def fact_of(result, task):
    return json.loads(json.dumps(result["configs"]))[task]["metadata"]["spor"]["prompt"][
        "system_message"
    ]


@pytest.mark.parametrize(
    ("name", "model", "multiturn"),
    [(name, "hf", True) for name in TEMPLATES]
    + [("refuses it", "spor-hf", True), ("drops it", "spor-hf", False), ("drops it", "hf", False)],
)
def test_every_prompt_has_the_instruction_once(name, model, multiturn, chat_model, caplog):
    template, moved = TEMPLATES[name]
    result = evaluate_folder(
        chat_model(template),
        MCTG,
        model=model,
        apply_chat_template=True,
        fewshot_as_multiturn=multiturn,
        num_fewshot=2,
        metadata={"prompt_style": "instruction", "split": "0"},
        system_instruction=INSTRUCTION,
        limit=2,
    )
    prompts = asked(result, MCTG)
    for prompt in prompts:
        assert (prompt.count(INSTRUCTION), prompt.count(TASK)) == (1, 1)
        in_user_turn = prompt.partition("<user>")[2].partition("</user>")[0]
        assert (INSTRUCTION in in_user_turn) == (moved is not None or name.endswith("first turn"))
        assert prompt.count("<assistant>") == (2 if multiturn else 0)
    assert len(prompts) == 2
    assert fact_of(result, MCTG) == moved
    warnings = [each for each in caplog.messages if "has no system role" in each]
    assert len(warnings) == (moved is not None)


def test_without_an_instruction_nothing_moves(chat_model):
    template, _ = TEMPLATES["refuses it"]
    result = evaluate_folder(chat_model(template), MINI, apply_chat_template=True)
    assert fact_of(result, MINI) is None


def test_a_server_renders_by_itself_which_is_warned_of(caplog):
    pytest.importorskip("tenacity", reason="lm-eval's extra `api` is not installed")
    with serve(str.upper) as server:
        result = evaluate_folder(
            None,
            MINI,
            model="local-chat-completions",
            model_args={"base_url": f"{server.url}/chat/completions", "model": "tiny"},
            apply_chat_template=True,
            system_instruction=INSTRUCTION,
        )
    assert [body["messages"][0]["role"] for body in server.requests] == ["system"] * 3
    assert fact_of(result, MINI) is None
    assert sum("the server renders the chat" in each for each in caplog.messages) == 1
