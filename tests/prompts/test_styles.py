"""The paper's prompt, to the character."""

from dataclasses import replace

from spor_tasks.core.sample import AttributeValue, Sample, Triple
from spor_tasks.prompts.styles import PROMPT_STYLES, prompt

TRIPLES = Sample(
    id="1",
    corpus="webnlg",
    units=(
        Triple("Grey_Harbour", "leader", '"Ann \\"Old\\" Moss"'),
        Triple("Grey_Harbour", " l c c n_number", "12_000"),
    ),
    references=("unused",),
)
PAIRS = Sample(
    id="2",
    corpus="e2e",
    units=(AttributeValue("eat type", "pub"), AttributeValue("family friendly", "yes")),
    references=("unused",),
    context={"name": "The_Grey Duck"},
)


def test_triples_are_marked_and_the_predicate_keeps_its_spaces() -> None:
    assert prompt(TRIPLES, "seq2seq") == (
        "translate from Triple to Text: "
        "<head> Grey Harbour <relation> leader <tail> Ann Old Moss "
        "<head> Grey Harbour <relation>  l c c n number <tail> 12 000"
    )


def test_pairs_follow_the_name() -> None:
    assert prompt(PAIRS, "seq2seq") == (
        "translate from MR to Text: name[The Grey Duck] eat type[pub] family friendly[yes]"
    )


def test_pairs_without_a_name_stand_alone() -> None:
    assert prompt(replace(PAIRS, context={}), "seq2seq") == (
        "translate from MR to Text: eat type[pub] family friendly[yes]"
    )


def test_only_a_causal_model_is_given_the_cue() -> None:
    for sample in (TRIPLES, PAIRS):
        assert prompt(sample, "causal") == prompt(sample, "seq2seq") + " Output:"


def test_an_instruction_says_what_to_do_and_gives_a_fact_a_line() -> None:
    assert prompt(TRIPLES, "instruction") == (
        "Write a short English text that says all of these facts and nothing else.\n"
        "- Grey Harbour | leader | Ann Old Moss\n"
        "- Grey Harbour | l c c n number | 12 000\n"
        "Text:"
    )
    assert prompt(PAIRS, "instruction") == (
        "Write a short English text that says all of these facts and nothing else.\n"
        "- name: The Grey Duck\n"
        "- eat type: pub\n"
        "- family friendly: yes\n"
        "Text:"
    )
    assert "name:" not in prompt(replace(PAIRS, context={}), "instruction")


def test_a_corpus_of_ones_own_is_worded_as_those_with_its_kind_of_units() -> None:
    for sample in (TRIPLES, PAIRS):
        for style in PROMPT_STYLES:
            assert prompt(replace(sample, corpus="own"), style) == prompt(sample, style)
