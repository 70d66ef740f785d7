"""What was recorded before is the same now (`record.py` says what, and how to look closer)."""

import pytest

from tests.golden import record

QUICK = ("sets", "prompts", "rows", "scores")


@pytest.fixture(scope="module", autouse=True)
def _data(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("TOTTO_DATA_DIR", "COMPMCTG_DATA_DIR"):
            patch.setenv(variable, "")  # and back again afterwards
        record.stand_ins(tmp_path_factory.mktemp("data"))
        yield


@pytest.mark.parametrize("part", QUICK)
def test_embedded_corpora_give_what_they_gave(part):
    assert record.differences(part, quick=True) == []


@pytest.mark.soak
@pytest.mark.parametrize("part", record.PARTS)
def test_everything_is_as_it_was(part):
    assert record.differences(part) == []
