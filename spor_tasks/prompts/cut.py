"""Prompts that are longer than a model takes: the end of the table is left out, nothing else."""

from collections.abc import Callable, Mapping, Sequence

_CHARACTERS = 6  # of a prompt for each token: what comes later is rarely kept, and slow to count


def without_end_of_table(
    prompt: str,
    before: Sequence[str],
    most: int,
    count: Callable[[str], int],
    tokenizer: Callable[..., Mapping[str, Sequence[tuple[int, int]]]],
) -> str:
    """Return a prompt of at most ``most`` tokens, shortened just before a text.

    The text is the first one of ``before`` that the prompt has, where it stands last. ``count``
    counts the tokens of a prompt as the model sees it, and ``tokenizer`` is one of transformers. A
    prompt that fits is returned as it is. So is one without such a text, or if leaving out all that
    stands before it is not enough, or if the tokenizer does not say where its tokens are.
    """
    marker = next((text for text in before if text in prompt), None)
    if marker is None or not getattr(tokenizer, "is_fast", False):
        return prompt
    start = prompt.rindex(marker)
    start_of_prompt, rest = prompt[: min(start, _CHARACTERS * most)], prompt[start:]
    excess = count(start_of_prompt + rest) - most
    if excess <= 0:  # nearly always because nothing was taken away
        start_of_prompt = prompt[:start]
        excess = count(prompt) - most
    while excess > 0:  # the tokens at the cut may be others than before it
        tokens = tokenizer(start_of_prompt, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in tokens["offset_mapping"]]
        if excess >= len(ends):
            return prompt
        # Several tokens of one character all have its end.
        start_of_prompt = start_of_prompt[: min(ends[-excess - 1], len(start_of_prompt) - 1)]
        excess = count(start_of_prompt + rest) - most
    return start_of_prompt + rest
