"""Prompt and text in tokens of their own, where a token would span both."""

from lm_eval.api.model import TemplateLM


class ReadsApart(TemplateLM):  # type: ignore[misc]  # lm-eval has no types
    """A model that reads a prompt and a text as training does.

    lm-eval takes the tokens of both together, and as the text's those after as many as the prompt
    has. If the first letters of the text belong to a token of the prompt's end, that is half of
    what the text says, after a prompt that ends otherwise. Then each is encoded alone here, as
    ``training`` encodes it.
    """

    def _encode_pair(self, context: str, continuation: str) -> tuple[list[int], list[int]]:
        prompt_ids, text = super()._encode_pair(context, continuation)
        together = [*prompt_ids, *text]
        if self.backend != "causal" or self.tok_encode(context + continuation) == together:
            return prompt_ids, text
        blanks = context[len(context.rstrip()) :]  # which lm-eval makes part of the text
        return prompt_ids, self.tok_encode(blanks + continuation, add_special_tokens=False)
