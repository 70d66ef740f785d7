"""Experiment files and the cells they expand to; nothing here trains."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from spor_tasks.cli import parser
from spor_tasks.core import named
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import task_files
from tests.conftest import REPOSITORY
from training.experiments.experiment import (
    Experiment,
    InContextConfig,
    ModelEntry,
    SetsEntry,
    ShownModel,
)
from training.experiments.plan import choose, expand, load_experiment

FOLDER = REPOSITORY / "configs" / "experiments"
KNOWN = {file.name for file in task_files.files()}
MODELS = (ModelEntry("m", overrides=("model.path=some/base",)),)


def arm_of(cell):
    """Return the arm that a cell trains on or shows."""
    if cell.training:
        return cell.training.data.arm
    before, _, arm = cell.name.rpartition("/shown-")
    return arm if before else None


def test_aspects_that_share_an_arm_share_its_training():
    """Rule learnability tests models tuned on Original, strict sets of the same ones."""
    sets = (
        SetsEntry("order_invariance", ("webnlg",), ("published", "strict")),
        SetsEntry("rule_learnability", ("webnlg",)),
    )
    found = expand(Experiment("x", sets, MODELS, untuned=False))
    assert [cell.name for cell in found] == [
        "m/order_invariance-webnlg-published/original-0",
        "m/order_invariance-webnlg-published/match-0",
    ]
    original, match = (set(cell.tasks) for cell in found)
    assert original - match == {"spor_rule_learnability_webnlg"}
    assert len(match) == 6


def test_what_is_left_out_is_the_default_and_every_part():
    def names(**settings):
        entry = SetsEntry(**settings)
        found = expand(Experiment("x", (entry,), MODELS, untuned=False))
        first = named.find(entry.aspect, entry.corpora[0]).arms[0]
        return [task for cell in found for task in cell.tasks if arm_of(cell) == first]

    assert names(aspect="productivity", corpora=("e2e",)) == [
        "spor_productivity_e2e_n3",
        "spor_productivity_e2e_n4",
        "spor_productivity_e2e_n5",
    ]
    assert names(aspect="productivity", corpora=("mini",), parts=("n4",)) == [
        "spor_productivity_mini_n4"
    ]
    other = names(aspect="systematicity", corpora=("mini",), tasks=("spor_order_invariance_mini",))
    assert other == [
        f"spor_order_invariance_mini_{part}" for part in ("cwio", "main", "performance")
    ]
    # One part of it is a variant that a file must name.
    strict = {"aspect": "systematicity", "corpora": ("e2e",), "protocols": ("strict",)}
    assert names(**strict) == ["spor_systematicity_e2e_strict"]


def test_twins_test_what_was_tuned_without_them():
    known = SetsEntry("systematicity", ("e2e",), arms=("atom",))
    found = expand(Experiment("x", (known, replace(known, protocols=("twin",))), MODELS))
    tasks = ("spor_systematicity_e2e", "spor_systematicity_e2e_twin")
    assert {str(cell.sets) for cell in found} == {"systematicity e2e published"}
    assert all(cell.tasks == tasks for cell in found)


def test_checkpoints_are_shown_demonstrations_of_each_arm_and_part():
    shown = InContextConfig(models=(ShownModel(name="shown", path="some/model"),))
    cells = expand(Experiment("x", (SetsEntry("productivity", ("mini",)),), in_context=shown))
    assert all(cell.training is None for cell in cells)
    assert [(cell.name, cell.tasks) for cell in cells] == [
        (
            f"shown/productivity-mini-strict-{part}/shown-{arm}",
            (f"spor_productivity_mini_{part}_icl_{arm}",),
        )
        for part in ("n3", "n4")
        for arm in ("invisible", "visible")
    ]


def write(folder, text):
    file = folder / "some.yaml"
    file.write_text(text)
    return file


LEAST = (
    "{name: some, sets: [{aspect: systematicity, corpora: [mini]}],"
    " models: [{name: m, overrides: [model.path=base]}]}"
)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("name: some", "nam: some", "nam: "),
        ("corpora", "corpus", "sets.0.corpus: "),
        ("[mini]", "mini", "sets.0.corpora: "),
        ("[mini]", "[maxi]", "'systematicity maxi'"),
        ("[mini]", "[mini], parts: [n3]", "'systematicity mini strict n3'"),
        ("[mini]", "[mini], arms: [atoms]", "'atoms'\n  Its arms are atom and combination"),
        ("[mini]", "[mini], protocols: [lax]", "'systematicity mini lax'"),
        ("[mini]", "[mini], tasks: [spor_min]", "'spor_min'"),
        ("name: m", "name: a/b", "models.0.name: "),
        ("name: m, ", "", "models.0.name: "),
        ("model.path=base", "modle.path=3", "modle: "),
        ("name: some", "name: some, evaluation: {limit: 0}", "evaluation.limit: "),
        ("{name: m, overrides: [model.path=base]}", "gone.yaml", "gone.yaml: does not exist"),
        ("{name: m, overrides: [model.path=base]}", "", "there is nothing to do"),
        ("models: [", "models: [{name: m}, ", "two models have the name m"),
    ],
)
def test_a_fault_is_named_with_its_place(old, new, named, tmp_path):
    file = write(tmp_path, LEAST)
    assert len(expand(load_experiment(file))) == 3
    assert old in LEAST
    with pytest.raises(ConfigError) as caught:
        load_experiment(write(tmp_path, LEAST.replace(old, new)))
    assert named in str(caught.value)
    assert caught.value.where is not None


def test_a_model_file_yields_to_the_experiment_and_both_to_the_command_line(tmp_path):
    (tmp_path / "models").mkdir()
    model = "{model: {path: base}, lora: {r: 2, lora_alpha: 2, lora_dropout: 0.2}}"
    (tmp_path / "models" / "tiny.yaml").write_text(model)
    text = LEAST.replace("{name: m, overrides: [model.path=base]}", "models/tiny.yaml").replace(
        "name: some", "name: some, overrides: [lora.lora_alpha=4, lora.lora_dropout=0.4]"
    )
    overrides = ["seeds=[3]", "evaluation.limit=5", "lora.lora_dropout=0.5", "untuned=no"]
    found = load_experiment(write(tmp_path, text), overrides)
    cells = expand(found)
    assert found.evaluation.limit == 5
    assert [cell.name.rpartition("/")[2] for cell in cells] == ["atom-3", "combination-3"]
    config = cells[0].training
    assert config
    assert cells[0].name.startswith("tiny/")
    assert [config.lora[key] for key in ("r", "lora_alpha", "lora_dropout")] == [2, 4, 0.5]
    assert config.output == Path("runs/some") / cells[0].name / "adapter"
    with pytest.raises(ConfigError, match=r"evaluation\.limits"):
        load_experiment(write(tmp_path, LEAST), ["evaluation.limits=5"])


@pytest.mark.parametrize(
    ("override", "nearest"),
    [("seed=1", "seeds"), ("optimisation.epochs=1", "optimization"), ("evaluate.limit=1", "eval")],
)
def test_an_override_of_nothing_gets_the_nearest(override, nearest, tmp_path):
    with pytest.raises(ConfigError, match="there is no such setting") as caught:
        load_experiment(write(tmp_path, LEAST), [override])
    assert nearest in caught.value.remedy.split(". ")[0]


def test_patterns_choose_cells_by_parts_of_their_names():
    cells = expand(Experiment("x", (SetsEntry("systematicity", ("mini", "e2e")),), MODELS))
    assert choose(cells, []) == cells
    assert {arm_of(cell) for cell in choose(cells, ["atom"])} == {"atom"}
    names = [cell.name for cell in choose(cells, ["e2e*comb", "mini-strict/untuned"])]
    assert names == [
        "m/systematicity-e2e-published/combination-0",
        "m/systematicity-mini-strict/untuned",
    ]
    with pytest.raises(ConfigError, match="no cell has 'atomic' in its name"):
        choose(cells, ["atom", "atomic"])


# --- The files that are shipped ------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.stem)
def test_a_file_names_each_cell_once_and_the_commands_of_its_header_are_valid(file):
    experiment = load_experiment(file)
    cells = expand(experiment)
    assert len({cell.name for cell in cells}) == len(cells)
    for cell in cells:
        assert cell.folder == experiment.folder / cell.name
        assert cell.tasks
        assert KNOWN.issuperset(cell.tasks)
        if config := cell.training:
            data, name = config.data, f"/{config.data.arm}-{config.optimization.seed}"
            named_so = (data.aspect, data.corpus, data.protocol, data.part)
            assert named_so == (*cell.sets.named.values(),)
            assert cell.name.endswith(name)
            assert config.output == cell.folder / "adapter"
    header = file.read_text().partition(f"\nname: {file.stem}")[0].replace("\\\n#", "")
    command = f"spor run configs/experiments/{file.name}"
    for line in header.splitlines():
        if command in line:
            words = shlex.split(line.partition(command)[2])
            options = parser().parse_args(["run", str(file), *words])
            choose(expand(load_experiment(file, options.overrides)), options.only)
