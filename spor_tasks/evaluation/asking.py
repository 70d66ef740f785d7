"""Says on standard error what a server will be asked, and how far each task is."""

import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import wraps
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from tqdm import tqdm

from spor_tasks.core.visible import visible

REQUESTS = ("generate_until", "loglikelihood", "loglikelihood_rolling", "spor_beam_search")
"""The methods by which a model answers requests."""

_SERVED = {"TemplateAPI", "AnthropicLM"}
_TELL_EACH = {"HFLM", *_SERVED}
"""Classes of models that tell lm-eval's cache of each answer as it comes."""

_LETTERS = 4  # of a token, where the tokenizer of a server is not known
_SECONDS = 10.0  # between two lines in a log


def shown(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return a model's method that answers requests, and shows how far it is."""

    @wraps(answer)
    def ask(model: LM, requests: Sequence[Instance], *args: Any, **kwargs: Any) -> Any:
        kinds = {kind.__name__ for kind in type(model).__mro__}
        is_inner = isinstance(model.cache_hook, _Lines)
        if is_inner or not requests or model.rank or kinds.isdisjoint(_TELL_EACH):
            return answer(model, requests, *args, **kwargs)
        if not kinds.isdisjoint(_SERVED):
            tqdm.write(_announcement(model, requests), file=sys.stderr)
        hook = model.cache_hook
        model.cache_hook = lines = _Lines(requests, hook)
        try:
            answers = answer(model, requests, *args, **kwargs)
            lines.complete()
        finally:
            model.cache_hook = hook
            lines.close()
        return answers

    return ask


class _Lines:
    """A line for each task, in place of lm-eval's cache, which is told of every answer.

    On a terminal it is a bar. A log gets a line every ten seconds, and one of each task at its end.
    """

    def __init__(self, requests: Sequence[Instance], hook: Any) -> None:
        self._hook = hook
        self._begun = self._printed = time.monotonic()
        self._totals = Counter(str(request.task_name) for request in requests)
        self._done: Counter[str] = Counter()
        self._waiting: dict[Hashable, list[str]] = defaultdict(list)
        for request in requests:
            self._waiting[request.args[0]].append(str(request.task_name))
        form = "{desc}: {n_fmt} of {total_fmt} {bar} {remaining} left"
        self._bars = {
            task: tqdm(desc=visible(task), total=total, bar_format=form, disable=None)
            for task, total in self._totals.items()
        }

    def add_partial(self, method: str, request: Sequence[Any], answer: object) -> None:
        """Count an answer, and pass it on."""
        self._hook.add_partial(method, request, answer)
        # a model may have cut the prompt
        tasks = self._waiting.get(request[0]) or [*(self._totals - self._done)]
        if not tasks:
            return
        task = tasks.pop()
        self._done[task] += 1
        self._bars[task].update()
        if self._bars[task].disable and time.monotonic() - self._printed >= _SECONDS:
            self._printed = time.monotonic()
            left = (self._printed - self._begun) * (self._totals[task] / self._done[task] - 1)
            self._print(task, self._done[task], f"{tqdm.format_interval(left)} left")

    def complete(self) -> None:
        """Show all as answered."""
        spent = tqdm.format_interval(time.monotonic() - self._begun)
        for task, bar in self._bars.items():
            bar.update(self._totals[task] - self._done[task])
            if bar.disable:
                self._print(task, self._totals[task], f"in {spent}")

    def close(self) -> None:
        """Leave the bars as they are."""
        for bar in self._bars.values():
            bar.close()

    def _print(self, task: str, done: int, when: str) -> None:
        line = f"{visible(task)}: {done:,} of {self._totals[task]:,}, {when}"
        tqdm.write(line, file=sys.stderr)


def _announcement(model: Any, requests: Sequence[Instance]) -> str:
    """Return how much a server will be asked, as far as its tokenizer is known."""
    prompts, most = [], 0
    for request in requests:
        prompt, more = request.args[:2]
        prompts.append(str(getattr(prompt, "prompt", prompt)))
        if isinstance(more, str):  # the text whose likelihood is asked for
            prompts.append(more)
        else:
            most += int(more.get("max_gen_toks", getattr(model, "_max_gen_toks", 0)))
    tokens, about = sum(map(len, prompts)) // _LETTERS, "about "
    if getattr(model, "tokenizer", None) and hasattr(model, "tok_encode"):
        tokens, about = sum(len(model.tok_encode(prompt)) for prompt in prompts), ""
    where = re.sub(r"//[^/@]*@", "//", str(getattr(model, "base_url", "the server")))
    written = f", and writes at most {most:,}" if most else ""
    return (
        f"{visible(where)} gets {len(requests):,} requests with {about}{tokens:,} tokens{written}"
    )
