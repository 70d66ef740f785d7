"""`spor score`: what it prints, what it reads, and how it fails."""

import gc
import io
import json
import re
import sys
from itertools import count

import pytest

from spor_tasks import cli
from spor_tasks.core.registry import registry
from spor_tasks.evaluation import score as scoring
from spor_tasks.results import runs
from spor_tasks.results.samples import find
from tests.conftest import REPOSITORY
from tests.support.classifiers import save_bert, save_gpt2
from tests.support.rows import write_rows

CAFE = [["food", "Basque"], ["area", "quayside"]]
ROW = {"name": "The Gull", "data": CAFE, "output": "Basque food by the quayside."}
UNSAID = {**ROW, "output": "Nothing of it."}
CWIO = "--metric cwio --corpus e2e"


def test_scores_stand_in_a_table_over_their_signature(tmp_path, spor):
    printed = spor(f"score {write_rows(tmp_path / 'outputs', ROW, UNSAID)} {CWIO}")
    head, *rows, blank, signature = printed.splitlines()
    assert head.split() == ["score", "value", "n", "unscored"]
    assert [row.split() for row in rows] == [
        ["cwio", "1.0000", "2", "0"],
        ["cwio_located", "1.0000", "1", "1"],
        ["cwio_located_share", "50.0000", "2", "0"],
    ]
    assert blank == ""
    assert signature.startswith("cwio|")


def test_intervals_and_paired_tests_are_printed(tmp_path, spor):
    file, other = (
        write_rows(tmp_path / name, row, {**row, "data": [CAFE[0], ["near", "quayside"]]})
        for name, row in (("ours", ROW), ("theirs", UNSAID))
    )
    printed = spor(f"score {file} {CWIO} --interval --compare {other}")
    lines = [line.split() for line in printed.splitlines()]
    # two of two say 100: so would one in forty pairs, if only 16 % of all were 100
    assert lines[5][:8] == [
        "cwio_located_share",
        "ours",
        "100.0000",
        "2",
        "0",
        "15.8114",
        "to",
        "100.0000",
    ]
    assert " ".join(lines[0]).endswith("difference its interval p Holm's p")
    assert (lines[1][:5], lines[1][8]) == (["cwio", "ours", "1.0000", "2", "0"], "+0.0000")
    assert lines[2][:5] == ["cwio", "theirs", "1.0000", "2", "0"]
    assert lines[3] == ["cwio_located", "ours", "1.0000", "2", "0", *lines[3][5:8], "+nan"]
    assert lines[5][8] == "+100.0000"
    assert "Those of cwio_located_share are exact (McNemar)." in printed


def test_several_systems_stand_in_one_table_with_paired_tests(tmp_path, spor):
    rows = [{**ROW, "data": [["food", f"dish {n}"], CAFE[1]]} for n in range(12)]
    files = [
        write_rows(tmp_path / name, *({**row, "output": say(n)} for n, row in enumerate(rows)))
        for name, say in (
            ("none", "It.".format),
            ("half", "Dish {} food.".format),
            ("all", "Dish {} food at the quayside.".format),
        )
    ]
    names = " ".join(map(str, files))
    printed = spor(f"score {names} --corpus e2e --metric coverage,empty --interval")
    head, *lines = [line.split() for line in printed.split("\n\n")[0].splitlines()]
    assert head[:3] == ["score", "system", "value"]
    assert [line[:3] for line in lines[:3]] == [
        ["coverage", "none", "0.0000"],
        ["coverage", "half", "50.0000"],
        ["coverage", "all", "100.0000"],
    ]
    assert "12 samples in 12 clusters" in printed
    found = json.loads(spor(f"score {names} --corpus e2e --metric coverage,empty --json"))
    tests = {(each["score"], each["system"]): each for each in found["comparisons"]}
    assert {*tests} == {(s, str(f)) for s in ("coverage", "empty") for f in files[1:]}
    for (score, file), each in tests.items():
        values = {s["system"]: s["value"] for s in found["scores"] if s["name"] == score}
        assert each["difference"] == values[file] - values[str(files[0])]
        assert each["baseline"] == str(files[0])
    ordered = sorted(each["p"] for each in tests.values())
    assert min(each["p_holm"] for each in tests.values()) == pytest.approx(4 * ordered[0])


def test_a_row_of_evidence_of_several_systems_names_its_system(tmp_path, spor):
    first, second = (write_rows(tmp_path / name, ROW) for name in ("a", "b"))
    out = tmp_path / "out.jsonl"
    spor(f"score {first} {second} {CWIO} --per-sample {out}")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["system"] for row in rows] == [str(first), str(second)]
    spor(f"score {first} {CWIO} --compare {second} --per-sample {out} --overwrite")
    (row,) = map(json.loads, out.read_text().splitlines())
    assert "system" not in row


def test_an_existing_file_is_replaced_on_request_alone(tmp_path, spor):
    rows, out = write_rows(tmp_path / "rows", ROW), tmp_path / "notes.txt"
    commands = (
        f"score {rows} {CWIO} --per-sample {out}",
        f"baseline copy-input spor_systematicity_mini --limit 1 --out {out}",
    )
    for command in commands:
        out.write_text("mine")
        assert f"{out}: already exists" in spor(command, ends=2)
        assert out.read_text() == "mine"
        spor(f"{command} --overwrite")
        assert json.loads(out.read_text())


def test_evidence_replaces_no_file_that_is_read(tmp_path, spor):
    first, second = (write_rows(tmp_path / name, ROW) for name in ("a", "b"))
    link = tmp_path / "link"
    link.symlink_to(second)
    before = second.read_text()
    for named in (f"{first} {second}", f"{first} --compare {second}"):
        for out in (second, link):
            assert "would be replaced" in spor(f"score {named} {CWIO} --per-sample {out}", ends=2)
    assert second.read_text() == before


def test_what_is_printed_stays_in_its_scale_and_claims_nothing_from_three_clusters(tmp_path, spor):
    foods = ("Basque", "Thai", "French")
    rows = [{**ROW, "data": [["food", food], CAFE[1]]} for food in foods]
    all_, none, half = (
        write_rows(
            tmp_path / name,
            *(
                {**row, "output": output}
                for row in rows[: len(outputs)]
                for output in [outputs[rows.index(row)]]
            ),
        )
        for name, outputs in (
            ("all", [f"{food} food, quayside." for food in foods]),
            ("none", ["It."] * 3),
            ("half", ["Basque food.", "Thai food, quayside.", "It."]),
        )
    )
    for file, other in ((all_, none), (all_, half), (half, none), (all_, all_)):
        command = f"score {file} --metric coverage --corpus e2e --interval --compare {other}"
        printed = json.loads(spor(f"{command} --json"))
        for score in printed["scores"]:
            if score["value"] == 50:  # a bootstrap of three clusters is far too narrow
                why = "no interval of a score: fewer than six clusters"
                assert (score["interval"], score["reason"]) == (None, why)
                assert f"{why.capitalize()} (coverage)." in spor(command)
                continue
            low, high = score["interval"]  # all clusters agree: it is exact
            assert 0 <= low <= score["value"] <= high <= 100
            assert low < high
        (found,) = printed["comparisons"]
        assert found["p"] > 0.2
        assert found["test"] == "randomization"
        assert found["interval"] is None  # three clusters exclude no difference
        assert f"{found['notes'][0].capitalize()} (coverage)." in spor(command)


def test_json_has_signatures_and_null_without_a_value(tmp_path, spor):
    file = write_rows(tmp_path / "outputs", UNSAID)
    printed = spor(f"score {file} {CWIO} --json --interval --compare {file}")
    result = json.loads(printed, parse_constant=pytest.fail)
    assert (result["metrics"], result["corpus"], result["samples"]) == (["cwio"], "e2e", 1)
    scores = {score["name"]: score for score in result["scores"] if score["system"] == str(file)}
    assert scores["cwio_located"]["value"] is scores["cwio_located"]["interval"] is None
    assert scores["cwio"]["interval"] is None  # of one sample
    assert result["samples_sha256"][:16] in scores["cwio"]["signature"]
    found = {each["score"]: each for each in result["comparisons"]}
    assert found["cwio_located"]["difference"] is found["cwio_located"]["p_holm"] is None
    assert found["cwio_located"]["reason"]
    assert (found["cwio"]["n"], found["cwio"]["baseline"]) == (1, f"{file} (2)")


def test_filters_cut_before_scoring(tmp_path, spor):
    output = "<think>\nOf what?</think>\nIt is:\nBasque food.\nBy the quayside."
    file = write_rows(tmp_path / "outputs", {**ROW, "output": output})
    chain = "strip_reasoning,strip_preamble,first_line"
    for option, coverage, signed in (
        ("", 0, ""),
        ("--filter=first_line", 0, ""),
        ("--filter=none", 100, "none"),
        (f"--filter={chain}", 50, chain),
    ):
        printed = spor(f"score {file} --metric coverage --corpus e2e --json {option}")
        (score,) = json.loads(printed)["scores"]
        assert score["value"] == coverage
        assert score["signature"].partition("|filter:")[2] == signed


def test_the_help_has_all_options_and_names_and_a_task_has_its_metrics(spor):
    printed = " ".join(spor("score --help").split())
    for part in ('"output": ', "--classifiers", "--ppl-model", "--references", "a .txt file"):
        assert part in printed
    assert "spor tasks show TASK` the metrics of one, which are the default" in printed
    for kind in ("metric", "corpus"):
        assert all(re.search(rf"\b{name}\b", printed) for name in registry().names(kind))
    shown = " ".join(spor("tasks show totto_mini").split())
    assert "metrics totto, totto_real, empty: what `spor score FILE --task totto_mini`" in shown
    assert "; and with --metric bleurt" in shown
    assert "  metrics" not in spor("tasks show logicnlg_mini_ppl")  # it judges no text
    assert "The nearest names are parent," in spor(f"score x {CWIO} --metric parrent", ends=2)


def test_a_missing_file_and_a_name_like_no_other_are_one_line_of_sense(tmp_path, spor):
    missing = tmp_path / "nosuch.txt"
    for samples in ("--task spor_systematicity_mini", f"--references {missing} --metric chrf"):
        assert f"error: {missing}: does not exist" in spor(f"score {missing} {samples}", ends=2)
    error = spor(f"score {missing} --task nosuch", ends=2)
    assert error == "error: tasks: 'nosuch' is not a task\n  `spor tasks list` names all.\n"


@pytest.mark.parametrize("name", ["ships.csv", "ships.xml"])
def test_rows_of_a_csv_are_named_of_a_csv_alone(name, tmp_path, spor):
    entry = "<entry><modifiedtripleset><mtriple>a | b | c</mtriple></modifiedtripleset><lex>A</lex>"
    of_xml = f"<b>{entry}</entry></b>"
    (tmp_path / name).write_text("mr,ref\nfood[a],A\n" if "csv" in name else of_xml)
    (tmp_path / "out.txt").write_text("A\nB\n")
    options = f"--references {tmp_path / name} --metric chrf"
    error = spor(f"score {tmp_path / 'out.txt'} {options}", ends=2)
    assert ("Rows of a csv" in error) == (name == "ships.csv")
    assert "has 1 samples" in error


@pytest.mark.parametrize("ends", [0, 2])
def test_garbage_is_collected_again_also_after_an_error(ends, tmp_path, spor, monkeypatch):
    during, score = [], scoring.score

    def watched(*files, **options):
        during.append(gc.isenabled())
        return score(*files, **options)

    monkeypatch.setattr(scoring, "score", watched)
    row = {**ROW, "output": None} if ends else ROW
    spor(f"score {write_rows(tmp_path / 'outputs', row)} {CWIO}", ends=ends)
    assert during == [False]
    assert gc.isenabled()


@pytest.mark.parametrize(("pace", "is_terminal"), [(2, True), (0.001, True), (2, False)])
def test_long_judging_shows_a_bar_on_a_terminal(pace, is_terminal, tmp_path, spor, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("tqdm.std.time", count(step=pace).__next__)
    spor(f"score {write_rows(tmp_path / 'outputs', ROW, UNSAID)} {CWIO}")
    assert ("judging: " in stream.getvalue()) == (is_terminal and pace > 1)


def test_samples_of_lm_eval_are_scored_as_they_were(tmp_path, spor):
    (run,) = runs.collect([REPOSITORY / "tests" / "data" / "runs" / "atom"]).runs
    file = find(run).path
    options = "--metric parent --corpus webnlg --json"
    found = json.loads(spor(f"score {file} {options}"))["scores"]
    assert {score["name"]: score["value"] for score in found}["parent"] == pytest.approx(
        run.scores["parent"]
    )
    row = json.loads(file.read_text().partition("\n")[0])
    row["resps"][0][0] = "Nothing.\n" + row["filtered_resps"][0]
    cut = write_rows(tmp_path / "cut", row, {**row, "filter": "other"})
    values = [
        json.loads(spor(f"score {cut} {options} {option}"))["scores"][0]["value"]
        for option in ("", "--filter=none", "--filter=first_line")
    ]
    assert values[0] > values[1] > values[2] == 0
    assert "is not a sample of our tasks" in spor(
        f"score {write_rows(tmp_path / 'x', {**row, 'doc': {}})} {options}", ends=2
    )


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ("Basque food.\nNo food.\n", "`spor baseline copy-input TASK --out FILE`"),
        (json.dumps([[ROW]]), "a sample and its `output`"),
        (json.dumps({"output": "Food."}), "a sample and its `output`"),
        (json.dumps({"name": "A", "data": CAFE, "prediction": "A."}), "Rename `prediction` to"),
    ],
)
def test_the_error_says_how_the_file_should_look(content, remedy, tmp_path, spor):
    (tmp_path / "outputs").write_text(content)
    assert remedy in spor(f"score {tmp_path / 'outputs'} {CWIO}", ends=2)


VALUES = {"sentiment": "Positive", "pronoun": "plural", "tense": "Past"}
TEXTS = ["The pizza was good, and we all ate it in the yard.\n\nIt was late.", "The pizza"]
MCTG = "--metric compmctg --corpus yelp"


@pytest.fixture
def labelled(tmp_path):
    rows = [{"text": text, **VALUES, "unseen": bool(i)} for i, text in enumerate(TEXTS)]
    return write_rows(tmp_path / "labelled.jsonl", *rows)


def test_accuracy_dist_and_perplexity_stand_together(labelled, tmp_path, spor):
    for aspect in VALUES:
        save_bert(tmp_path / "classifiers" / aspect)
    models = f"--classifiers {tmp_path}/classifiers --ppl-model {save_gpt2(tmp_path / 'gpt2', 0)}"
    evidence = tmp_path / "evidence.jsonl"
    options = f"{MCTG} {models} --device cpu --json --per-sample {evidence}"
    found = json.loads(spor(f"score {labelled} {options}"))["scores"]
    scores = {score["name"]: score for score in found}
    assert {"mctg_acc", "mctg_acc_comp", "mctg_gap", "mctg_acc_tense", "dist_3"} <= {*scores}
    assert (scores["mctg_ppl"]["n"], scores["mctg_ppl"]["unscored"]) == (1, 1)
    assert scores["dist_3"]["signature"].endswith("|filter:none")  # both lines count
    first = json.loads(evidence.read_text().splitlines()[0])
    assert first["said"].keys() == VALUES.keys()
    assert first["dist_3"][1] == len(TEXTS[0].split()) - 2


def test_without_classifiers_accuracy_is_missing(labelled, capsys):
    assert cli.main(["score", str(labelled), *MCTG.split(), "--device", "cpu"]) == 0
    printed = capsys.readouterr()
    assert "--classifiers" in printed.err
    assert "dist_3" in printed.out
    assert "acc" not in printed.out


@pytest.mark.parametrize(
    "options",
    [
        f"{MCTG} --model=x",
        "--metric=facts --corpus=e2e --device=cpu",
        "--metric=distinct --corpus=yelp --classifiers=x",
        "--metric=distinct --corpus=yelp --ppl-model=x",
        "--metric=mctg_ppl --corpus=yelp --model=x --label=1",
        "--metric=distinct --corpus=yelp --filter=first_line,last_line",
    ],
)
def test_wrong_options_are_refused(labelled, options, spor):
    assert spor(f"score {labelled} {options}", ends=2).startswith("error: ")
