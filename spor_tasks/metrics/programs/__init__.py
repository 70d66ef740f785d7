"""Programs over a table: their verdicts, and the search for those that a sentence may mean."""

import tomllib
from importlib.resources import files

WORDS = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
"""The words of the rules of linker, search and ranker."""
