"""How long work is done: threads, memory, and who watches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from . import _setveil
from ._errors import ParameterError

Progress = bool | Callable[[str, int, int | None], object]
"""``True`` for a bar, or a function of the stage, the steps done, and all steps if known."""

_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@contextlib.contextmanager
def manner(
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Iterator[_setveil.Manner]:
    """The way to do one piece of work; takes the bar away in the end."""
    bar = _bar() if progress is True else None
    watch = bar if bar is not None else (progress or None)
    if threads is not None and threads < 1:
        raise ParameterError(f"threads = {threads}: expected at least 1")
    try:
        yield _setveil.Manner(threads, size("max_memory", max_memory), watch)
    finally:
        if bar is not None:
            bar.close()


def size(name: str, given: int | str | None) -> int | None:
    """A number of bytes, also as a text with a unit."""
    if given is None:
        return None
    if isinstance(given, str):
        text = given.strip().upper().removesuffix("B")
        digits = text.rstrip("KMGT")
        unit = _UNITS.get(text[len(digits) :])
        if not digits.isdecimal() or unit is None:
            raise ParameterError(f"{name} = {given!r}: expected bytes, such as '800M' or '8G'")
        given = int(digits) * unit
    if given < 1:
        raise ParameterError(f"{name} = {given}: expected at least 1 byte")
    return given


def _bar() -> _Tqdm | _Line:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Tqdm(tqdm)


class _Tqdm:
    """One bar a stage, in a terminal or a notebook."""

    def __init__(self, tqdm: Callable) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage: str | None = None

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if stage != self._stage or self._bar is None or done < self._bar.n:
            self.close()
            self._bar, self._stage = self._tqdm(total=total, desc=stage, leave=False), stage
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Line:
    """Without tqdm: one line on a terminal."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if sys.stderr is None or not sys.stderr.isatty():
            return
        text = f"{stage} {done:,}" + (f" / {total:,}" if total else "")
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
