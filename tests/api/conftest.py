"""Fixtures of the tests here."""

from tests.support.checkpoints import *  # noqa: F403 - pytest takes fixtures from here
