# SPDX-License-Identifier: BSD-3-Clause
"""The job this process belongs to."""
import atexit
import dataclasses
import weakref
from collections.abc import Mapping

import numpy

from ._library import ffi, lib, text
from .lane import Lane
from .matched import Matched
from .memory import ALL, Region, Remote, Symmetric
from .request import as_handler
from .status import set_up_error

MAX_HANDLERS = 1024

_open_worlds: "list[World]" = []  # also those that the program has forgotten: the library may call their handlers


@atexit.register
def _close_all():
    """While Python still can run handlers."""
    for world in reversed(_open_worlds.copy()):
        world.close()


@dataclasses.dataclass(frozen=True)
class Message:
    """What a handler gets. An answer goes to {source, lane}: here.icall(source, ..., lane=lane)."""

    source: int
    lane: int
    header: bytes
    payload: bytes
    here: Lane


@dataclasses.dataclass(frozen=True)
class ArrivingCall:
    """What a header handler gets: a call whose payload has no place yet. payload.irecv(array) puts it into an array,
    now or later: a large one is only then fetched from its sender. A payload that nobody keeps is dropped."""

    source: int
    lane: int
    header: bytes
    payload: Matched
    here: Lane


class World:
    """Joins the job it was launched in, by `heddle run`, mpirun, mpiexec or srun; alone it is a world of one.
    close() or `with` ends it, or the end of the program. Further ones are worlds of the same ranks beside the first,
    with lanes, handlers, tags and memory of their own: all ranks make them in the same order.

    `progress`: "adaptive", "inline", "dedicated" or "idle" (docs/guide/progress.md). `beside`: the world over which
    it joins; without, the first one. `settings`: by name, as docs/guide/settings.md has them; the environment wins."""

    def __init__(self, progress: str = "adaptive", executors: int = 1, executor_cores: str = "near", *,
                 beside: "World | None" = None, settings: "Mapping[str, str] | None" = None):
        options = ffi.new("heddle_world_options*")
        lib.heddle_world_options_init(options, ffi.sizeof(options[0]))
        modes = {"adaptive": lib.HEDDLE_PROGRESS_ADAPTIVE, "inline": lib.HEDDLE_PROGRESS_INLINE,
                 "dedicated": lib.HEDDLE_PROGRESS_DEDICATED, "idle": lib.HEDDLE_PROGRESS_IDLE}
        options.progress, options.executors = modes[progress], executors
        cores = ffi.new("char[]", executor_cores.encode())
        options.executor_cores = cores
        pairs = [ffi.new("char[]", f"{name}={value}".encode()) for name, value in (settings or {}).items()]
        listed = ffi.new("char*[]", [*pairs, ffi.NULL])
        options.settings = listed
        self._callbacks: "list[object]" = []  # what the library may call
        self._lanes: "weakref.WeakValueDictionary[int, Lane]" = weakref.WeakValueDictionary()  # by number
        self._c = (lib.heddle_world_open(options) if beside is None else
                   lib.heddle_world_open_beside(beside.c, options))
        if self._c == ffi.NULL:
            raise set_up_error()
        self._rank, self._size = lib.heddle_world_rank(self._c), lib.heddle_world_size(self._c)
        _open_worlds.append(self)

    @property
    def c(self):
        if self._c == ffi.NULL:
            raise ValueError("this world is closed")
        return self._c

    def close(self) -> None:
        """Flushes what was sent, and leaves the job. Lanes answer `closed` from then on."""
        c, self._c = self._c, ffi.NULL
        if c != ffi.NULL:
            lib.heddle_world_close(c)
            _open_worlds.remove(self)

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    # --- who is here ---------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        return self._rank

    @property
    def size(self) -> int:
        return self._size

    def route(self, peer: int) -> str:
        """Which backend carries what goes to `peer`."""
        return text(lib.heddle_world_route(self.c, peer))

    def host(self, peer: int) -> str:
        return text(lib.heddle_world_host(self.c, peer))

    def host_number(self, peer: int) -> int:
        return lib.heddle_world_host_number(self.c, peer)

    def describe(self) -> str:
        return text(lib.heddle_world_describe(self.c))

    def metrics(self) -> str:
        """What all lanes have counted, in the text format of Prometheus."""
        return text(lib.heddle_world_metrics(self.c))

    def barrier(self) -> None:
        """Waits for all ranks: for start-up and end. In loops, Lane.barrier()."""
        if lib.heddle_world_barrier(self.c) != 0:
            raise set_up_error()

    def idle_hook(self) -> int:
        return lib.heddle_world_idle_hook(self.c)

    # --- lanes and memory ------------------------------------------------------------------------

    def lane(self, number: int = -1, exclusive: bool = False) -> Lane:
        opened = Lane.opened(self, number, exclusive)
        self._lanes[opened.number] = opened
        return opened

    def symmetric(self, dtype, items: int, rights: int = ALL) -> Symmetric:
        """Collective: `items` of `dtype` on every rank, zero at first."""
        return Symmetric.made(self, dtype, items, rights)

    def expose_symmetric(self, array: numpy.ndarray, rights: int = ALL) -> Symmetric:
        """Collective: the array that each rank gives, of any size and one dtype, with what is in it."""
        return Symmetric.exposed(self, array, rights)

    def allocate(self, dtype, items: int, rights: int = ALL) -> Region:
        """Memory that peers on this host can map."""
        return Region.allocated(self, dtype, items, rights)

    def expose(self, array: numpy.ndarray, rights: int = ALL) -> Region:
        """Lets peers address an array that is there already."""
        return Region.exposed(self, array, rights)

    def import_key(self, key: bytes, dtype=numpy.uint8) -> Remote:
        """A peer's region, by its key."""
        return Remote(self, key, dtype)

    def _lane_of(self, here) -> Lane:
        """The program's lane that a handler runs on: what `here` points to goes when the handler returns, and the
        program may keep a Request or a Matched."""
        return self._lanes.get(lib.heddle_lane_number(here)) or Lane(self, here, False)

    def _message(self, here, m) -> Message:
        return Message(m.source, m.lane, bytes(ffi.buffer(m.header, m.header_bytes)),
                       bytes(ffi.buffer(m.payload, m.payload_bytes)), self._lane_of(here))

    def _set(self, number: "int | str", callback, by_name, by_number) -> None:
        """Sets what runs for a number or a name."""
        self._callbacks.append(callback)
        if isinstance(number, str):
            failed = by_name(self.c, number.encode(), callback, ffi.NULL) < 0
        else:
            failed = by_number(self.c, number, callback, ffi.NULL) != 0
        if failed:
            raise set_up_error()

    # --- what comes unasked ----------------------------------------------------------------------

    def handler(self, number: "int | str"):
        """Decorator: the function runs with a Message for each call to this number. Set it before a barrier.
        It runs on any thread, must not wait, and what it raises is printed and goes no further. Under a name it
        gets the same number on every rank, handler_id(name); then it is collective."""

        def set_handler(function):
            @as_handler
            def run(_, here, m):
                function(self._message(here, m))

            self._set(number, ffi.callback("heddle_call_handler", run), lib.heddle_world_add_handler,
                      lib.heddle_world_set_handler)
            return function

        return set_handler

    def header_handler(self, number: "int | str"):
        """Decorator: as handler(), but the function runs with an ArrivingCall when the header has come, and says where
        the payload goes."""

        def set_handler(function):
            @as_handler
            def run(_, here, call):
                lane = self._lane_of(here)
                payload = Matched(lane)
                lib.heddle_matched_move(payload.c, call.payload)
                header = bytes(ffi.buffer(call.header, call.header_bytes))
                function(ArrivingCall(call.source, call.lane, header, payload, lane))

            self._set(number, ffi.callback("heddle_header_handler", run), lib.heddle_world_add_header_handler,
                      lib.heddle_world_set_header_handler)
            return function

        return set_handler

    def handler_id(self, name: str) -> int:
        number = lib.heddle_world_handler(self.c, name.encode())
        if number < 0:
            raise set_up_error()
        return number

    def on_unknown_call(self, function) -> None:
        """`function(number, message)` runs for calls to numbers that have no handler."""

        @as_handler
        def run(_, here, number, m):
            function(number, self._message(here, m))

        c = ffi.callback("heddle_unknown_handler", run)
        self._callbacks.append(c)
        lib.heddle_world_on_unknown_call(self.c, c, ffi.NULL)

    def on_peer_lost(self, function) -> None:
        """`function(peer, why)` runs for each peer that is lost."""
        @as_handler
        def run(_, peer, why):
            function(peer, ffi.string(why).decode())

        c = ffi.callback("heddle_loss_handler", run)
        self._callbacks.append(c)
        lib.heddle_world_on_peer_lost(self.c, c, ffi.NULL)
