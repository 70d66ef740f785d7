"""Fixtures of the commands."""

from tests.support.checkpoints import *  # noqa: F403 - pytest takes fixtures from here
