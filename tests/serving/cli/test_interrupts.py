"""Ctrl-C counts wherever it hits."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from tenure.serving.cli.interrupts import Interrupts


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """A job in the background ignores Ctrl-C, and so do its children: these tests may run in one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted() -> None:
    """Ctrl-C while plain code runs."""
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(1000))


class Stopping:
    """Something whose destructor is running when Ctrl-C comes."""

    def __del__(self) -> None:
        interrupted()


def test_an_interrupt_that_a_destructor_swallows_is_raised_at_the_next_check_and_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with Interrupts() as interrupts:
        interrupts.check()
        gone = Stopping()
        del gone
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert "Traceback" not in capfd.readouterr().err


def test_an_interrupt_in_plain_code_is_raised_at_once_and_afterwards_all_is_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), Interrupts():
        interrupted()
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before


def test_where_interrupts_are_ignored_they_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            interrupts.check()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
