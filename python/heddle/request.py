# SPDX-License-Identifier: BSD-3-Clause
"""Operations under way."""
import threading
import typing

from ._library import ffi, lib, limit_ns
from .status import Outcome, Status, outcome_of


class _Here(threading.local):
    in_handler = False


_here = _Here()


def as_handler(function):
    """What the library calls: `function`, in which no Request waits for room on its lane, since it would for ever."""

    def run(*arguments):
        before, _here.in_handler = _here.in_handler, True
        try:
            function(*arguments)
        finally:
            _here.in_handler = before

    return run


class Request:
    """An operation that was posted. Wait for it, or look; its buffers stay until it has ended.

    The library writes to the flag at the end, so that an operation whose Request nobody keeps is kept
    here until then."""

    _under_way: "set[Request]" = set()
    _lock = threading.Lock()
    _waiting: "dict[int, Request]" = {}  # for room, by id

    def __init__(self, lane, post, kept):
        """`post(completion)` posts it; in a handler, once the lane has room. `kept`: what must not go before its end."""
        self._lane, self._kept = lane, kept
        self._outcome: "Outcome | None" = None
        self._unposted = post  # None: it is posted, or taken back
        self._turn = threading.RLock()  # of who posts it or takes it back
        flag = lib.heddle_flag_new()
        if flag == ffi.NULL:
            raise MemoryError("no memory for a flag")
        self._flag = ffi.gc(flag, lib.heddle_flag_free)
        answer = self._post() if _here.in_handler else lane.insist(self._post)
        if answer.busy and not lane.stays:
            lane.check(answer)
        if answer.busy or answer is Status.POSTED:
            with Request._lock:
                Request._under_way.add(self)
            Request._let_go_of_the_ended()
        else:
            self._outcome = Outcome(answer, -1, -1, 0, 0)
            self._kept = None
        if answer.busy:
            self._wait_for_room()

    def _post(self) -> Status:
        answer = Status(self._unposted(lib.heddle_flag_completion(self._flag)))
        if not answer.busy:
            self._unposted = None
        return answer

    def _wait_for_room(self):
        Request._waiting[id(self)] = self
        lib.heddle_when_ready(self._lane.c, ffi.new("heddle_completion*", [_on_room, ffi.NULL, id(self)])[0])

    def _post_again(self):
        with self._turn:
            if self._unposted is None:
                return
            answer = self._post()
        if answer.busy:
            self._wait_for_room()
        elif answer is not Status.POSTED:
            self._end(answer)

    def _end(self, answer: Status):
        """As the library ends what was posted."""
        ended = lib.heddle_flag_completion(self._flag)
        ended.deliver(ended.owner, ended.cookie, ffi.new("heddle_outcome*", {"code": answer, "lane": -1, "peer": -1}))

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
            elif lib.heddle_wait_flag_for(self._lane.c, self._flag, limit_ns(timeout)):
                self._outcome = outcome_of(lib.heddle_flag_result(self._flag))
            else:
                return None
            with Request._lock:
                Request._under_way.discard(self)
            self._kept = None
        self._lane.check(self._outcome.status, self._outcome.peer)
        return self._outcome

    def cancel(self) -> bool:
        """Takes back a receive, a flush or what waits for room: True, and wait() raises with Status.CANCELED. False: it
        has matched, or ended."""
        if self._outcome is not None:
            return False
        with self._turn:
            waited, self._unposted = self._unposted is not None, None
        if waited:
            self._end(Status.CANCELED)
            return True
        which = lib.heddle_flag_completion(self._flag)
        return self._lane.insist(lambda: lib.heddle_try_cancel(self._lane.c, which)) is Status.DONE


@ffi.callback("void(void*, uint64_t, const heddle_outcome*)")
def _on_room(_, which, _what):
    """There is room for a Request that waits, or its lane has ended."""
    Request._waiting.pop(which)._post_again()
