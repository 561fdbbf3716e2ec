# SPDX-License-Identifier: BSD-3-Clause
"""A lane: one path to all peers, where every operation starts."""
import weakref

import numpy

from ._library import ffi, lib, limit_ns, readable, text, writable
from .blocks import EXACT_TAG, SAME_LANE, Blocks
from .collectives import Collectives, Group
from .matched import Matched
from .memory import Address
from .request import Request
from .status import Error, Outcome, PeerLost, Status, outcome_of, set_up_error

ANY_SOURCE = -1
_EVERYBODY = -1
ANY_TAG = 2**63  #: mask, with tag 0: every tag
MAX_TAG = 2**63 - 1


_ON_FLOATS = (lib.HEDDLE_FLOAT_ADD, lib.HEDDLE_SWAP, lib.HEDDLE_COMPARE_SWAP)


def _by_name(counted):
    return {name: int(getattr(counted, name)) for name, _ in ffi.typeof(counted).fields if name != "size"}


class Lane(Collectives, Blocks):
    """Made by World.lane(). Any thread may use it. Functions that begin with i post an operation and return
    a Request; the others wait, and raise Error or PeerLost where it failed. Data is anything with a
    contiguous buffer: numpy arrays, bytes, bytearray, memoryview. Collectives are of all ranks."""

    def __init__(self, world, c, owned: bool):
        self._world = world
        self.stays = owned  # not only as long as the handler that was given it runs
        self._everyone: "Group | None" = None
        self.c = ffi.gc(c, lib.heddle_lane_close) if owned else c

    @classmethod
    def opened(cls, world, number: int, exclusive: bool) -> "Lane":
        options = ffi.new("heddle_lane_options*")
        lib.heddle_lane_options_init(options, ffi.sizeof(options[0]))
        options.number, options.exclusive = number, int(exclusive)
        c = lib.heddle_lane_open(world.c, options)
        if c == ffi.NULL:
            raise set_up_error()
        return cls(world, c, True)

    @property
    def number(self) -> int:
        return lib.heddle_lane_number(self.c)

    def why(self, peer: int) -> str:
        """Why `peer` is lost; empty: it is not."""
        return text(lib.heddle_lane_why(self.c, peer))

    # --- what it counts: the names are those of counters.h ---------------------------------------

    def counters(self) -> "dict[str, int]":
        """What the lane has counted so far."""
        counted = ffi.new("heddle_lane_counters*")
        lib.heddle_lane_counters_init(counted, ffi.sizeof(counted[0]))
        lib.heddle_lane_read_counters(self.c, counted)
        return _by_name(counted[0])

    def peer_counters(self) -> "list[dict[str, int]]":
        """The same of each lane of a peer that it has had to do with."""
        each, found, room = ffi.sizeof("heddle_peer_counters"), ffi.new("size_t*"), 64
        while True:
            into = ffi.new("heddle_peer_counters[]", room)
            self.check(self.insist(lambda: lib.heddle_lane_read_peer_counters(self.c, into, room, each, found)))
            if found[0] <= room:
                return [_by_name(into[i]) for i in range(found[0])]
            room = found[0]

    # --- answers -----------------------------------------------------------------------------

    def insist(self, ask) -> Status:
        """`ask()` again and again while the lane has no room."""
        answer = Status(ask())
        while answer.busy:
            self.poll()
            answer = Status(ask())
        return answer

    def check(self, status, peer: int = -1) -> None:
        """Raises for what failed."""
        status = Status(status)
        if status in (Status.DONE, Status.POSTED):
            return
        name = status.name.lower()
        if status is Status.PEER_LOST:
            if peer < 0:  # not known here: any that is lost
                peer = next((each for each in range(self._world.size) if self.why(each)), -1)
            why = self.why(peer) if peer >= 0 else ""
            raise PeerLost(f"rank {peer} is lost: {why}" if why else name, status)
        raise Error(name, status)

    # --- memory of peers -----------------------------------------------------------------------

    def put(self, data, to: Address) -> None:
        view, size = readable(data)
        self.check(lib.heddle_put(self.c, view, size, to.c))

    def get(self, into, place: Address) -> None:
        view, size = writable(into)
        self.check(lib.heddle_get(self.c, view, size, place.c))

    def put_notify(self, data, to: Address, handler: int, value: int = 0) -> None:
        """put, and then the handler runs at the peer with the 8 bytes of `value` as its header."""
        view, size = readable(data)
        self.check(lib.heddle_put_notify(self.c, view, size, to.c, handler, value))

    def put_signal(self, data, to: Address, word: Address, value: int = 1, add: bool = True) -> None:
        """put, and then `value` is added to the peer's `word` of 8 bytes, or stored there. Who sees the word
        changed, by wait_until, sees the data."""
        self._check_word(word)
        view, size = readable(data)
        how = lib.HEDDLE_ADD if add else lib.HEDDLE_SWAP
        self.check(lib.heddle_put_signal(self.c, view, size, to.c, how, word.c, value % 2**64))

    def iput_signal(self, data, to: Address, word: Address, value: int = 1, add: bool = True) -> Request:
        self._check_word(word)
        view, size = readable(data)
        how = lib.HEDDLE_ADD if add else lib.HEDDLE_SWAP
        return Request(self, lambda c: lib.heddle_try_put_signal(self.c, view, size, to.c, how, word.c,
                                                                 value % 2**64, c), (data, view, to, word))

    @staticmethod
    def _check_word(at: Address) -> None:
        if at.dtype.kind not in "iu" or at.dtype.itemsize != 8:
            raise TypeError(f"a signal is an integer of 8 bytes, not {at.dtype}")

    def iput(self, data, to: Address) -> Request:
        view, size = readable(data)
        return Request(self, lambda c: lib.heddle_try_put(self.c, view, size, to.c, c), (data, view, to))

    def iget(self, into, place: Address) -> Request:
        view, size = writable(into)
        return Request(self, lambda c: lib.heddle_try_get(self.c, view, size, place.c, c), (into, view, place))

    # --- atomics: on numbers of 4 or 8 bytes, as the address says; floating ones are added to and swapped ---

    def _atomic(self, op, at: Address, operand, compare=0):
        kind, size = at.dtype.kind, at.dtype.itemsize
        if kind not in "iuf" or (kind == "f" and op not in _ON_FLOATS):
            raise TypeError(f"there is no such atomic on {at.dtype}")

        def word(value) -> int:
            if kind == "f":
                return int(numpy.array([value], at.dtype).view(f"u{size}")[0])
            return value & (2 ** (8 * size) - 1)

        old = numpy.zeros(1, at.dtype)
        view, _ = writable(old)
        self.check(lib.heddle_atomic(self.c, op, size, at.c, word(operand), word(compare), view))
        return old[0].item()

    def fetch_add(self, at: Address, value):
        return self._atomic(lib.HEDDLE_FLOAT_ADD if at.dtype.kind == "f" else lib.HEDDLE_ADD, at, value)

    def fetch_min(self, at: Address, value: int) -> int:
        return self._atomic(lib.HEDDLE_SIGNED_MIN if at.dtype.kind == "i" else lib.HEDDLE_UNSIGNED_MIN, at, value)

    def fetch_max(self, at: Address, value: int) -> int:
        return self._atomic(lib.HEDDLE_SIGNED_MAX if at.dtype.kind == "i" else lib.HEDDLE_UNSIGNED_MAX, at, value)

    def fetch_and(self, at: Address, value: int) -> int:
        return self._atomic(lib.HEDDLE_AND, at, value)

    def fetch_or(self, at: Address, value: int) -> int:
        return self._atomic(lib.HEDDLE_OR, at, value)

    def fetch_xor(self, at: Address, value: int) -> int:
        return self._atomic(lib.HEDDLE_XOR, at, value)

    def swap(self, at: Address, desired):
        return self._atomic(lib.HEDDLE_SWAP, at, desired)

    def compare_swap(self, at: Address, expected, desired):
        """The old value: `desired` was stored where it is `expected`."""
        return self._atomic(lib.HEDDLE_COMPARE_SWAP, at, desired, expected)

    # --- messages ----------------------------------------------------------------------------------

    def send(self, to: int, tag: int, data, lane: int = SAME_LANE) -> None:
        view, size = readable(data)
        self.check(lib.heddle_send(self.c, to, lane, tag, view, size), to)

    def recv(self, source: int, tag: int, into, mask: int = EXACT_TAG, timeout: "float | None" = None) -> Outcome:
        """Source, tag and length of what came. Raises Error with Status.TRUNCATED where it was longer, and with
        Status.TIMED_OUT when `timeout` seconds passed without a message: then nothing has been received."""
        view, size = writable(into)
        outcome = outcome_of(lib.heddle_recv_for(self.c, source, tag, mask, view, size, limit_ns(timeout))
                             if timeout is not None else lib.heddle_recv(self.c, source, tag, mask, view, size))
        self.check(outcome.status, source)
        return outcome

    def isend(self, to: int, tag: int, data, lane: int = SAME_LANE) -> Request:
        view, size = readable(data)
        return Request(self, lambda c: lib.heddle_try_send(self.c, to, lane, tag, view, size, c), (data, view))

    def irecv(self, source: int, tag: int, into, mask: int = EXACT_TAG) -> Request:
        view, size = writable(into)
        return Request(self, lambda c: lib.heddle_try_recv(self.c, source, tag, mask, view, size, c), (into, view))

    def probe(self, source: int, tag: int, mask: int = EXACT_TAG) -> "Outcome | None":
        """Of a message that a receive would take now; None: there is none."""
        found = ffi.new("heddle_outcome*")
        answer = self.insist(lambda: lib.heddle_try_probe(self.c, source, tag, mask, found))
        if answer is Status.NOT_FOUND:
            return None
        self.check(answer, source)
        return outcome_of(found)

    def match(self, source: int, tag: int, mask: int = EXACT_TAG, timeout: "float | None" = None) -> Matched:
        """Waits for a message that a receive would take, and takes it: match(source, tag).array(dtype) receives
        what is of unknown size. Raises Error with Status.TIMED_OUT when `timeout` seconds passed without one."""
        found = Matched(self)
        outcome = outcome_of(lib.heddle_match_for(self.c, source, tag, mask, found.c, limit_ns(timeout))
                             if timeout is not None else lib.heddle_match(self.c, source, tag, mask, found.c))
        self.check(outcome.status, source)
        return found

    def try_match(self, source: int, tag: int, mask: int = EXACT_TAG) -> "Matched | None":
        """The same for one that has come already; None: there is none."""
        found = Matched(self)
        answer = self.insist(lambda: lib.heddle_try_probe_matched(self.c, source, tag, mask, found.c))
        if answer is Status.NOT_FOUND:
            return None
        self.check(answer, source)
        return found

    def call(self, to: int, handler: int, header=b"", payload=b"", lane: int = SAME_LANE) -> None:
        """Runs World.handler number `handler` at `to`. It may not have run yet on return."""
        h, header_bytes = readable(header)
        p, payload_bytes = readable(payload)
        self.check(lib.heddle_call(self.c, to, lane, handler, h, header_bytes, p, payload_bytes), to)

    def icall(self, to: int, handler: int, header=b"", payload=b"", lane: int = SAME_LANE) -> Request:
        h, header_bytes = readable(header)
        p, payload_bytes = readable(payload)
        return Request(self, lambda c: lib.heddle_try_call(self.c, to, lane, handler, h, header_bytes, p,
                                                           payload_bytes, c), (header, payload, h, p))

    # --- order and waiting ---------------------------------------------------------------------------

    def poll(self) -> int:
        return lib.heddle_poll(self.c)

    def flush(self, peer: "int | None" = None, timeout: "float | None" = None) -> None:
        """All puts, gets and atomics posted to the peer, or to everybody, before it have completed. Raises Error with
        Status.TIMED_OUT when `timeout` seconds passed first."""
        whom = _EVERYBODY if peer is None else peer
        self.check(lib.heddle_flush(self.c, whom) if timeout is None
                   else lib.heddle_flush_for(self.c, whom, limit_ns(timeout)), whom)

    def fence(self, peer: int, timeout: "float | None" = None) -> None:
        """What is posted to the peer afterwards takes effect after what was posted before. `timeout`: as flush."""
        self.check(lib.heddle_fence(self.c, peer) if timeout is None
                   else lib.heddle_fence_for(self.c, peer, limit_ns(timeout)), peer)

    def iflush(self, peer: "int | None" = None) -> Request:
        """Ends when what was posted before it has: see flush."""
        whom = _EVERYBODY if peer is None else peer
        return Request(self, lambda c: lib.heddle_try_flush(self.c, whom, c), ())

    def ifence(self, peer: int) -> Request:
        """Ends when what is posted takes effect after what was posted before it: see fence."""
        return Request(self, lambda c: lib.heddle_try_fence(self.c, peer, c), ())

    def wait_until(self, word: numpy.ndarray, true_of, timeout: "float | None" = None) -> bool:
        """Waits until `true_of(value)` for the one item of `word`, in this rank's memory, that peers change.
        False: `timeout` seconds passed first."""
        if word.size != 1 or word.dtype.kind not in "iu":
            raise TypeError("wait_until looks at one integer, like array[3:4]")
        failed = []

        def look(_, value):
            try:
                return bool(true_of(int(numpy.array([value], f"u{word.dtype.itemsize}").view(word.dtype)[0])))
            except BaseException as problem:  # raised where it belongs
                failed.append(problem)
                return True

        asked = ffi.callback("bool(void*, uint64_t)", look)
        view, _ = readable(word)
        answer = lib.heddle_wait_until(self.c, view, word.dtype.itemsize, asked, ffi.NULL, limit_ns(timeout))
        if failed:
            raise failed[0]
        return answer

    # --- groups ----------------------------------------------------------------------------------------

    @property
    def group(self) -> Group:
        """All ranks. Its collectives are the lane's: lane.barrier() is lane.group.barrier()."""
        return Group.of_lane(self)

    def _team(self) -> Group:
        if self._everyone is None:
            self._everyone = Group(weakref.proxy(self), lib.heddle_group_of(self.c))  # or neither would ever go
        return self._everyone
