"""What tests that kill ask of the system."""

import subprocess


def alive(pid: int) -> bool:
    """Say whether a process goes on; one that nobody has asked about since it ended does not."""
    told = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip()[:1] not in {"", "Z"}
