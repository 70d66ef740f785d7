"""Run all benchmarks, or the named ones: `python -m docs.benchmarks [NAME…]`.

They print figures, and ratios to a baseline that ran beside them: the slow and obvious versions of
`tests/oracles`, another library, or a plain loop. Figures without a baseline are for comparison
with a run of another version on the same machine. Each benchmark is a process of its own.
"""

import subprocess
import sys
from pathlib import Path

HELPERS = {"__main__", "measure", "inputs"}


def main(names: list[str]) -> int:
    """Return 1 if a benchmark failed, else 0."""
    here = Path(__file__).parent
    names = names or sorted({path.stem for path in here.glob("*.py")} - HELPERS)
    failed = []
    for name in names:
        print(f"\n## {name}", flush=True)
        command = [sys.executable, "-m", f"docs.benchmarks.{name}"]
        if subprocess.run(command, cwd=here.parent.parent, check=False).returncode:
            failed.append(name)
    print(f"\n{len(names)} benchmarks, failed: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
