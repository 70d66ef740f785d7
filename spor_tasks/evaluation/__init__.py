"""The doors: models, baselines and files of outputs, evaluated."""
