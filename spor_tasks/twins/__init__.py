"""Fictional twins: samples with their entities exchanged for invented ones of the same kind."""

from spor_tasks.twins.mapping import CORPORA, Twins, Untwinned, twins_of

__all__ = ["CORPORA", "Twins", "Untwinned", "twins_of"]
