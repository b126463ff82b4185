"""A lock that one process holds at a time, and that the system lets go with it, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Whether this is the one process at work.

    Args:
        path: of the lock's file, which is made and stays; its folder has to be there.
        wait: until the other is done, instead of being told no.

    Raises:
        OSError: the file cannot be made.
    """
    # A link is refused: the file it leads to would be made or held.
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600), "a+b") as stream:
        try:
            if os.name == "nt":
                import msvcrt

                # LK_LOCK gives up after ten seconds, which is longer than anybody holds a lock that is waited for.
                msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            else:
                import fcntl

                fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            yield False
            return
        yield True
