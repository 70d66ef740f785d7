"""The objectives of training, a class for each; :mod:`training.registry` has their names."""
