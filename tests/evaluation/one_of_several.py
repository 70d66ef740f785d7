"""A process of several that evaluate together: `accelerate launch … one_of_several.py BASE OUT`."""

import json
import sys
from pathlib import Path

import torch
from lm_eval import simple_evaluate

from spor_tasks.evaluation.hf import SporHF
from spor_tasks.harness import task_files

TASKS = ["spor_order_invariance_mini_main", "spor_order_invariance_mini_cwio_beam5"]


def main(base: str, out: Path) -> None:
    """Evaluate a few documents; the first process writes the scores, each what it was asked."""
    torch.set_num_threads(1)
    model = SporHF(pretrained=base, device="cpu", batch_size=4, max_length=600)
    result = simple_evaluate(
        model=model,
        tasks=TASKS,
        task_manager=task_files.manager({"pretrained": base}),
        limit=7,
        num_fewshot=1,
        gen_kwargs={"max_gen_toks": 24},
    )
    if result is not None:
        scores = {name: result["results"][name] for name in TASKS}
        outputs = {
            name: [
                [row["arguments"], row["filtered_resps"]]
                for row in sorted(rows, key=lambda row: row["doc_id"])
            ]
            for name, rows in result["samples"].items()
        }
        facts = {"scores": scores, "outputs": outputs, "cut": model.get_model_info()["prompts_cut"]}
        (out / "result.json").write_text(json.dumps(facts))
    (out / f"process_{model.rank}_of_{model.world_size}").write_text("")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
