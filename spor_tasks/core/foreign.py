"""Code of other packages: whatever it raises is an error of one line that names its entry."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from inspect import getattr_static, isroutine
from typing import Any

from spor_tasks.core.errors import ConfigError, SporError, line


class ForeignError(ConfigError):
    """Another package failed: its module, an attribute of what it registers, or a call of it."""


@contextmanager
def guarded(where: str) -> Iterator[None]:
    """Turn whatever the block raises, also the end of the program, into an error of one line.

    Only our own errors and a user's interrupt pass.

    Raises:
        ForeignError: in place of anything else.
    """
    try:
        yield
    except (SporError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ForeignError(in_words(error), where=where) from error


@contextmanager
def not_ended() -> Iterator[None]:
    """Refuse another package's wish to end the program, wherever in the block it is expressed.

    Raises:
        ForeignError: in place of what is neither an ``Exception`` nor a user's interrupt.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ForeignError(f"another package ends the program: {in_words(error)}") from error


def import_first(*names: str, is_command: bool = False) -> None:
    """Import modules of these names that are not yet imported, where there are such modules.

    Nothing looks for garbage meanwhile; in a process of our own (``is_command``) nor later in what
    is there by then. An evaluation would spend a third of its start on that, in vain.
    """
    if not (missing := set(names) - sys.modules.keys()):
        return
    looks = gc.isenabled()
    gc.disable()
    try:
        for name in missing:
            with suppress(ImportError):
                import_module(name)
        if is_command:
            gc.freeze()
    finally:
        if looks:
            gc.enable()


def in_words(error: BaseException) -> str:
    """Return an error in one line, whatever somebody's class of errors does."""
    try:
        return line(f"{type(error).__name__}: {error}")
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - as the docstring says
        return line(type(error).__name__)


class Foreign:
    """An object of another package, or a class, whose attributes, calls and iterators are guarded.

    ``where`` names it in errors.
    """

    def __init__(self, found: Any, where: str) -> None:
        self._found = found
        self._where = where

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # so that it is an instance of what it stands for
        return type(self._found)

    def __call__(self, *values: Any, **named: Any) -> "Foreign":
        """Return an object of the class."""
        with guarded(self._where):
            return Foreign(self._found(*values, **named), self._where)

    def __getattr__(self, name: str) -> Any:
        if name in {"_found", "_where"}:  # of a copy that is being made
            raise AttributeError(name)
        try:
            with guarded(self._where):
                value = getattr(self._found, name)
        except ForeignError as error:
            cause, none = error.__cause__, object()
            if (
                isinstance(cause, AttributeError)
                and getattr_static(self._found, name, none) is none
            ):
                raise cause from None  # it has no such attribute
            raise
        return self._called(value) if isroutine(value) else value

    def _called(self, function: Callable[..., object]) -> Callable[..., object]:
        def call(*values: object, **named: object) -> object:
            with guarded(self._where):
                result = function(*values, **named)
            return guarded_items(result) if isinstance(result, Iterator) else result

        def guarded_items(items: Iterator[object]) -> Iterator[object]:
            while True:
                with guarded(self._where):
                    try:
                        item = next(items)
                    except StopIteration:
                        return
                yield item

        return call
