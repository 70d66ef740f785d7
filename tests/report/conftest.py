"""Folders of invented runs that several tests read."""

import pytest

from spor_tasks.corpora.embedded import TOTTO_MINI
from tests.support import cell_runs, invented_runs, table_runs


@pytest.fixture(scope="session")
def invented(tmp_path_factory):
    """Runs of all four aspects, half of them of a model whose name means harm."""
    return invented_runs.write(tmp_path_factory.mktemp("invented"))


@pytest.fixture(scope="session")
def columns(tmp_path_factory):
    """Runs about tables of columns: sentences with programs, pairs, and likelihoods."""
    return table_runs.write(tmp_path_factory.mktemp("columns"))


@pytest.fixture(scope="session")
def cells(tmp_path_factory):
    """A run about tables of cells, the last of them large and meant to harm."""
    samples = TOTTO_MINI.part("test")[:4]
    outputs = [sample.references[0] for sample in samples]
    folder = tmp_path_factory.mktemp("cells")
    return cell_runs.write_run(folder, samples, outputs, last=cell_runs.harmful())
