"""SPOR (Xu & Wang, ACL 2024) for the language model evaluation harness.

Compositional generalization in data-to-text generation: systematicity, productivity, order
invariance and rule learnability, on WebNLG and E2E, and on other corpora and tables.
"""

from importlib.metadata import version

__version__ = version("spor-tasks")
