"""`python -m training` is `spor`, under the name that earlier versions had for its training."""

import sys

from spor_tasks.cli import main

if __name__ == "__main__":
    sys.exit(main())
