"""`spor push`: only results that could be verified are sent, and nothing else of a machine.

A stand-in for the Hub's client takes what the client takes.
"""

import gzip
import json
import tracemalloc
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from unittest.mock import create_autospec

import pytest
import yaml
from huggingface_hub import CommitInfo, HfApi, get_session

from spor_tasks import cli
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.corpora.sources import LICENCES, Licence
from spor_tasks.report import publish
from tests.support.result_files import edited
from tests.support.whole_runs import HARMS, harm, whole_set, write_whole

TASK = "spor_productivity_mini_n4"
COMMIT, REQUEST = (f"https://huggingface.co/me/runs/{end}" for end in ("commit/1", "discussions/1"))


def sent(*paths):
    """Return the names of the files, and the card's head and text; nothing else changes."""
    before = Path.cwd()
    with publish.packed(paths, "dataset") as folder:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        _, top, text = (folder / "README.md").read_text().split("---\n", 2)
        names = [path.relative_to(folder).as_posix() for path in files]
    assert Path.cwd() == before
    return names, yaml.safe_load(top) or {}, text


def refused(*paths):
    before = Path.cwd()
    with pytest.raises(ResultError) as caught:
        sent(*paths)
    assert caught.value.where
    assert Path.cwd() == before
    return caught.value


@pytest.mark.parametrize("how", [*sorted({*HARMS} - {"no date", "no answers"}), "a second run"])
def test_a_result_that_cannot_be_verified_is_refused(tmp_path, how):
    write_whole(tmp_path, "other", arm="visible")
    file = write_whole(tmp_path, "one")
    if how == "a second run":
        write_whole(tmp_path, "again")
    else:
        harm(file, how)
    error = refused(tmp_path)
    assert len(error.each) == 1
    assert error.remedy


def test_only_samples_in_context_are_sent_as_part_of_a_set(tmp_path):
    refused(tmp_path)
    refused(tmp_path / "absent")
    some = whole_set("productivity", "n4")[3:]
    metadata = {"test_sha256": digest(whole_set("productivity", "n4"))}
    task = f"{TASK}_icl_visible"
    write_whole(tmp_path, "one", samples=some, metadata=metadata, shown="visible", task=task)
    assert sent(tmp_path)
    write_whole(tmp_path, "two", samples=some, metadata=metadata)
    assert "samples" in "".join(refused(tmp_path).each)


@pytest.mark.parametrize(
    "arguments",
    [
        {"pretrained": "org/model", "token": "mine"},
        {"model": "x", "api_key": "mine"},
        {"model": "x", "header": {"Authorization": "Bearer mine"}},
        {"model": "x", "base_url": "https://me:mine@localhost/v1"},
        {"model": "x", "extra": [{"openai_api_key": "mine"}]},
        {"pretrained": "hf_" + "a" * 34},
        "pretrained=org/model,hf_token=mine,dtype=auto",
        "model=x,password=mine",
    ],
)
def test_a_secret_is_never_sent_nor_shown(tmp_path, arguments):
    with edited(write_whole(tmp_path, "one")) as content:
        content["config"]["model_args"] = arguments
    error = refused(tmp_path)
    assert error.remedy
    assert "mine" not in str(error)
    assert "aaaa" not in str(error)


def test_a_token_in_a_sample_is_found_and_what_only_looks_like_one_is_sent(tmp_path):
    file = write_whole(tmp_path, "one")
    with edited(file) as content:
        content["config"]["model_args"] |= {"token": True, "use_auth_token": "None", "api_key": ""}
        content |= {"tokenizer_eos_token": ["</s>", "2"], "eot_token_id": 2}
    assert sent(tmp_path)
    (samples,) = file.parent.glob("samples_*")
    first, second, *rows = samples.read_text().splitlines(keepends=True)
    second = second.replace('"until"', f'"key": "hf_{"a" * 34}", "until"')
    samples.write_text("".join([first, second, *rows]))
    (fault,) = refused(tmp_path).each
    assert fault.startswith(f"{samples}:2 ")


def test_each_result_is_sent_once_and_to_a_place_of_its_own(tmp_path):
    file = write_whole(tmp_path / "a" / "model", "one")
    with edited(write_whole(tmp_path / "foreign", "two")) as content:
        content["configs"] = {"hellaswag": {"metadata": {}}}
    (tmp_path / "secrets.env").write_text("TOKEN=1")
    (tmp_path / "samples_hellaswag_one.jsonl").write_text("{}\n")
    assert sent(tmp_path, file)[0] == sent(file)[0]
    assert [name for name in sent(tmp_path)[0] if "results/" in name] == [
        "results/model/results_one.json",
        f"results/model/samples_{TASK}_one.jsonl",
    ]
    write_whole(tmp_path / "b" / "model", "one", arm="visible")
    assert "results_one.json" in refused(tmp_path).what


def test_the_card_has_the_licence_of_the_references(tmp_path, monkeypatch):
    names = {licence.name.lower().replace(" ", "-") for licence in LICENCES.values()}
    assert names <= {"cc-by-nc-sa-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "unknown"}  # the Hub's
    licence = Licence("CC BY-SA 4.0", "https://licences.test/open", "Somebody's towns")
    monkeypatch.setitem(LICENCES, "mini", licence)
    monkeypatch.setitem(LICENCES, "towns", licence)
    write_whole(tmp_path, "one")
    _, top, text = sent(tmp_path)
    assert top["license"] == ["cc-by-sa-4.0"]
    assert f"{licence.attribution}: [{licence.name}]({licence.url})" in text
    # The sets of a corpus of one's own have none of ours, whatever the corpus is called.
    metadata = {"corpus": "towns", "own_corpus": {"file": "/home/me/towns.jsonl"}}
    write_whole(tmp_path, "two", task="mine", model="own", metadata=metadata)
    _, top, text = sent(tmp_path)
    assert "license" not in top
    assert f"- {licence.attribution}: " in text
    assert "- towns: no licence is stated" in text


# --- To the Hub -----------------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A folder with two runs, below the working directory."""
    monkeypatch.chdir(tmp_path)
    for arm in ("invisible", "visible"):
        write_whole(Path("runs"), arm, arm=arm)
    return Path("runs")


@pytest.fixture
def hub(monkeypatch):
    """The client; `files` are what was sent, by name."""
    client = create_autospec(HfApi, instance=True, files={})
    client.get_paths_info.return_value = []

    def upload(*, folder_path, create_pr, **_):
        files = (path for path in folder_path.rglob("*") if path.is_file())
        client.files |= {
            path.relative_to(folder_path).as_posix(): path.read_bytes() for path in files
        }
        return CommitInfo(COMMIT, "", "", "1", pr_url=REQUEST if create_pr else None)

    client.upload_folder.side_effect = upload
    monkeypatch.setattr(publish, "HfApi", lambda: client)
    return client


@pytest.fixture
def push(spor, runs):
    return lambda options="", ends=0: spor(f"push {runs} --to me/runs {options}", ends)


def test_a_clone_gives_the_same_report(hub, runs, push, monkeypatch):
    assert push().endswith(f"{COMMIT}\n")
    results = {f"results/runs/{path.name}": path.read_bytes() for path in runs.iterdir()}
    report = {f"report.{ending}" for ending in ("md", "tex", "csv", "json")}
    report |= {"plots/gaps.svg", "plots/categories.svg"}
    assert hub.files.keys() == {"README.md", "page.html", *report, *results}
    assert hub.files.items() >= results.items()
    rows = json.loads(hub.files["report.json"])["rows"]
    files = {row["arm"]: row.get("runs") for row in rows if row["source"] == "run"}
    assert files["invisible"] == ["results/runs/results_invisible.json"]
    for name, content in hub.files.items():
        Path("clone", name).parent.mkdir(parents=True, exist_ok=True)
        Path("clone", name).write_bytes(content)
    monkeypatch.chdir("clone")
    assert cli.main(["report", "results", "--out", "again"]) == 0
    for name in ("page.html", "report.md", "report.csv", "report.json"):
        assert Path("again", name).read_bytes() == hub.files[name]


def test_a_push_is_one_upload_that_leaves_a_readme_of_its_own(hub, push):
    for has_card in (False, True):
        hub.reset_mock()
        hub.get_paths_info.return_value = ["README.md"] * has_card
        push()
        hub.create_repo.assert_not_called()
        hub.get_paths_info.assert_called_once_with("me/runs", ["README.md"], repo_type="dataset")
        sent = hub.upload_folder.call_args.kwargs
        assert (sent["repo_id"], sent["repo_type"]) == ("me/runs", "dataset")
        assert sent["ignore_patterns"] == (["README.md"] if has_card else None)
        hub.upload_folder.assert_called_once()


@pytest.mark.parametrize("kind", ["space", "dataset"])
def test_a_repository_is_created_and_shown(hub, push, kind):
    made = {"private": kind == "dataset", "space_sdk": "static" if kind == "space" else None}
    push(f"--type {kind} --create {'private' if made['private'] else 'public'}")
    hub.create_repo.assert_called_once_with("me/runs", repo_type=kind, exist_ok=True, **made)
    assert hub.upload_folder.call_args.kwargs["repo_type"] == kind
    page, other = ("index.html", "page.html") if kind == "space" else ("page.html", "index.html")
    assert b"<html" in hub.files[page]
    assert other not in hub.files


def test_dry_runs_pull_requests_and_errors_are_printed(hub, push):
    assert "results/runs/results_invisible.json" in push("--dry-run")
    assert hub.method_calls == []
    assert REQUEST in push("--pr")
    for step in (hub.upload_folder, hub.get_paths_info, hub.create_repo):
        step.side_effect = ConnectionError("401 Client Error")
        printed = push("--create private", ends=2)
        assert "me/runs" in printed
        assert "hf auth login" in printed


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_of_the_hub_without_end_is_left(packed, tmp_path, monkeypatch):
    """Also one that is small until it is unpacked."""
    bomb = gzip.compress(b" " * 10**8, 1)

    class Endless(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            with suppress(OSError):
                for _ in range(1 if packed else 10_000):
                    self.wfile.write(bomb if packed else b" " * 2**20)

        do_POST = do_HEAD = do_GET  # noqa: N815 - as the server calls them

        def log_message(self, *_):
            pass

    tracemalloc.start()
    monkeypatch.setattr(ThreadingHTTPServer, "block_on_close", False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("no_proxy", "*")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        endpoint = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(publish, "HfApi", partial(HfApi, endpoint=endpoint, token=False))
        (tmp_path / "README.md").touch()
        with pytest.raises(ConfigError, match="longer than 10,000,000 bytes"):
            publish.push(tmp_path, "me/runs", "dataset", create=None, pr=False)
        server.shutdown()
    assert tracemalloc.get_traced_memory()[1] < 10**8
    tracemalloc.stop()
    assert publish._bound not in get_session().event_hooks["response"]
