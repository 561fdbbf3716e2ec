# SPDX-License-Identifier: BSD-3-Clause
"""Operations under way."""
import threading
import typing

from ._library import ffi, lib
from .status import Outcome, Status, outcome_of


class Request:
    """An operation that was posted. Wait for it, or look; its buffers stay until it has ended.

    The library writes to the flag at the end, so that an operation whose Request nobody keeps is kept
    here until then."""

    _under_way: "set[Request]" = set()
    _lock = threading.Lock()

    def __init__(self, lane, post, kept):
        """`post(completion)` posts it. `kept`: what must not go before its end."""
        self._lane, self._kept = lane, kept
        flag = lib.heddle_flag_new()
        if flag == ffi.NULL:
            raise MemoryError("no memory for a flag")
        self._flag = ffi.gc(flag, lib.heddle_flag_free)
        answer = lane.insist(lambda: post(lib.heddle_flag_completion(flag)))
        self._outcome = None
        if answer is Status.POSTED:
            with Request._lock:
                Request._under_way.add(self)
            Request._let_go_of_the_ended()
        else:
            self._outcome = Outcome(answer, -1, -1, 0, 0)
            self._kept = None

    @classmethod
    def _let_go_of_the_ended(cls):
        with cls._lock:
            if len(cls._under_way) % 64 == 0:
                for r in [r for r in cls._under_way if lib.heddle_flag_ready(r._flag)]:
                    cls._under_way.discard(r)

    @property
    def done(self) -> bool:
        """It has ended, well or not. Does not drive the lane: see Lane.poll."""
        return self._outcome is not None or lib.heddle_flag_ready(self._flag)

    @typing.overload
    def wait(self, timeout: None = None) -> Outcome: ...

    @typing.overload
    def wait(self, timeout: float) -> "Outcome | None": ...

    def wait(self, timeout: "float | None" = None) -> "Outcome | None":
        """Its outcome; None: `timeout` seconds passed first. Raises where it failed."""
        if self._outcome is None:
            if timeout is None:
                answer = Status(lib.heddle_wait_flag(self._lane.c, self._flag))
                ended = lib.heddle_flag_ready(self._flag)
                self._outcome = (outcome_of(lib.heddle_flag_result(self._flag)) if ended
                                 else Outcome(answer, -1, -1, 0, 0))
            elif lib.heddle_wait_flag_for(self._lane.c, self._flag, int(timeout * 1e9)):
                self._outcome = outcome_of(lib.heddle_flag_result(self._flag))
            else:
                return None
            with Request._lock:
                Request._under_way.discard(self)
            self._kept = None
        self._lane.check(self._outcome.status, self._outcome.peer)
        return self._outcome

    def cancel(self) -> bool:
        """Takes a receive or a flush back: True, and wait() raises with Status.CANCELED. False: it has matched, or
        ended."""
        if self._outcome is not None:
            return False
        which = lib.heddle_flag_completion(self._flag)
        return self._lane.insist(lambda: lib.heddle_try_cancel(self._lane.c, which)) is Status.DONE
