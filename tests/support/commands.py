"""The commands of `spor`, run in this process."""

import argparse
from functools import partial

from spor_tasks import cli
from spor_tasks.harness import stubs


def names():
    """Return every command, such as `data check` and `train`."""
    return {*_leaves(cli.parser())}


def run(words):
    """Run a command; return its exit status, also where the parser ends it."""
    try:
        return cli.main(words)
    except SystemExit as end:
        return int(str(end.code))


def without_other_tasks(patch, folder):
    """Spare the seconds that lm-eval takes to index its own tasks, and its logging."""
    import lm_eval.evaluator  # takes seconds, and takes the logging by name
    import lm_eval.tasks

    patch.setattr(stubs, "folder", lambda: folder / "no stubs")
    ours_alone = partial(lm_eval.tasks.TaskManager, include_defaults=False)
    patch.setattr(lm_eval.tasks, "TaskManager", ours_alone)
    for module in (lm_eval.utils, lm_eval.evaluator):
        patch.setattr(module, "setup_logging", lambda *_, **__: None)


def _leaves(parser, words=""):
    found = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    for name, child in found[0].choices.items() if found else ():
        yield from _leaves(child, f"{words} {name}".strip())
    if not found:
        yield words
