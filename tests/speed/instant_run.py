"""All tasks of a tag with a model that answers at once: `instant_run.py TAG`.

Prints, as JSON, the seconds that lm-eval takes to import, those of everything after, by the clock
and of the processor, the number of outputs, and the most memory in GB.
"""

import json
import resource
import sys
import time

started = time.perf_counter()
import lm_eval.evaluator  # noqa: E402, F401 - what is timed
import torch  # noqa: E402, F401 - lm-eval seeds it, whatever the model

imported, busy = time.perf_counter(), time.process_time()

from tests.support.scripted import ScriptedLM, evaluate  # noqa: E402


def main(tag: str) -> None:
    """Answer with the first reference, or where there is none with the prompt."""
    model = ScriptedLM(lambda request: request.doc["target"] or request.doc["prompt"])
    evaluate(model, tag)
    figures = {
        "lm-eval": imported - started,
        "ours": time.perf_counter() - imported,
        "processor": time.process_time() - busy,
        "outputs": len(model.requests),
        "GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1])
