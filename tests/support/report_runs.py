"""Invented runs of every aspect, for whole reports: two models, two seeds, a dozen samples."""

import random
from dataclasses import replace
from itertools import product

from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.named import benchmark
from tests.support.result_files import distinct, rows_of, write_rows

TASKS = (
    ("systematicity", None),
    ("productivity", "n3"),
    ("productivity", "n4"),
    ("order_invariance", "main"),
    ("order_invariance", "cwio"),
    ("order_invariance", "performance"),
    ("rule_learnability", None),
)
SAMPLES = 32
CASES = ("copy_rule_00", "copy_rule_01", "copy_rule", "copy_rule_11")


def write_runs(folder, corpus="webnlg", protocol="published"):
    """Write results and samples of both models on every task, as they are and after every arm."""
    for aspect, part in TASKS:
        for model in ("large", "small"):
            for arm, seed in ((None, 0), *product(ARMS[aspect], (0, 1))):
                stamp = f"{part or aspect[:4]}-{model}-{arm}-{seed}"
                rng = random.Random(f"{aspect} {part} {model} {arm} {seed}")
                strength = (model == "large") + (arm is not None) + 0.5 * (arm == ARMS[aspect][-1])
                values = [values_of(aspect, part, strength, rng) for _ in range(SAMPLES)]
                task = "_".join(filter(None, ["spor", aspect, corpus, part]))
                run = {"aspect": aspect, "part": part, "model": model, "arm": arm, "seed": seed}
                told = {"task": task, "metadata": {"corpus": corpus, "protocol": protocol}}
                samples = (replace(distinct(n), id=f"{n:02}") for n in range(SAMPLES))
                outputs = [[f"Output {number}."] for number in range(SAMPLES)]
                rows = rows_of(samples, outputs, values)
                write_rows(folder / f"results_{stamp}.json", rows, **run, **told)


def values_of(aspect, part, strength, rng):
    """Return what one sample logs of a model of some strength, from 0 to 2.5."""

    def chance():
        return 100.0 * (rng.random() < 0.2 + 0.3 * strength)

    match aspect, part:
        case "rule_learnability", _:
            case = CASES[2] if chance() else rng.choice(CASES)
            whole = {"copy_rule_whole_word": 100.0 * (case == CASES[2])}
            return {**{name: 100.0 * (name == case) for name in CASES}, **whole}
        case _, "main":
            spec = benchmark("spor").find(aspect, "webnlg", "published", part)
            return {str(score): chance() for score in spec.judging.reported}
        case _, "cwio":
            units, located = rng.randrange(2, 5), chance() > 0
            tau = (units, round(rng.uniform(-1, 1), 3))
            return {
                "cwio": tau,
                "cwio_located": tau if located else None,
                "cwio_located_share": 100.0 * located,
            }
    value = rng.uniform(10, 30) + 20 * strength
    others = {"chrf": value + 5, "coverage": float(rng.choice([50, 75, 100])), "empty": 0.0}
    return {"parent": value, "parent_full_table": value + 1, **others}
