"""The rules of `spor-hf`: which tokens may follow, and how they are drawn."""

import json
from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from tokenizers.decoders import ByteLevel
from transformers import GenerationConfig

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import host
from spor_tasks.models import generation
from spor_tasks.models.generation import (
    LastTokens,
    Seeded,
    SeededSampling,
    StopAtText,
    TemplateFirst,
    as_drawn,
    template_first,
)
from spor_tasks.models.hf import SporHF
from spor_tasks.text import gpt2
from spor_tasks.text.filters import (
    DEFAULT,
    END,
    SEPARATOR,
    is_complete,
    logicnlg_published,
    without_short,
)
from tests.oracles import generation as oracle
from tests.support import tiny_gpt2
from tests.support.tiny_bases import make_tokenizer

# --- Coarse to fine -------------------------------------------------------------------------------

ENT, SEP = 3, 4
PROMPT = [SEP, ENT]
ROWS = st.integers(0, 8).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=1, max_size=4
    )
)


def allowed(written):
    """The tokens that may follow, by trying each."""
    for token in range(6):
        text = [*written, token]
        repeats = any(two == (ENT, ENT) for two in pairwise(text[-2:]))
        sentence = text[text.index(SEP) + 1 :] if SEP in text[:-1] else []
        if not repeats and not (sentence and sentence[-1] in {ENT, SEP}):
            yield token


@given(ROWS)
def test_each_row_goes_on_by_the_rules_whatever_its_prompt(rows):
    ids = torch.tensor([PROMPT + row for row in rows])
    scores = torch.randn(len(rows), 6)
    before = scores.clone()
    found = TemplateFirst(ENT, SEP, len(PROMPT))(ids, scores)
    assert torch.equal(scores, before)
    for row, own, original in zip(rows, found, scores, strict=True):
        finite = own.isfinite().nonzero().flatten().tolist()
        assert finite == list(allowed(row))
        assert torch.equal(own[finite], original[finite])


def _decoded(ids):
    """Return tokens as text, as today's tokenizers do: without blanks around added ones."""
    added = {50256: END, 50257: "[ENT]", 50258: SEPARATOR}
    return ByteLevel().decode(
        [added.get(each) or gpt2.tokenizer().id_to_token(each) for each in ids]
    )


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["decode_c2f_a", "decode_c2f_b"])
def test_a_tiny_model_writes_as_with_the_published_code(golden_dir, name):
    """The published code pads on the left without a mask, so the padding is read here as well."""
    golden = json.loads((golden_dir / "logicnlg" / f"{name}.json").read_text())
    model = tiny_gpt2.make(golden["seed"], 50259)
    model.generation_config.eos_token_id = None  # a row goes on while others do
    with torch.no_grad():
        for row, factor in golden["scaled_embedding_rows"].items():
            model.transformer.wte.weight[int(row)] *= factor
    for table in golden["rows"]:
        prompts = torch.tensor(table["prompt_ids"])
        expected = torch.tensor(table["sample_ids"])
        length = prompts.shape[1]
        found = model.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            logits_processor=[TemplateFirst(50257, 50258, length)],
            generation_config=GenerationConfig(
                do_sample=False, max_new_tokens=expected.shape[1], pad_token_id=0
            ),
        )
        assert torch.equal(found[:, length:], expected)
        texts = [_decoded(row) for row in table["sample_ids"]]
        cut = map(logicnlg_published, texts)
        assert without_short(cut, ["a"] * len(texts)) == table["output"]


def test_a_tokenizer_without_such_tokens_is_warned_of(caplog):
    tokenizer = make_tokenizer("gpt2")
    tokenizer.name_or_path = "nameless"
    assert template_first(tokenizer, 0) == template_first(tokenizer, 1) == []
    assert len(caplog.records) == 1
    tokenizer.add_tokens(["[ENT]", "[SEP]"])
    assert len(template_first(tokenizer, 0)) == 1
    assert len(caplog.records) == 1


# --- Where a text ends ----------------------------------------------------------------------------


PIECES = make_tokenizer(
    "llama", merges=[("a", "b"), ("a", "Ċ"), ("Ã", "©"), ("Ġ", "b"), ("Ċ", "Ċ"), ("©", "!")]
)
LETTERS = PIECES.convert_tokens_to_ids(["</s>", "a", "b", "Ċ", "Ã", "©", "!", "Ġ"])
TOKENS = st.sampled_from([*LETTERS, *range(len(PIECES) - 6, len(PIECES))])
STOPS = ["b", "a\n", "é", "é!", "a b", "b ", "\n", "s>", ""]


@given(
    st.lists(st.lists(TOKENS, min_size=9, max_size=9), min_size=1, max_size=4),
    st.lists(st.sampled_from(STOPS), max_size=2),
    st.booleans(),
)
def test_each_row_ends_with_the_token_that_completes_its_text(rows, stops, by_filters):
    def is_ended(text):
        complete = by_filters and is_complete(DEFAULT, text)
        return complete or any(stop in text for stop in stops)

    last = LastTokens(PIECES, {stop[-1:] for stop in stops} | ({"\n"} if by_filters else set()))
    stop, ids = StopAtText(PIECES, is_ended, 1, last), torch.tensor(rows)
    found = expected = torch.zeros(len(rows), dtype=torch.bool)
    for length in range(2, ids.shape[1] + 1):
        found = found | stop(ids[:, :length], None)
        expected = expected | oracle.ended(PIECES, ids[:, 1:length], is_ended)
        assert found.tolist() == expected.tolist()


# --- How tokens are drawn -------------------------------------------------------------------------

PROBABILITIES = torch.tensor([0.4, 0.25, 0.2, 0.1, 0.05])
SETTINGS = {"do_sample": True, "top_k": 20, "sampling_seed": 1, "max_gen_toks": 12}


def draw(seeds, step=0, **how):
    sampling = SeededSampling(seeds, 3, **how)
    scores = PROBABILITIES.log().expand(len(seeds), -1)
    return sampling(torch.zeros(len(seeds), 3 + step), scores).argmax(dim=1).tolist()


def frequencies(drawn):
    counts = Counter(drawn)
    return [counts[token] for token in range(len(PROBABILITIES))]


def test_random_bits_are_those_of_splitmix64():
    """Its published first outputs for the seed 0, whose state grows by the same number each."""
    found = [number % 2**64 for number in generation._mixed(torch.tensor([1, 2, 3])).tolist()]
    assert found == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize("by", ["seed", "step"])
def test_draws_follow_the_probabilities(by):
    drawn = (
        draw([Seeded.from_key("", 9, number).seed for number in range(20_000)])
        if by == "seed"
        else [token for step in range(500) for token in draw([*range(40)], step)]
    )
    assert chisquare(frequencies(drawn), PROBABILITIES * len(drawn)).pvalue > 0.001


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"top_k": 2}, [0.4 / 0.65, 0.25 / 0.65]),
        ({"top_p": 0.6}, [0.4 / 0.65, 0.25 / 0.65]),
        ({"temperature": 0.5, "top_k": 2}, [0.16 / 0.2225, 0.0625 / 0.2225]),
    ],
    ids=str,
)
def test_settings_are_those_of_transformers(how, expected):
    found = frequencies(draw([*range(5_000)], **how))
    assert found[2:] == [0, 0, 0]
    shares = torch.tensor(expected, dtype=torch.float64) * 5_000
    assert chisquare(found[:2], shares).pvalue > 0.001


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6), st.integers(0, 50))
def test_a_row_does_not_depend_on_the_others(seeds, step):
    assert draw(seeds, step) == [token for seed in seeds for token in draw([seed], step)]


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4),
    st.integers(0, 30),
    st.fixed_dictionaries(
        {"top_k": st.sampled_from([0, 1, 2, 7, 40, 60, 1_000])},
        optional={"temperature": st.just(0.7)},
    ),
    st.integers(1, 40),
)
def test_noise_for_likely_tokens_alone_draws_the_same(seeds, step, how, different):
    """Also where many tokens are as likely as the last that counts, or cannot follow at all."""
    generator = torch.Generator().manual_seed(step)
    rows = torch.randint(0, different, (len(seeds), 60), generator=generator).float()
    rows[:, 40:] = -torch.inf
    found = SeededSampling(seeds, 3, **how)(torch.zeros(len(seeds), 3 + step), rows)
    assert found.argmax(1).tolist() == oracle.drawn(seeds, step, rows, **how).tolist()
    assert found.isfinite().sum(1).tolist() == [1] * len(seeds)


def test_top_k_above_the_vocabulary_is_told_once(caplog):
    few, all_tokens = draw([*range(40)], top_k=6), draw([*range(40)])
    assert few == all_tokens == draw([*range(40)], top_k=6)
    (told,) = caplog.messages
    assert told == "top_k=6 is above the vocabulary of 5 tokens, all of which count"


OURS = {"units": "[]", "corpus": "mini"}


def sampled(model, seed=1):
    settings = SETTINGS | {"sampling_seed": seed}
    requests = [
        host.request(OURS | {"id": f"sample {number}"}, "the same prompt", settings, 0)
        for number in range(6)
    ]
    return model.generate_until(requests, disable_tqdm=True)


@pytest.mark.parametrize("kind", ["llama", "t5"])
def test_texts_are_the_same_at_any_batch_size(checkpoint, kind):
    one, several = (
        SporHF(pretrained=str(checkpoint(kind)), device="cpu", batch_size=size) for size in (1, 4)
    )
    found = sampled(one)
    assert found == sampled(several) == sampled(one)
    assert len({*found}) > 1
    assert sampled(one, seed=2) != found


@pytest.mark.parametrize(
    "doc", [{"id": "1"}, {"context": "A town lies here."}, "a document"], ids=str
)
def test_each_text_is_drawn_by_itself_without_a_seed_too(checkpoint, doc):
    """A task may repeat a request for several texts, and its documents may be of any kind."""
    settings = {"do_sample": True, "temperature": 0.9, "max_gen_toks": 12}
    asked = host.request(doc, "the same prompt", settings, 0)
    found = [
        SporHF(pretrained=str(checkpoint("llama")), device="cpu", batch_size=size).generate_until(
            [asked] * 4, disable_tqdm=True
        )
        for size in (1, 3)
    ]
    assert found[0] == found[1]
    assert len({*found[0]}) == 4


def test_documents_of_others_that_share_an_id_are_drawn_apart(checkpoint):
    model = SporHF(pretrained=str(checkpoint("llama")), device="cpu", batch_size=4)
    asked = [host.request({"id": "1"}, "the same prompt", SETTINGS, 0) for _ in range(4)]
    for number, each in enumerate(asked):
        each.metadata = (each.task_name, number, 1)
        each.doc_id = number
    assert len({*model.generate_until(asked, disable_tqdm=True)}) == 4


def test_without_a_seed_tokens_are_drawn_as_transformers_draws_by_default():
    drawing = {"do_sample": True, "max_gen_toks": 4}
    default = GenerationConfig()._get_default_generation_params()["top_k"]
    assert as_drawn(drawing) == drawing | {"top_k": default, "sampling_seed": 0}
    assert as_drawn(drawing | {"top_k": 0})["top_k"] == 0
    for own in ({"sampling_seed": 0}, {"min_p": 0.1}):
        assert as_drawn(drawing | own) == drawing | own


def test_none_is_as_if_a_setting_were_not_given(checkpoint):
    model = SporHF(pretrained=str(checkpoint("llama")), device="cpu")
    names = ("top_k", "top_p", "temperature", "num_beams", "min_p")
    for settings in (SETTINGS, {"max_gen_toks": 4}):
        asked = [
            host.request({"id": "1"}, "a prompt", settings | more, 0)
            for more in ({name: settings.get(name) for name in names}, {})
        ]
        assert len({*model.generate_until(asked[:1]), *model.generate_until(asked[1:])}) == 1


def test_nothing_is_drawn_for_a_task_with_a_seed_that_is_not_to_be_sampled(checkpoint):
    model = SporHF(pretrained=str(checkpoint("llama")), device="cpu", batch_size=4)
    greedy = {"do_sample": False, "max_gen_toks": 12}
    asked = [
        host.request({}, "a prompt", settings, 0)
        for settings in (greedy, SETTINGS | greedy, SETTINGS | greedy | {"text_tokens": 3})
    ]
    plain, seeded, short = model.generate_until(asked, disable_tqdm=True)
    assert seeded == plain
    assert plain.startswith(short.rstrip("\ufffd"))
    assert 0 < len(short) < len(plain)


@pytest.mark.parametrize("other", [{"min_p": 0.1}, {"num_beams": 2}], ids=str)
def test_a_seed_beside_what_does_not_draw_by_seeds_is_refused(checkpoint, other):
    model = SporHF(pretrained=str(checkpoint("llama")), device="cpu", batch_size=4)
    asked = host.request({"id": "1"}, "a prompt", SETTINGS | other, 0)
    with pytest.raises(ConfigError, match=f"sampling_seed does not go with {next(iter(other))}"):
        model.generate_until([asked], disable_tqdm=True)
    settings = {"do_sample": True, "max_gen_toks": 4} | other
    assert model.generate_until([host.request({}, "a prompt", settings, 0)], disable_tqdm=True)


def test_a_text_has_so_many_tokens_with_its_beginning(checkpoint):
    model = SporHF(pretrained=str(checkpoint("llama")), device="cpu", batch_size=4)
    settings = SETTINGS | {"text_tokens": 9}
    requests = [
        host.request({"context": json.dumps({"prefix": "a" * n})}, "p" + "a" * n, settings, n)
        for n in (0, 2, 6, 20)
    ]
    limited = model.generate_until(requests, disable_tqdm=True)
    for each in requests:
        each.arguments = each.args[0], SETTINGS
    whole = model.generate_until(requests, disable_tqdm=True)
    for text, full, limit in zip(limited, whole, (9, 7, 3, 1), strict=True):
        assert 0 < len(text) <= min(limit, len(full))
        assert full.startswith(text.rstrip("\ufffd"))
    assert len(limited[-1]) < len(whole[-1])
