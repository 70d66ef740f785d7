"""An invented corpus of the kind of WebNLG, generated on the spot."""
