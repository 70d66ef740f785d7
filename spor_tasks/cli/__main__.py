"""`python -m spor_tasks.cli` is `spor`; `accelerate launch -m` needs it."""

import sys

from spor_tasks.cli import main

if __name__ == "__main__":
    sys.exit(main())
