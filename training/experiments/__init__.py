"""Experiments: many trainings and evaluations, described in one file."""
