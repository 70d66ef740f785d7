"""LoRA tuning on the training splits of SPOR; run as `spor train`."""
