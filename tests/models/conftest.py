"""Fixtures of models."""

from tests.support.checkpoints import *  # noqa: F403 - pytest takes fixtures from here
