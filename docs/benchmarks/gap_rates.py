"""Two gaps of simulated systems, with chance corrected and not; the table of docs/validity.md."""

from collections import defaultdict
from math import isnan, nan
from statistics import fmean

from docs.benchmarks.coded_systems import systems, values_of
from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.corpora.embedded.attributes import PREFIXES, REPEATS, SPACE
from spor_tasks.metrics.scores import score_info
from spor_tasks.metrics.tally import Column
from spor_tasks.results.stats import clusters_of
from tests.support.scores import interval

RUNS = 120  # over all splits
SHOWN = ("mini_acc_id", "mini_acc_comp", "mini_gap", "mini_gap_real")


def simulate(protocol: str) -> None:
    """Print the mean scores of each system, and how many intervals of the last leave out 0."""
    found = defaultdict[str, list[list[float]]](list)
    left_out = defaultdict[str, list[bool]](list)
    shipped = splits.shipped(SPACE, protocol)
    each = len(PREFIXES) * REPEATS
    for seed in range(RUNS):
        split = shipped[seed % len(shipped)]
        clusters = clusters_of([of for of in sum(split, ()) for _ in range(each)])
        for name, system in systems(SPACE, split).items():
            values = values_of(SPACE, split, system, repeats=each, seed=seed)
            columns = [
                Column.of([v.get(of) for v in values], score_info(of).totals) for of in SHOWN
            ]
            found[name].append([column.value for column in columns])
            if ends := interval(columns[-1], clusters, seed=seed):
                left_out[name].append(not ends[0] - 1e-9 <= 0 <= ends[1] + 1e-9)
    print(f"{protocol}, {RUNS} runs: {', '.join(SHOWN)}, intervals of the last without 0")
    for name, rows in found.items():
        means = [fmean([x for x in of if not isnan(x)] or [nan]) for of in zip(*rows, strict=True)]
        share = f"{100 * fmean(left_out[name]):.0f} %" if name in left_out else "none"
        print(f"{name:<70}{''.join(f'{mean:8.1f}' for mean in means)}{share:>8}", flush=True)


if __name__ == "__main__":
    for protocol in ("acd", "holdout"):
        simulate(protocol)
