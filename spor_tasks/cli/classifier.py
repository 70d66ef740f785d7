"""`spor classifier`: train classifiers of attributes for CompMCTG's accuracy."""

import argparse
from pathlib import Path

from spor_tasks.cli.following import given, then
from spor_tasks.cli.training import FILE, add_overrides, shipped, trains
from spor_tasks.core.registry import registry
from spor_tasks.core.visible import visible

HELP = "train classifiers of attributes for CompMCTG's accuracy"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from spor_tasks.corpora.compmctg.reader import FOLDERS

    parser.add_argument(
        "--corpus", required=True, help=f"{', '.join(FOLDERS)}, or your YAML file of aspects"
    )
    parser.add_argument("--aspect", nargs="+", default=["all"], help="the aspects (all)")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="gets a folder for each aspect"
    )
    parser.add_argument(
        "--config",
        **FILE,
        help="such as configs/models/compmctg/classifier-yelp.yaml; by default a small classifier "
        "is trained from nothing",
    )
    parser.add_argument("--data", **FILE, help="labelled texts in place of cls.jsonl")
    add_overrides(parser, "settings, such as epochs=2")
    parser.set_defaults(run=run)


@trains
def run(options: argparse.Namespace) -> None:
    """Train a classifier for each aspect, and print the accuracy of each."""
    from training import classifier  # torch

    config = classifier.load_config(options.config and shipped(options.config), options.overrides)
    aspects, every = options.aspect, list(classifier.space_of(options.corpus).aspects)
    if "all" in aspects or not aspects:
        aspects = every
    samples = classifier.read_labelled(options.corpus, options.data)
    for trained in classifier.train(options.corpus, aspects, samples, options.out, config):
        earlier = "" if trained.is_new else ", trained before"
        accuracy = trained.accuracies[-1]
        print(f"{visible(trained.folder)}: dev accuracy {accuracy:.2f}{earlier}", flush=True)
    if not all((options.out / aspect).is_dir() for aspect in every):
        same = (*given(options, "corpus", "out", "config", "data"), *options.overrides)
        then("spor", "classifier", *same)
    elif options.corpus in registry().names("corpus"):
        folder = ("--classifiers", options.out)
        then("spor", "score", "FILE", "--metric", "compmctg", "--corpus", options.corpus, *folder)
    else:
        then("spor", "tasks", "make", options.corpus, "--out", "tasks")
