"""Writers that are killed at a chosen call to the system; run as `python -m tests.support.killed`.

The process imports the package once, and forks for each command that it reads, so that hundreds of
kills take a second. A command is a line of JSON: what to do, where, with which content, and the
number of the call before which the child ends itself with SIGKILL, 0 for none. The answer is the
child's exit status.
"""

import ctypes  # noqa: F401 - now, for no call of a child is to be an import's
import json
import os
import signal
import sys
import traceback
from pathlib import Path

import tqdm  # noqa: F401 - as ctypes

from spor_tasks.core import files, folders, together
from spor_tasks.corpora import sources
from spor_tasks.corpora.sources import Repository, SourceFile, blob_id

FILES = ("rows", "deep/rows")
TOGETHER = ("page", "below/record")
# What Python tells of before it does it, and what can change a name or a file.
CALLS = ("open", "os.", "shutil.", "tempfile.", "fcntl.", "ctypes.")


def write_folder(path, content):
    """Replace a folder whose files all hold the content."""
    with folders.atomic_folder(path, kind="sets", overwrite=True) as folder:
        for name in FILES:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content)
        folders.write_manifest(folder, {"kind": "sets", "content": content})


def write_folder_in_two_renames(path, content):
    """Replace a folder as where none can be exchanged for another."""
    folders._exchanged = lambda *_: False
    write_folder(path, content)


def write_together(path, content):
    """Replace files of a folder, where others are, by some more and some fewer."""
    own = {
        name: content.encode() for name in (*TOGETHER, f"only {content}", f"below/only {content}")
    }
    gone = {name for name in ("only old", "below/only old") if name not in own}
    together.replace_files(path, own, gone)


def read_folder(path, _):
    """Read the manifest, as all who read such folders do first."""
    folders.read_manifest(path)


def write_file(path, content):
    """Replace a file."""
    files.write_rows(path, [{"content": content}] * 3)


def write_file_often(path, content):
    """Replace a file a hundred times, while others may."""
    for _ in range(100):
        write_file(path, content)


def fetch_files(path, content):
    """Fetch what lies in the folder beside ``path``, of the content's name."""
    origin = path.with_name(content)
    Repository.files = lambda _: {
        file.name: SourceFile(file.name, blob_id(file.read_bytes()), "needed")
        for file in origin.iterdir()
    }
    sources._CONNECTIONS = 2
    sources.SPOR.fetch(path, origin)


ACTIONS = {
    action.__name__: action
    for action in (
        *(write_folder, write_folder_in_two_renames, write_together),
        *(read_folder, write_file, write_file_often, fetch_files),
    )
}


def die_at(call):
    """Let this process be killed before its next so many calls."""
    seen = 0

    def count(event, _):
        nonlocal seen
        seen += event.startswith(CALLS)
        if seen == call:
            os.kill(os.getpid(), signal.SIGKILL)

    if call:
        sys.addaudithook(count)


def main():
    """Do what standard input asks for."""
    os.fsync = lambda fd: None  # noqa: ARG005 - a kill loses nothing that the system has
    for line in sys.stdin:
        action, path, content, call = json.loads(line)
        child = os.fork()
        if not child:
            status = 1
            try:
                die_at(call)
                ACTIONS[action](Path(path), content)
                status = 0
            except BaseException:  # noqa: BLE001 - the child must not go on as its parent
                traceback.print_exc()
            os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
