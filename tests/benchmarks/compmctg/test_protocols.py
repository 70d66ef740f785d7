"""The protocols against the published code's numbers, and the shipped splits."""

import itertools
import json
import runpy
import subprocess
import sys
from collections import Counter
from operator import itemgetter
from pathlib import Path

import pytest

from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.benchmarks.compmctg.splits import without
from spor_tasks.corpora.compmctg import spaces
from spor_tasks.corpora.compmctg.spaces import FYELP, MIXTURE, YELP, Space
from spor_tasks.corpora.embedded import attributes
from tests.conftest import REPOSITORY
from tests.support import golden

SPACES = (*spaces.PUBLISHED, attributes.SPACE)
GENERATOR = REPOSITORY / "docs" / "generators" / "compmctg_splits.py"
divergence, most_divergent = itemgetter("divergence", "most_divergent")(
    runpy.run_path(str(GENERATOR))
)


def combinations(texts):
    return [tuple(text.split()) for text in texts]


def is_eligible(seen, unseen):
    """Return whether every value is in a seen and in an unseen combination."""
    in_seen, in_unseen = (
        {pair for each in half for pair in enumerate(each)} for half in (seen, unseen)
    )
    return in_seen == in_unseen


def test_divergence_and_eligibility_are_those_of_the_published_code(published_dir):
    for row in golden.read(published_dir / "compmctg", "partitions", rows=75):
        seen, unseen = (combinations(row[side]) for side in ("id", "comp"))
        assert divergence(seen, unseen) == pytest.approx(row["D"], abs=1e-9)
        assert divergence(unseen, seen) == pytest.approx(row["D_reverse"], abs=1e-9)
        assert divergence(seen, unseen, 0.5) == pytest.approx(row["D_coef0.5"], abs=1e-9)
        assert is_eligible(seen, unseen) == row["eligible"]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_shipped_splits_are_eligible_equally_divergent_and_different(space):
    stored = splits.facts()["splits"][space.name]
    tasks = {each.sets.protocol: each for each in COMPMCTG.sets() if each.sets.corpus == space.name}
    assert tasks.keys() == {"original", "holdout", *stored}
    for protocol, of_protocol in stored.items():
        found = splits.shipped(space, protocol)
        values = max(map(len, space.aspects.values()))
        size = len(space.combinations) // 2 if protocol == "acd" else values
        assert len({*found}) == len(found) == len(tasks[protocol].splits) <= of_protocol["ties"]
        for split in found:
            assert len(split.seen) == size
            assert is_eligible(*split)
            assert divergence(*split) == pytest.approx(of_protocol["divergence"], abs=1e-8)


def test_yelps_few_shot_splits_are_those_of_the_published_code_each_once(published_dir):
    driver = json.loads((published_dir / "compmctg" / "protocol_driver.json").read_bytes())
    halves, few = (
        next(row for row in driver if row["function"] == f"get_{name}_splits")
        for name in ("mcd", "fewshot")
    )
    seen = {frozenset(combinations(row["id"])) for row in few["max_splits"]}
    assert {frozenset(split.seen) for split in splits.shipped(YELP, "fewshot")} == seen
    assert (len(few["max_splits"]), len(seen)) == (8, 4)
    for protocol, rows in (("acd", halves["max_splits"]), ("fewshot", few["max_splits"])):
        highest = splits.facts()["splits"]["yelp"][protocol]["divergence"]
        assert {round(row["D"], 6) for row in rows} == {round(highest, 6)}


def test_the_published_few_shot_splits_of_fyelp_are_among_the_most_divergent():
    # As far as they are known: by the combinations that the published test cases have.
    highest = splits.facts()["splits"]["fyelp"]["fewshot"]["divergence"]
    for kept, other in (("Bar", "Asian"), ("Asian", "Bar")):
        cuisines = ("dessert", "Mexican", "American", kept)
        seen = {("Negative", "Male", cuisine, "Past") for cuisine in cuisines}
        unseen = {*FYELP.combinations} - seen - {("Positive", "Female", other, "Present")}
        assert divergence(*without(FYELP, unseen)) == pytest.approx(highest, abs=1e-8)


def test_hold_out_leaves_out_each_combination_once():
    found = splits.shipped(MIXTURE, "holdout")
    assert [unseen for _, unseen in found] == [(each,) for each in MIXTURE.combinations]
    assert len(COMPMCTG.find("compmctg", "mixture", "holdout").splits) == len(found)
    assert not any(is_eligible(*each) for each in found)


@pytest.mark.soak
def test_the_generator_writes_the_shipped_splits(tmp_path):
    subprocess.run([sys.executable, GENERATOR, tmp_path / "splits.json"], check=True)
    shipped = Path(splits.__file__).with_name("splits.json")
    assert (tmp_path / "splits.json").read_bytes() == shipped.read_bytes()


def test_the_generator_finds_the_best_splits_of_any_space(tmp_path):
    space = Space("any", {"a": ("1", "2", "3"), "b": ("x", "y"), "c": ("p", "q")})
    highest = max(
        divergence(*each)
        for seen in itertools.combinations(space.combinations, 3)
        if is_eligible(*(each := without(space, {*space.combinations} - {*seen})))
    )
    found, ties = most_divergent(space, "fewshot", 4)
    assert all(divergence(*split) == pytest.approx(highest, abs=1e-9) for split in found)
    assert len(found) == min(4, ties)
    (tmp_path / "own.yaml").write_text("aspects: {a: [x, y], b: [v, w]}", "utf-8")
    unseen = tmp_path / "unseen.jsonl"
    arguments = (tmp_path / "own.yaml", "ACD", unseen)
    subprocess.run([sys.executable, GENERATOR, *arguments], check=True)
    own = spaces.read_space(tmp_path / "own.yaml")
    counts = Counter(len(split.unseen) for split in splits.read(unseen, own, "acd"))
    assert counts == {2: 2}
