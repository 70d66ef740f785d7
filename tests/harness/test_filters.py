"""Filters in tasks: cuts before scoring, their place in results, and faulty ones."""

import pytest
from lm_eval.api.registry import get_filter
from lm_eval.tasks import TaskManager

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import filters, host, task_files
from spor_tasks.text.filters import END, FILTERS, UNTUNED
from tests.support.scripted import ScriptedLM, evaluate
from tests.support.soak import soak

PLAIN = "spor_systematicity_mini"
SHOWN = "spor_systematicity_mini_icl_atom"
PAIR = "spor_order_invariance_mini_main_icl_match"

OF_TUNED = [{"function": "spor_first_line"}, {"function": "take_first"}]
OF_UNTUNED = [{"function": f"spor_{name}"} for name in UNTUNED] + [{"function": "take_first"}]

BLANK = ["\n", " \n \n", "", "\n\n", "\t\n"]
PREFIXES = [
    "\n",
    "<think>\nHm.\n</think>\n\n",
    "Hm.\n</think>",
    "Here it is:\n",
    "<think></think>It:\n",
]


class ChatLM(ScriptedLM):
    """Puts a prompt into a chat's template."""

    tokenizer_name = "scripted"

    def chat_template(self, chat_template=False):  # noqa: ARG002, FBT002
        return "<user>"

    def apply_chat_template(self, history, **_):
        return "".join(f"<{turn['role']}>{turn['content']}" for turn in history)


def text_of(request):
    return str(request.doc["references"][0])


def scored(result, task):
    return [text for row in result["samples"][task] for text in row["filtered_resps"]]


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_lm_eval_knows_every_filter(name):
    found = get_filter(f"spor_{name}")().apply([["a:\nb", "</think>c"], [""]], [])
    assert found == [[FILTERS[name].cut("a:\nb"), FILTERS[name].cut("</think>c")], [""]]


SHORT, LONG = ("first_line", "take_first"), (*UNTUNED, "take_first")
INSTRUCTION = {"prompt_style": "instruction"}


@pytest.mark.parametrize(
    ("task", "metadata", "kind", "prefixes", "names"),
    [
        (PLAIN, {}, ScriptedLM, BLANK, SHORT),
        (SHOWN, {}, ScriptedLM, PREFIXES, LONG),
        soak(PAIR, {}, ScriptedLM, PREFIXES, LONG),
        soak(PLAIN, INSTRUCTION, ScriptedLM, PREFIXES, LONG),
        soak(PLAIN, {}, ChatLM, PREFIXES, LONG),
        (SHOWN, INSTRUCTION, ChatLM, PREFIXES, LONG),
    ],
)
def test_outputs_are_cut_before_they_are_scored(task, metadata, kind, prefixes, names):
    def run(*before):
        model = kind(lambda request: f"{before[request.doc_id]}{text_of(request)}\nAnd on it goes.")
        manager, chat = task_files.manager(None, **metadata), kind is ChatLM
        return evaluate(model, task, manager=manager, limit=5, apply_chat_template=chat), model

    (found, model), (expected, _) = run(*prefixes), run(*[""] * 5)
    assert found["results"] == expected["results"]
    assert scored(found, task) == scored(expected, task)
    assert {request.filters for request in model.requests} == {names}
    (chain,) = found["configs"][task]["filter_list"]
    assert filters.names(chain) == names
    for row, prefix in zip(found["samples"][task], prefixes, strict=True):
        assert all(text.startswith(prefix) for [text] in row["resps"])


def test_filters_are_added_once_and_only_to_our_chains():
    once = filters.for_untuned([{"name": "none", "filter": OF_TUNED}])
    assert list(once) == [{"name": "none", "filter": OF_UNTUNED}]
    assert filters.for_untuned(once) == once
    assert filters.for_untuned(filters.WHOLE) == list(filters.WHOLE)
    some = [OF_UNTUNED[1], *OF_TUNED]
    assert filters.for_untuned([{"name": "none", "filter": some}]) == [
        {"name": "none", "filter": [OF_UNTUNED[i] for i in (1, 0, 2, 3, 4)]}
    ]


OWN = """
from lm_eval.api.filter import Filter

class Nothing(Filter):
    def apply(self, resps, docs):
        return [[None for text in texts] for texts in resps]

class Fewer(Filter):
    def apply(self, resps, docs):
        return resps[1:]
"""


def own(folder, *functions, write=text_of, task=PLAIN, **options):
    """Return what is scored of the outputs in a task with these filters."""
    (folder / "own.py").write_text(OWN, "utf-8")
    steps = [f"      - function: {function}\n" for function in functions]
    chain = f"\n  - name: none\n    filter:\n{''.join(steps)}" if steps else ""
    (file,) = task_files.expand([task])
    text = f"include: {file.path}\ntask: mine\nfilter_list:{chain}\n"
    (folder / "mine.yaml").write_text(text, "utf-8")
    manager = TaskManager(include_path=folder, include_defaults=False)
    options = {"limit": 2} | options
    return scored(evaluate(ScriptedLM(write), "mine", manager=manager, **options), "mine")


@pytest.mark.parametrize(
    ("functions", "named"),
    [
        (["!function own.Nothing", "spor_first_line", "take_first"], "Nothing"),
        (["spor_first_line", "take_first", "!function own.Fewer"], "Fewer"),
    ],
)
def test_a_filter_without_texts_is_named(tmp_path, functions, named):
    with pytest.raises(ConfigError, match=f"filter {named} ") as caught:
        own(tmp_path, *functions)
    assert "mine" in str(caught.value.where)
    assert caught.value.remedy


def test_outputs_are_scored_whole_without_filters(tmp_path):
    assert own(tmp_path, write=lambda _: "a\nb") == ["a\nb"] * 2


def test_a_short_sentence_is_replaced_by_the_previous_one_of_its_table(tmp_path):
    """As LogicNLG's published script does; it needs all samples in their order."""

    def sentence(request):
        number = request.doc_id
        return f"[SEP] Four {number}{END}" if number % 3 else f"[SEP] {number} b c d e f{END}"

    functions = ("spor_logicnlg_published", "take_first")
    found = own(tmp_path, *functions, write=sentence, task="logicnlg_mini_c2f", limit=6)
    assert found == [*["0 b c d e f"] * 3, *["3 b c d e f"] * 2, "Four 5"]
    chain = {"name": "none", "filter": [{"function": "spor_logicnlg_published"}]}
    every_other = [host.request({}, "", {}, number) for number in (0, 2)]
    for each in every_other:
        each.resps = [""]
    with pytest.raises(ConfigError, match="in their order"):
        filters.filtered("mine", chain, every_other)
