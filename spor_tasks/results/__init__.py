"""Typed results of evaluations, read from files, with intervals and tests."""
