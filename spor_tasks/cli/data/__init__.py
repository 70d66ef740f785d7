"""`spor data`: fetch the corpora; build, check and inspect the sets made from them."""
