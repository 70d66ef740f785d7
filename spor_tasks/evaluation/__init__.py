"""Models, baselines and files of outputs, evaluated."""
