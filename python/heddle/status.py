# SPDX-License-Identifier: BSD-3-Clause
"""How operations answer and end."""
import dataclasses
import enum

from ._library import ffi, lib


class Status(enum.IntEnum):
    """As heddle/status.h."""

    DONE = lib.HEDDLE_DONE
    POSTED = lib.HEDDLE_POSTED
    BUSY_QUEUE = lib.HEDDLE_BUSY_QUEUE
    BUSY_RECORDS = lib.HEDDLE_BUSY_RECORDS
    BUSY_LANE = lib.HEDDLE_BUSY_LANE
    NOT_FOUND = lib.HEDDLE_NOT_FOUND
    CANCELED = lib.HEDDLE_CANCELED
    TRUNCATED = lib.HEDDLE_TRUNCATED
    OUT_OF_BOUNDS = lib.HEDDLE_OUT_OF_BOUNDS
    MISALIGNED = lib.HEDDLE_MISALIGNED
    DENIED = lib.HEDDLE_DENIED
    WITHDRAWN = lib.HEDDLE_WITHDRAWN
    PEER_LOST = lib.HEDDLE_PEER_LOST
    INVALID = lib.HEDDLE_INVALID
    UNSUPPORTED = lib.HEDDLE_UNSUPPORTED
    NO_MEMORY = lib.HEDDLE_NO_MEMORY
    CLOSED = lib.HEDDLE_CLOSED
    TIMED_OUT = lib.HEDDLE_TIMED_OUT

    @property
    def busy(self) -> bool:
        return Status.BUSY_QUEUE <= self <= Status.BUSY_LANE


class Error(Exception):
    """An operation failed, or set-up did (then `status` is None)."""

    def __init__(self, text: str, status: "Status | None" = None):
        super().__init__(text)
        self.status = status


class PeerLost(Error):
    """The peer, or one of several, died, hung up or fell silent; the text says which."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What is known at the end of an operation. `peer`, `lane`, `tag`: of a receive, its message's."""

    status: Status
    peer: int
    lane: int
    tag: int
    bytes: int


def outcome_of(c) -> Outcome:
    return Outcome(Status(c.code), c.peer, c.lane, c.tag, c.bytes)


def set_up_error() -> Error:
    """Why the calling thread's last set-up failed."""
    return Error(ffi.string(lib.heddle_error()).decode())
