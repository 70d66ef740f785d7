"""Fixtures of the bridge to lm-eval."""

from tests.support.checkpoints import *  # noqa: F403 - pytest takes fixtures from here
