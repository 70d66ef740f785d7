"""The page and its plots: what stands in them, and that nothing of a model's is markup."""

import base64
import gzip
import hashlib
import json
import re
import shutil
from collections import Counter
from html import unescape
from itertools import product
from pathlib import Path
from unittest.mock import Mock, patch
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from spor_tasks import report
from spor_tasks.core.codec import sample_of
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.core.visible import visible
from spor_tasks.report import browser, page
from spor_tasks.report.answers import Answers
from spor_tasks.report.browser import browse
from spor_tasks.report.grid import Grid, Number
from spor_tasks.report.marking import mark
from spor_tasks.report.plots import draw
from spor_tasks.report.tables import legend_of
from spor_tasks.report.templates import template
from spor_tasks.results import samples as logged_samples
from spor_tasks.results.runs import Problem
from tests.support import invented_runs
from tests.support.html import chunk, packed_rows, page_of, tags_of
from tests.support.invented_runs import EVIL_MODEL, HOSTILE, town
from tests.support.result_files import rows_of, write_result, write_rows

TASK = "spor_systematicity_mini"


def write_run(folder, name, samples, **settings):
    """Write a run with one output for all samples."""
    count = len(samples)
    rows = rows_of(samples, [["Greyport."]] * count, [{"parent": 40.0}] * count)
    for row in rows[1:]:
        row["doc"]["prompt"] = name
    return write_rows(folder / f"results_{name}.json", rows, task=TASK, **settings)


@pytest.fixture(scope="module")
def written(invented, tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    assert not report.write([invented], folder).problems
    return folder


@pytest.fixture(scope="module")
def html(written):
    return (written / report.PAGE).read_text("utf-8")


def test_nothing_comes_from_what_others_wrote_or_is_loaded_from_anywhere(html):
    assert EVIL_MODEL not in html
    assert "window.broken = true" not in html
    names = [tag for tag, _ in tags_of(html)]
    assert {"iframe", "object", "embed", "base"}.isdisjoint(names)
    assert names.count("svg") == 2 * html.count('<figure class="plot') > 0  # one is for phones
    assert "img" not in names
    assert names.count("script") == html.count('id="chunk-') + 1
    for tag, attributes in tags_of(html):
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in {"src", "href", "srcset", "data", "action"} & attributes.keys():
            assert (attributes[name] or "#").startswith(("#", "data:")), (tag, name)
    assert not re.search(r"@import|url\((?!#)", html)


def test_the_policy_allows_the_page_s_own_script_and_style_alone(html):
    policies = (each for _, each in tags_of(html) if "http-equiv" in each)
    (policy,) = (each["content"] for each in policies)
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_ids_are_unique_and_links_lead_somewhere(html):
    attributes = [attributes for _, attributes in tags_of(html)]
    ids = [each["id"] for each in attributes if "id" in each]
    assert len(set(ids)) == len(ids)
    links = {each["href"] for each in attributes if (each.get("href") or "").startswith("#")}
    assert {link[1:] for link in links} <= set(ids)


def test_every_sample_and_output_is_in_the_page_as_it_was_logged(html, invented):
    tests = chunk(html, 0)["tests"]
    arms = ("as is", "atom", "combination")
    facets = [(run["facets"]["model"], run["facets"]["arm"]) for run in tests[0]["runs"]]
    assert facets == list(product(("base", EVIL_MODEL), arms))
    assert [each["units"] for each in tests[0]["traits"]] == [2 + n % 3 for n in range(24)]
    outcomes = [row for test in tests for run in test["runs"] for row in packed_rows(html, run)]
    outputs = {output["marked"]["output"] for outcome in outcomes for output in outcome["outputs"]}
    files = invented.glob("samples_*.jsonl")
    logged = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert outputs == {output for row in logged for (output,) in row["resps"]}
    assert set(HOSTILE) < outputs
    packed = [row for test in tests for row in packed_rows(html, test)]
    shown = {(row["id"], json.dumps(row["units"]), *row["references"]) for row in packed}
    samples = [sample_of(row["doc"]) for row in logged]
    assert shown == {(each.id, json.dumps(each.units), *each.references) for each in samples}


def test_the_same_files_are_the_same_page(written, invented, tmp_path):
    report.write([invented], tmp_path)
    one, other = (
        {
            str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest()
            for each in folder.rglob("*.*")
        }
        for folder in (written, tmp_path)
    )
    assert one == other
    texts = {f"report.{ending}" for ending in ("csv", "json", "md", "tex")}
    assert {*texts, "page.html", "plots/gaps.svg"} <= one.keys()


def test_a_report_replaces_another_one_whole_or_not_at_all(written, tmp_path, monkeypatch):
    """The plots of the former report go, and what is not of a report stays."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    kept = tmp_path / "plots" / "mine.svg"
    kept.touch()
    former = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    write_result(tmp_path / "runs" / "results_1.json")
    with monkeypatch.context() as patched:
        patched.setattr(page, "page", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            report.write([tmp_path / "runs"], tmp_path)
    assert former.items() <= {p: p.read_bytes() for p in tmp_path.rglob("*.*")}.items()
    assert not [*tmp_path.rglob("*.partial")]
    report.write([tmp_path / "runs"], tmp_path)
    assert [*(tmp_path / "plots").iterdir()] == [kept]
    (tmp_path / report.PAGE).unlink()
    (tmp_path / report.PAGE).mkdir()
    with pytest.raises(ConfigError) as caught:
        report.write([tmp_path / "runs"], tmp_path)
    assert str(caught.value.where).endswith(report.PAGE)
    assert not [*tmp_path.rglob("*.partial")]


def test_text_stands_out_in_the_light_and_in_the_dark():
    """Contrast of at least 4.5 to 1 (WCAG AA), for text on the page, cards and headers."""

    def luminance(color):
        parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    style = Path(page.__file__).with_name("page.css").read_text("utf-8")
    colors = {
        name: list(map(luminance, pair))
        for name, *pair in re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\);", style)
    }
    for back, text in product(("paper", "card", "sunk"), ("ink", "soft", "accent", "good", "bad")):
        for pair in zip(colors[back], colors[text], strict=True):
            assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 4.5


def test_boards_with_several_systems_are_on_the_page(html):
    board = html.partition('id="leaderboard"')[2].partition("</section>")[0]
    first = board.partition("</figure>")[0]
    assert len(re.findall("<tr>", first.partition("<tbody>")[2])) == 4  # two models, two arms
    assert "Holm" in board


def test_long_runs_are_packed_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(browser, "SIZE", 10)
    html = page_of(invented_runs.write(tmp_path, count=24, models=["base"]))
    run = chunk(html, 0)["tests"][0]["runs"][0]
    assert [len(chunk(html, number)) for number in run["chunks"]] == [10, 10, 4]


def test_runs_of_one_arm_and_seed_have_names_of_their_own(tmp_path):
    write_run(tmp_path, "first", [town(0)], arm="atom")
    write_run(tmp_path, "second", [town(0), town(1)], arm="atom")
    (test,) = chunk(page_of(tmp_path), 0)["tests"]
    assert [run["name"] for run in test["runs"]] == ["atom, seed 0", "atom, seed 0 (2)"]


def test_runs_of_some_samples_share_them_with_runs_of_others(tmp_path):
    units = (AttributeValue("food", "eel"), AttributeValue("area", "sea"))
    pairs = Sample("1", "viggo", units, (), {"act": "inform"})
    samples = [town(0), town(1), pairs]
    write_run(tmp_path, "atom", samples[:2], arm="atom")
    write_run(tmp_path, "combination", samples[2:0:-1], arm="combination")
    html = page_of(tmp_path)
    (test,) = chunk(html, 0)["tests"]
    assert [run["samples"] for run in test["runs"]] == [[0, 1], [2, 1]]
    assert [row["id"] for row in packed_rows(html, test)] == [sample.id for sample in samples]
    shared = packed_rows(html, test)[1]["inputs"]
    own = [[row.get("inputs") for row in packed_rows(html, run)] for run in test["runs"]]
    assert (shared, own) == (["atom"], [[None, None], [None, ["combination"]]])
    traits = test["traits"][2]
    assert (traits["category"], traits["predicate"]) == ("inform", ["food", "area"])


def test_documents_are_read_as_often_for_many_runs_as_for_one(tmp_path):
    def count():
        with patch.object(logged_samples, "sample_of", wraps=sample_of) as reading:
            page_of(tmp_path)
        return reading.call_count

    towns = list(map(town, range(8)))
    write_run(tmp_path, "a", towns)
    (of_first,) = tmp_path.glob("samples_*")
    alone = count()
    for name in "bcd":
        write_run(tmp_path, name, towns, model=name)
        of_first.with_stem(of_first.stem[:-1] + name).write_bytes(of_first.read_bytes())
    assert count() == alone


def test_tables_with_a_page_are_those_without_and_read_a_file_no_second_time(tmp_path):
    towns = list(map(town, range(8)))
    for name, model in zip("abcdef", "uvwxyy", strict=True):  # the last is a copy, in no row
        write_run(tmp_path, name, towns, model=model)
    cut, short, foreign, *_ = sorted(tmp_path.glob("samples_*"))
    cut.write_bytes(cut.read_bytes()[:-40])
    short.write_bytes(b"".join(short.read_bytes().splitlines(keepends=True)[:-1]))
    foreign.write_text(foreign.read_text().replace('"parent": 40.0', '"parent": 41.0'))
    alone = report.write([tmp_path])
    with patch.object(logged_samples, "open_file", wraps=logged_samples.open_file) as opening:
        assert report.write([tmp_path], tmp_path / "out") == alone
    opened = Counter(call.args[0] for call in opening.call_args_list)
    assert sorted(opened.values()) == [1, 1, 1, 1, 1, 2]  # one is read for floors
    assert sum(problem.kind == "samples" for problem in alone.problems) == 3


def test_a_damaged_sample_file_is_shown_up_to_the_damage(tmp_path):
    write_run(tmp_path, "a", list(map(town, range(8))))
    (file,) = tmp_path.glob("samples_*")
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:5], lines[5][:40]]))
    html = page_of(tmp_path)
    assert len(chunk(html, 0)["tests"][0]["runs"][0]["faults"]) == 5
    assert "the samples from here on are left out" in html
    assert f"{file}:6" in html.replace("<wbr>", "")
    file.write_text("{")
    browsed = browser.browse(report.collect([tmp_path]).samples)
    assert (browsed.chunks, browsed.outcomes) == ((), ())
    assert [problem.kind for problem in browsed.problems] == ["samples"]


def test_legends_explain_what_is_in_their_table():
    plain, tested = ("a", Number("1.00")), ("a", Number("1.00", "0.5, 1.5", "†"))
    none, some = (Grid("", "", ("model", "x"), {"run": [line]}) for line in (plain, tested))
    assert legend_of(none) == ""
    assert legend_of(some).startswith("[low, high]: 95 % interval. Difference")
    base = Grid("", "", ("model", "as is"), {"run": [plain]})
    assert legend_of(base) == "As is: neither tuned nor shown examples."


def test_a_page_may_have_tables_alone(tmp_path):
    write_result(tmp_path / "results_1.json")
    report.write([tmp_path], tmp_path)
    html = (tmp_path / report.PAGE).read_text("utf-8")
    assert 'id="chunk-0"' not in html
    assert "40.00" in html
    assert re.search(
        r'data-value="[\d.]+">[^<]+ <span class="spread">\[[^<]+ <span class="reason">\[a\]<',
        html.replace("</span>", ""),
    )
    assert ">Combination<" not in html
    assert "No result of combination (spor train CONFIG data.arm=combination)." in html
    assert 'id="plots"' not in html
    assert 'id="leaderboard"' not in html  # of one system


# --- Whatever others wrote ------------------------------------------------------------------------


anything = st.text(st.characters(exclude_categories=[]), max_size=40) | st.text("<>&\"'`=/ -!")
# What was logged as JSON has no two halves of a pair side by side.
texts = st.sampled_from(HOSTILE) | anything.filter(lambda x: json.loads(json.dumps(x)) == x)
PAGE = template("page.html.j2")
EMPTY = dict.fromkeys(
    ("tables", "answers", "problems", "sections", "chunks", "trials", "introductions"), ()
) | {"plots": {"plots": (), "where it fails": ()}}
TEXTS = ("version", "name", "title", "facts", "style", "script", "footer")


def rendered(**content):
    more = {"digests": ("", ""), "legend_of": legend_of}
    return PAGE.render({**EMPTY, **dict.fromkeys(TEXTS, ""), **more, **content})


def in_a_table(text):
    name = f"a{text}"  # which is never a number
    lines = {"run": [(name, "1")], "published": [(name, "2")]}
    grid = Grid(text, text, (name, "n"), lines, {"a": text})
    return rendered(tables=[("tables", name, [grid])])


def in_an_answer(text):
    return rendered(answers=[Answers(text, [text])])


def in_a_problem(text):
    return rendered(problems=[Problem("kind", text, text)])


@pytest.mark.parametrize("shown_in", [in_a_table, in_an_answer, in_a_problem])
@given(text=texts)
def test_a_text_adds_no_element_and_no_attribute(shown_in, text):
    html, plain = shown_in(text), shown_in("plain" if text else "")
    one, other = (
        [(tag, [*attributes]) for tag, attributes in tags_of(each) if tag != "wbr"]
        for each in (html, plain)
    )
    assert one == other
    assert unescape(re.sub(r"<[^>]*>", "", html)).count(visible(text)) >= 2 or not text.strip()
    html.encode()


def test_lines_end_at_slashes_and_not_inside_a_p_or_a_number_of_samples():
    html = in_an_answer("a/b-c gains 3, p < 0.0001 (n = 20)")
    assert (
        "<li>a/<wbr>b-c gains 3, p&nbsp;&lt;&nbsp;0.0001 (n&nbsp;=&nbsp;20)</li>"
        in html.replace("\N{NO-BREAK SPACE}", "&nbsp;")
    )


@given(st.lists(texts, max_size=5))
def test_outputs_are_packed_as_they_are(outputs):
    sample = town(2)
    rows = to_builtins([mark(sample, output, output) for output in outputs])
    packed = browser._packed(browser._json(rows))
    assert re.fullmatch(r"[A-Za-z0-9+/=]*", packed)
    found = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert [row["output"] for row in found] == outputs


def plots_of(folder):
    found = report.collect([folder])
    return {plot.name: plot for plot in draw(found.measured, browse(found.samples).outcomes)}


def words(plot):
    """The texts of a plot; characters that XML must escape stay escaped."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", plot.svg)


def test_plots_have_a_row_for_each_model_and_task(invented):
    plots = plots_of(invented)
    assert list(plots) == ["gaps", "order", "units", "categories"]
    for plot in plots.values():
        for svg in (plot.svg, plot.narrow):
            ET.fromstring(svg)  # noqa: S314 - our own
            assert "<image" not in svg
            assert EVIL_MODEL not in svg
    gaps, units = words(plots["gaps"]), words(plots["units"])
    assert {"Systematicity", "Order invariance", "as is"} <= set(gaps)
    assert sum("Faithful ordering PBH" in word for word in gaps) == 2
    assert sum(re.fullmatch(r"[+−]\d+\.\d\d[†‡]?", word) is not None for word in gaps) == 4
    assert "$\\frac" in "".join(gaps)
    assert "\u202e" not in "".join(gaps)
    assert sum(word.endswith("PARENT") for word in units) == 2  # of two models
    assert {f"{number} (n = 8)" for number in (2, 3, 4)} <= set(units)
    markers = re.findall(
        r'<path d="M[\d.]+ [\d.]+([^"]+)" [^>]*stroke="(#\w+)"', plots["units"].svg
    )
    blue, vermilion = ({m for m, h in markers if h == hue} for hue in ("#0072b2", "#d55e00"))
    assert min(len(blue), len(vermilion)) > 0
    assert blue.isdisjoint(vermilion)  # a hue has markers of its own


def test_scores_are_also_by_the_share_of_pairs_that_an_arm_shows(tmp_path):
    """All samples are no group: Atom shows none of their pairs."""
    for arm, value in (("atom", 20.0), ("combination", 60.0)):
        samples = list(map(town, range(12)))
        values = [{"parent": value + number} for number in range(12)]
        rows = rows_of(samples, [["Greyport."]] * 12, values)
        for number, row in enumerate(rows):
            row["doc"]["shown_pairs"] = {"atom": 0.0, "combination": number // 4 / 2}
        write_rows(tmp_path / f"results_{arm}.json", rows, arm=arm, task=TASK)
    plot = plots_of(tmp_path)["pairs"]
    assert [word for word in words(plot) if ": " in word and "%" in word] == [
        f"combination: {share} (n = 4)" for share in ("0 %", "50 to 99 %", "100 %")
    ]
    means = re.findall(r"<title>([^<]*)", plot.svg)  # four clusters give no interval
    assert means == ["21.50", "61.50", "25.50", "65.50", "29.50", "69.50"]
    (test,) = chunk(page_of(tmp_path), 0)["tests"]
    assert test["traits"][0]["pairs"] == ["atom: 0 %", "combination: 0 %"]


def test_a_group_has_no_surer_mean_than_its_clusters_allow(tmp_path):
    """Neither one sample nor copies of it have an interval, and no end is off the scale."""
    samples = [
        *(town(0) for _ in range(8)),
        *(town(6 * n + 1, f"Town {n}") for n in range(8)),
        town(2),
    ]
    rows = rows_of(
        samples,
        [["Greyport."]] * len(samples),
        [{"parent": value} for value in ([*([99.0, 98.0] * 4), *([0.0, 100.0] * 4), 75.0])],
    )
    for number, row in enumerate(rows):
        row["doc"]["id"] = f"sample{number}"
    write_rows(tmp_path / "results_1.json", rows, arm="atom", task=TASK)
    plot = plots_of(tmp_path)["units"]
    assert [word for word in words(plot) if "(n = " in word] == [
        f"{units} (n = {n})" for units, n in ((2, 8), (3, 8), (4, 1))
    ]
    copies, apart, one = re.findall(r"<title>([^<]*)", plot.svg)
    assert (copies, one) == ("98.50", "75.00")
    low, high = map(float, re.search(r"50\.00 \[(.*), (.*)\]", apart).groups())
    assert 0 <= low < 20
    assert 80 < high <= 100


def test_one_arm_has_no_plot_and_arms_without_samples_have_that_of_gaps(tmp_path):
    write_result(tmp_path / "results_atom.json", arm="atom", parent=40.0)
    assert plots_of(tmp_path) == {}
    write_result(tmp_path / "results_combination.json", arm="combination", parent=40.0)
    assert list(plots_of(tmp_path)) == ["gaps"]


def test_a_caption_speaks_of_seeds_where_there_are_several(tmp_path):
    for seed, start in ((0, "Scores with"), (1, "Means over seeds, where there are several, with")):
        for arm in ("atom", "combination"):
            write_run(tmp_path, f"{arm}-{seed}", [town(n) for n in range(8)], arm=arm, seed=seed)
        plots = plots_of(tmp_path)
        assert plots["gaps"].caption.startswith(f"{start} 95 % intervals. ")
        assert ("seeds" in plots["units"].caption) == bool(seed)
        assert "Filled" not in plots["gaps"].caption  # a phone shows differences as numbers


def test_a_long_name_is_cut_before_a_slash(tmp_path):
    for arm in ("atom", "combination"):
        model = f"../venv/site-packages/{'x' * 20}/pretrained"
        write_result(tmp_path / f"results_{arm}.json", arm=arm, model=model)
    assert f"…/{'x' * 20}/pretrained" in words(plots_of(tmp_path)["gaps"])
