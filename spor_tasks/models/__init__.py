"""Whatever answers a request: models of transformers and vLLM, servers, and baselines."""
