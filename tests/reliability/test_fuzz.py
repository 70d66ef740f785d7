"""Whatever manifests, settings and model folders hold, only our own errors come of it.

Result and sample files are in `tests/core/test_bad_files_properties.py`. `SPOR_SOAK=1` tries more.
"""

import argparse
import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from spor_tasks import cli
from spor_tasks.aspects import folder
from spor_tasks.cli import evaluate
from spor_tasks.core import named
from spor_tasks.core.errors import SporError
from spor_tasks.core.folders import write_manifest
from spor_tasks.evaluation import checks, run
from spor_tasks.models import checkpoints
from tests.support import damage
from tests.support.damage import DAMAGE, LONG_NAME, SOAK
from tests.support.result_files import adapter_manifest
from tests.support.strategies import VALUES, changed, places
from training import config
from training.experiments import plan

pytestmark = pytest.mark.timeout(60 * SOAK)


# --- Settings -------------------------------------------------------------------------------------

TRAINING = {
    "model": {"path": "base", "revision": None, "dtype": "float32"},
    "data": {"aspect": "systematicity", "corpus": "mini", "arm": "atom", "limit": 5},
    "output": "out",
    "lora": {"r": 8, "lora_alpha": 32.0, "target_modules": ["q_proj"]},
    "optimization": {"epochs": 1, "learning_rate": 1e-3},
    "selection": {"policy": "last"},
}
EXPERIMENT = {
    "name": "mini",
    "models": [{"name": "m", "overrides": ["model.path=base"]}],
    "sets": [{"aspect": "systematicity", "corpora": ["mini"]}],
    "seeds": [0, 1],
    "evaluation": {"model": "spor-hf", "limit": 5},
    "in_context": {"models": ["a", {"name": "b", "path": "c"}]},
    "slurm": {"timeout_min": 5},
}
EVALUATION = {
    "tasks": ["spor_systematicity_mini"],
    "model": "spor-hf",
    "model_args": {"pretrained": "no/such-model"},
    "metadata": {"prompt_style": "causal"},
    "gen_kwargs": {"num_beams": 1},
    "limit": 5,
    "num_fewshot": 0,
    "trust_remote_code": False,
}
MODELS = {"pretrained": "base", "peft": "adapter", "dtype": "float32", "trust_remote_code": False}


def evaluation(path):
    settings = evaluate._config(argparse.Namespace(config=str(path), device=None))
    checks.check(settings, [settings.model_args])


READERS = {
    "training": (config.load_config, TRAINING),
    "experiment": (plan.load_experiment, EXPERIMENT),
    "models": (lambda path: list(run.read_models([str(path)])), MODELS),
    "evaluation": (evaluation, EVALUATION),
}
SCALARS = VALUES | st.sampled_from(
    [LONG_NAME, "\0", "../..", "-1", "1e999", "[", "${HOME}", "~", "a=b", 10**99, 1e308]
)
# What YAML gives a meaning to, and what Python's own values are written as.
WORDS = st.sampled_from(
    [
        *"-?:,[]{}#&*!|>'\"%@`\n\t =~\0\x85\ufeff",
        *("  ", "\n  ", "- ", ": ", "<<", "---", "...", "!!int ", "!!str ", "!!set ", "!!binary "),
        *("!!omap ", "!<x> ", "0x", "0o", "1e", ".inf", ".nan", "null", "2024-13-41", "1:60"),
        *("model", "data", "seeds", "name", "pretrained", "tasks"),
    ]
)


@st.composite
def bad_settings(draw, good):
    """The settings with any value anywhere, or with anything in the place of some letters."""
    listed = good is MODELS
    if draw(st.booleans()):
        bad = changed(good, draw(st.sampled_from(list(places(good)))), draw(SCALARS))
        return json.dumps([bad] if listed else bad)
    text = yaml.safe_dump([good] if listed else good)
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(start + 20, len(text))))
    return text[:start] + "".join(draw(st.lists(WORDS, max_size=4))) + text[end:]


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=80 * SOAK)
@given(st.data())
def test_anything_in_settings(reader, data):
    read, good = READERS[reader]
    text = data.draw(bad_settings(good))
    with TemporaryDirectory() as where, suppress(SporError):
        path = Path(where, "settings.yaml")
        path.write_text(text, "utf-8", errors="surrogatepass")
        read(path)


# --- Folders --------------------------------------------------------------------------------------

CONTENTS = {
    "base/config.json": {"model_type": "llama", "is_encoder_decoder": False, "eos_token_id": 2},
    "base/tokenizer_config.json": {"chat_template": None},
    "base/generation_config.json": {"num_beams": 5, "transformers_version": "5"},
    "base/model.safetensors": "weights",
    "adapter/adapter_config.json": {"peft_type": "LORA"},
    "adapter/adapter_model.safetensors": "LoRA",
}


def make_model(where):
    """Make the folders of a base and of an adapter of it."""
    base, adapter = where / "base", where / "adapter"
    for name, content in CONTENTS.items():
        (where / name).parent.mkdir(exist_ok=True)
        (where / name).write_text(json.dumps(content))
    write_manifest(adapter, adapter_manifest(adapter, base))
    return base, adapter


def look_at(base, adapter):
    """Ask all that an evaluation asks of the folders of a model before it is loaded."""
    arguments = {"pretrained": str(base), "peft": str(adapter)}
    model = checkpoints.Checkpoint.read(arguments)
    for ask in (
        lambda: checkpoints.prompt_style(model, checkpoints.find_adapter(model)),
        lambda: checkpoints.prompt_style(model, None),
        lambda: checkpoints.has_chat_template(model),
        lambda: checkpoints.generation_config(model),
        lambda: checkpoints.base_sha256(arguments),
    ):
        with suppress(SporError):
            ask()


with TemporaryDirectory() as _folder:
    MANIFEST = adapter_manifest(*reversed(make_model(Path(_folder))))
FILES = [*CONTENTS, "base/chat_template.jinja", "adapter/spor.json"]
contents = st.dictionaries(
    st.sampled_from(FILES),
    st.sampled_from(list(DAMAGE)) | VALUES | st.binary(max_size=9),
    min_size=1,
    max_size=3,
)
manifests = st.tuples(st.sampled_from(list(places(MANIFEST))), VALUES | st.just(...))


@settings(max_examples=200 * SOAK)
@given(contents | manifests)
def test_anything_in_the_folders_of_a_model(bad):
    with TemporaryDirectory() as made:
        where = Path(made)
        base, adapter = make_model(where)
        if isinstance(bad, tuple):
            write_manifest(adapter, changed(adapter_manifest(adapter, base), *bad))
        for name, content in bad.items() if isinstance(bad, dict) else ():
            if isinstance(content, str) and content in DAMAGE:
                damage.replace(where / name, content)
            elif isinstance(content, bytes):
                (where / name).write_bytes(content)
            else:
                (where / name).write_text(json.dumps(content))
        look_at(base, adapter)


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    built = tmp_path_factory.mktemp("built") / "sets"
    facts = {"corpus_version": "x", "settings": {"limit": 0.02}, "seed": 0}
    with folder.new(built) as staging:
        folder.write_sets(staging, named.load("systematicity", "mini"), facts)
    return built


@settings(max_examples=40 * SOAK)
@given(st.data())
def test_any_value_anywhere_in_the_manifest_of_sets(sets, data):
    file = sets / folder.MANIFEST
    good = file.read_bytes()
    path = data.draw(st.sampled_from(list(places(json.loads(good)))))
    value = data.draw(VALUES | st.just(...) | st.sampled_from(["order_invariance", "productivity"]))
    try:
        file.write_text(json.dumps(changed(json.loads(good), path, value)))
        assert cli.main(["data", "check", str(sets)]) in {0, 1, 2}
    finally:
        file.write_bytes(good)
