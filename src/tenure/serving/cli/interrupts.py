"""Ctrl-C that cannot get lost.

Python raises KeyboardInterrupt wherever the program happens to be. If that is a destructor or a callback of the
garbage collector, the error is printed and dropped, and a long command goes on as if nobody had asked. So the wish
is noted as well, and looked up between two pieces of work.
"""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


class Interrupts:
    """Notes a Ctrl-C while it is open; `check` raises it again if it was dropped.

    Where interrupts are ignored, as in a background job, or outside the main thread, it does nothing.
    """

    def __init__(self) -> None:
        self._asked = self._installed = False

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._dropped
            self._installed = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = self._hook
            self._installed = False

    def check(self) -> None:
        """Go on if nobody asked to stop.

        Raises:
            KeyboardInterrupt: somebody did.
        """
        if self._asked:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        signal.default_int_handler(number, frame)

    def _dropped(self, raised: UnraisableHookArgs) -> None:
        if not issubclass(raised.exc_type, KeyboardInterrupt):
            self._hook(raised)
