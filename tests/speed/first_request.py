"""`spor eval` on a task up to the first request: `first_request.py TASK`.

Prints the seconds after the imports, by the clock and of the processor, as JSON.
"""

import json
import sys
import time
from typing import NoReturn

import datasets  # noqa: F401 - what is imported in any case
import lm_eval.models.dummy
import torch  # noqa: F401

from spor_tasks import cli
from spor_tasks.evaluation import checks, run  # noqa: F401


def main(task: str) -> None:
    """Evaluate a model that answers nothing, and stop when it is asked."""
    clock, busy = time.perf_counter(), time.process_time()

    def asked(*_: object, **__: object) -> NoReturn:
        print(json.dumps([time.perf_counter() - clock, time.process_time() - busy]))
        sys.exit()

    lm_eval.models.dummy.DummyLM.generate_until = asked
    cli.main(["eval", "--tasks", task, "--model", "dummy", "--limit", "2"])


if __name__ == "__main__":
    main(sys.argv[1])
