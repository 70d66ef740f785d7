"""The statements of TabFact that stand in for LogicNLG's training statements."""

import json
from pathlib import Path

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.corpora.logicnlg import reader, tabfact


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """TabFact and LogicNLG with four tables, one of which is in LogicNLG's test set."""
    fact, logic = tmp_path / "tabfact", tmp_path / "logicnlg"
    files: dict[str, object] = {
        "pairwise_data/complex_train_pairs.json": [
            ["a.csv", "oslo has the most people", "bergen has the most people"],
            ["a.csv", "bergen has 3 people", "bergen has 4 people"],
            ["a.csv", "oslo has the most people", "molde has the most people"],
            ["b.csv", "of a table of the test set", "no"],
            ["c.csv", "of a simple table", "no"],
            ["d.csv", "of the validation part", "no"],
        ],
        "data/complex_ids.json": ["a.csv", "b.csv", "d.csv"],
        "data/train_id.json": ["a.csv", "b.csv", "c.csv"],
        "data/table_to_page.json": {"a.csv": ["norway", "https://example.org"]},
    }
    for name, content in files.items():
        _write(fact / name, content)
    for name in "abcd":
        _write(fact / f"data/all_csv/{name}.csv", None)
    (fact / "data/all_csv/a.csv").write_text("city#people\noslo#7\nbergen#3\n", "utf-8")
    evaluated: dict[str, object] = {"data/val_lm.json": {}, "data/test_lm.json": {"b.csv": []}}
    monkeypatch.setattr(
        "spor_tasks.corpora.sources.Repository.read_published",
        lambda _, path, __=None: json.dumps(evaluated[path]).encode(),
    )
    monkeypatch.setenv("TABFACT_DATA_DIR", str(fact))
    logic.mkdir()
    return fact, logic


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")


def test_true_statements_of_complex_training_tables_are_samples(folders: tuple[Path, Path]) -> None:
    found = tabfact.samples(*folders)
    assert [sample.target for sample in found] == [
        "oslo has the most people",
        "bergen has 3 people",
    ]
    first = found[0]
    assert first.corpus == "logicnlg"
    assert first.references == ("oslo has the most people", "bergen has 3 people")
    assert [unit[-1] for unit in first.units] == ["0", "1"]
    assert first.about("template") == "[ENT] has the most [ENT]"
    assert first.about("title") == "norway"
    assert first.about("name") == "a.csv"


def test_all_collected_statements_are_read_where_they_are(folders: tuple[Path, Path]) -> None:
    collected = {"a.csv": [["oslo has 7 people", "oslo has 3 people"], [1, 0], "norway"]}
    _write(folders[0] / "collected_data/r2_training_all.json", collected)
    assert [sample.target for sample in tabfact.samples(*folders)] == ["oslo has 7 people"]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("pairwise_data/complex_train_pairs.json", [["a.csv", "true"]]),
        ("pairwise_data/complex_train_pairs.json", [["a.csv", None, "false"]]),
        ("collected_data/r2_training_all.json", {"a.csv": [["one"], [1, 0]]}),
        ("data/table_to_page.json", []),
        ("data/table_to_page.json", {"z.csv": ["title"]}),
    ],
)
def test_what_is_wrong_is_named(folders: tuple[Path, Path], file: str, content: object) -> None:
    _write(folders[0] / file, content)
    with pytest.raises(CorpusError) as caught:
        tabfact.samples(*folders)
    assert Path(file).name in str(caught.value.where)


def test_a_missing_file_is_named(folders: tuple[Path, Path]) -> None:
    (folders[0] / "data/train_id.json").unlink()
    with pytest.raises(CorpusError) as caught:
        tabfact.samples(*folders)
    assert caught.value.remedy


@pytest.mark.soak
def test_the_published_tables_have_statements(logicnlg_dir: Path) -> None:
    found = tabfact.samples(logicnlg=logicnlg_dir)
    names = {sample.about("name") for sample in found}
    parts = (reader.read_part("val", logicnlg_dir), reader.read_part("test", logicnlg_dir))
    evaluated = {sample.about("name") for part in parts for sample in part}
    assert (len(found), len(names)) == (4109, 4099)
    assert names.isdisjoint(evaluated)
