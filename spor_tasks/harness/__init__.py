"""The bridge to lm-eval."""
