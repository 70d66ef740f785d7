"""WebNLG 2017, version 2.1: RDF triples."""
