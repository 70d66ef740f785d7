"""Two processes that evaluate together, as `accelerate launch` starts them: BASE OUT PORT."""

import json
import os
import sys
import traceback
from pathlib import Path

import torch
from lm_eval import simple_evaluate

from spor_tasks.evaluation.hf import SporHF
from spor_tasks.harness import task_files
from tests.support.scripted import texts

TASKS = ["spor_order_invariance_mini_main", "spor_order_invariance_mini_cwio"]


def main(base: str, out: Path) -> None:
    """Evaluate a few documents; the first process writes the scores, each what it was asked."""
    torch.set_num_threads(1)
    model = SporHF(pretrained=base, device="cpu", batch_size=4, max_length=600)
    result = simple_evaluate(
        model=model,
        tasks=TASKS,
        task_manager=task_files.manager({"pretrained": base}, model_type="spor-hf"),
        limit=7,
        num_fewshot=1,
        gen_kwargs={"max_gen_toks": 24},
    )
    if result is not None:
        scores = {name: result["results"][name] for name in TASKS}
        outputs = {
            name: [
                [row["arguments"], texts(row)]
                for row in sorted(rows, key=lambda row: row["doc_id"])
            ]
            for name, rows in result["samples"].items()
        }
        facts = {"scores": scores, "outputs": outputs, "cut": model.get_model_info()["prompts_cut"]}
        (out / "result.json").write_text(json.dumps(facts))
    (out / f"process_{model.rank}_of_{model.world_size}").write_text("")


def start(rank: int, port: str) -> int:
    """Start the process of a rank, which tells by its exit status that it came to its end."""
    if child := os.fork():
        return child
    status = 1
    try:
        ranks = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
        os.environ |= {name: str(value) for name, value in ranks.items()}
        os.environ |= {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "ACCELERATE_USE_CPU": "true",
        }
        main(sys.argv[1], Path(sys.argv[2]))
        status = 0
    except BaseException:  # noqa: BLE001 - a child must not go on as its parent
        traceback.print_exc()
    os._exit(status)


if __name__ == "__main__":
    children = [start(rank, sys.argv[3]) for rank in range(2)]
    ends = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(any(ends))
