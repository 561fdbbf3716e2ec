# SPDX-License-Identifier: BSD-3-Clause
"""A message that was taken out of matching, or the payload of an arriving call: it waits for its buffer."""
import numpy

from ._library import ffi, lib, writable
from .request import Request
from .status import Outcome, outcome_of


class Matched:
    """From Lane.match(), Lane.try_match() or an ArrivingCall. No receive and no probe finds that message any more.
    Dropped when it goes."""

    def __init__(self, lane):
        self._lane = lane
        self.c = ffi.gc(lib.heddle_matched_new(), lib.heddle_matched_free)
        if self.c == ffi.NULL:
            raise MemoryError("no memory for a message")

    @property
    def what(self) -> Outcome:
        """Of the message: source and its lane, tag, length. Stays after its receive."""
        return outcome_of(lib.heddle_matched_what(self.c))

    @property
    def holds(self) -> bool:
        return lib.heddle_matched_holds(self.c)

    def recv(self, into) -> Outcome:
        """Raises Error with Status.TRUNCATED where the message was longer."""
        view, size = writable(into)
        outcome = outcome_of(lib.heddle_recv_matched(self._lane.c, self.c, view, size))
        self._lane.check(outcome.status, outcome.peer)
        return outcome

    def irecv(self, into) -> Request:
        """Posts the receive, and does not wait: also in a handler."""
        view, size = writable(into)
        return Request(self._lane, lambda c: lib.heddle_try_recv_matched(self._lane.c, self.c, view, size, c),
                       (into, view, self))

    def array(self, dtype=numpy.uint8) -> numpy.ndarray:
        """Receives it as an array of `dtype`."""
        dtype = numpy.dtype(dtype)
        if self.what.bytes % dtype.itemsize != 0:
            raise ValueError(f"a message of {self.what.bytes} bytes is no array of {dtype}")
        out = numpy.empty(self.what.bytes // dtype.itemsize, dtype)
        self.recv(out)
        return out

    def drop(self) -> None:
        """Receives it into no memory."""
        lib.heddle_matched_drop(self.c)
