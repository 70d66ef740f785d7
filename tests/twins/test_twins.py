"""Fictional twins: the patches that the package ships, and what they make of samples."""

import gzip
import json
import re
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256

import pytest

from spor_tasks import twins
from spor_tasks.core import named
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Contrast, Hidden, Orders, SampleMaker, Triple, sides
from spor_tasks.text.normalize import display
from spor_tasks.twins import CORPORA, FILE, FOLDER, Twins, Untwinned, key, twins_of
from tests.conftest import REPOSITORY
from tests.support.soak import soak

LED = Triple("Velmor", "leader", "Anna_Bell")
TEXT = "Anna Bell leads Velmor."
SAMPLE = SampleMaker("webnlg")([LED], [TEXT], name="Velmor", note="Velmor")
PHRASES = Hidden((("Velmor", "Entity 1"),), (("leader", ("Anna Bell", "others")),))
HIDDEN = replace(
    SAMPLE, units=(LED._replace(subject="Entity 1"),), references=(), challenge=PHRASES
)
TWINS = Twins(
    entities={
        key("Velmor"): [(0, 6, "Ost")],
        key("Anna_Bell"): [(0, 4, "Slar"), (5, 9, "Ek")],
        key("Anna Bell"): [(0, 4, "Slar"), (5, 9, "Ek")],
    },
    texts={
        key(TEXT, [LED], "Velmor"): [(0, 4, "Slar"), (5, 9, "Ek"), (16, 22, "Ost")],
        key("Bell leads Velmor.", [LED], "Velmor"): "a word may stand for two",
        key("", HIDDEN.units, "Velmor"): [],
        key("It is.", [Triple("a", "b", "c")]): [],
    },
    reordered=frozenset({key(TEXT, [LED], "Velmor")}),
)

# SHA-256 over every sample of the corpus and of its sets without twins, and their twins or reasons
# in words, as the machine that `docs/generators/twins.py` replaced made them.
DIGESTS = {
    "webnlg": "51213572150fb12e8912818b154877fd20a22a0d9376bc068cb0af8b20cb2dfe",
    "e2e": "e0389f7be9d3d37831693b984c806e4261785f27839e070fbac37231ddb374e9",
    "viggo": "bfe9044978857d8dafa49506297fbfd3e695bf2aeaede2fe57b5f6ded3296349",
}


def test_units_references_and_name_are_exchanged_alike_and_phrases_stay():
    assert TWINS.twin(SAMPLE) == replace(
        SAMPLE,
        units=(Triple("Ost", "leader", "Slar_Ek"),),
        references=("Slar Ek leads Ost.",),
        context={"name": "Ost", "note": "Velmor"},
    )
    hidden = TWINS.twin(HIDDEN)
    assert hidden.units == (Triple("Entity 1", "leader", "Slar_Ek"),)
    assert hidden.challenge == Hidden((("Ost", "Entity 1"),), (("leader", ("Slar Ek", "others")),))


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (replace(SAMPLE, references=("Velmor is led.",)), twins.UNKNOWN),
        (replace(SAMPLE, units=(LED, LED)), twins.UNKNOWN),
        (replace(SAMPLE, references=(TEXT, "Bell leads Velmor.")), "a word may stand for two"),
        (SampleMaker("webnlg")([Triple("a", "b", "c")], ["It is."]), twins.NOTHING),
        (replace(SAMPLE, challenge=Contrast((LED,), "No.")), twins.OTHER_CHALLENGE),
        (replace(SAMPLE, challenge=Orders(((0,), (0,)), ((0,),))), twins.OTHER_ORDER),
    ],
)
def test_a_sample_without_a_twin_says_why(sample, reason):
    assert TWINS.twin(sample) == Untwinned(reason)


def test_a_corpus_without_twins_is_an_error_that_lists_those_with_twins():
    with pytest.raises(ConfigError, match="'mini' has no twins") as caught:
        twins_of("mini")
    assert "webnlg, e2e, viggo" in str(caught.value.remedy)


@pytest.mark.usefixtures("data_dir", "viggo_dir")
@pytest.mark.parametrize("corpus", ["viggo", soak("webnlg"), soak("e2e")])
def test_every_twin_is_the_one_that_was_published(corpus):
    samples = [*registry().get("corpus", corpus).everything()]
    for spec in named.available():
        if spec.sets.corpus == corpus and spec.sets.protocol == "published":
            samples += (sides(sample)[0] for sample in named.load(**spec.sets.named).test)
    digest, of_corpus = sha256(), twins_of(corpus)
    for sample in samples:
        for each in (sample, of_corpus.twin(sample)):
            digest.update(repr(each if isinstance(each, Untwinned) else fields(each)).encode())
    assert digest.hexdigest() == DIGESTS[corpus]


def fields(sample):
    context = sorted(sample.context.items())
    return (sample.id, *map(tuple, sample.units), *sample.references, *context, sample.challenge)


@pytest.mark.usefixtures("data_dir", "viggo_dir")
@pytest.mark.parametrize("corpus", CORPORA)
def test_no_text_and_no_name_of_a_corpus_is_in_its_file(corpus):
    content = json.loads(gzip.decompress((FOLDER / corpus / FILE).read_bytes()))
    samples = registry().get("corpus", corpus).everything()
    patches = [*content["entities"].values(), *content["texts"].values()]
    reasons = {each for each in patches if isinstance(each, str)}
    invented = {new for each in patches if not isinstance(each, str) for *_, new in each}
    assert len(reasons) < 6
    assert not {text for sample in samples for text in sample.references} & (invented | reasons)
    assert all(re.fullmatch(r"[0-9a-f]{10}", each) for each in [*content["texts"]])
    assert not any(" " in new for new in invented)
    words = {word.casefold() for new in invented for word in re.findall(r"[^\W\d_]{3,}", new)}
    ends = {end for sample in samples for unit in sample.units for end in unit[::2] + unit[1:]}
    names = {display(end).casefold() for end in ends}
    assert words & names == set()


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("data_dir", "viggo_dir")
def test_the_generator_writes_the_shipped_patches(tmp_path):
    script = REPOSITORY / "docs" / "generators" / "twins.py"
    subprocess.run([sys.executable, script, "--to", tmp_path], check=True)
    for corpus in CORPORA:
        written, shipped = (
            gzip.decompress((folder / corpus / FILE).read_bytes()) for folder in (tmp_path, FOLDER)
        )
        assert written == shipped
