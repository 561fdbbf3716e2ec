# SPDX-License-Identifier: BSD-3-Clause
"""Collectives: operations that all ranks of a lane, or all members of a group, take part in."""
import numpy

from ._library import ffi, lib, readable, writable

NO_COLOR = -1  #: of a rank that wants to be in no group

_TYPES = {numpy.dtype(name): getattr(lib, "HEDDLE_" + c) for name, c in (
    ("int8", "INT8"), ("int16", "INT16"), ("int32", "INT32"), ("int64", "INT64"),
    ("uint8", "UINT8"), ("uint16", "UINT16"), ("uint32", "UINT32"), ("uint64", "UINT64"),
    ("float32", "FLOAT"), ("float64", "DOUBLE"))}
_REDUCTIONS = {"sum": lib.HEDDLE_SUM, "min": lib.HEDDLE_MIN, "max": lib.HEDDLE_MAX, "prod": lib.HEDDLE_PROD,
               "and": lib.HEDDLE_BIT_AND, "or": lib.HEDDLE_BIT_OR, "xor": lib.HEDDLE_BIT_XOR}


def _vector(array):
    array = numpy.ascontiguousarray(array)
    if array.dtype not in _TYPES:
        raise TypeError(f"reductions do not know {array.dtype}")
    return array


def _part(array, blocks: int):
    """Like one of so many equal blocks of `array`, along its first axis."""
    if array.ndim == 0 or array.shape[0] % blocks != 0:
        raise ValueError(f"the first axis must be {blocks} equal blocks, one for each rank")
    return numpy.empty((array.shape[0] // blocks, *array.shape[1:]), array.dtype)


class Collectives:
    """What lanes and groups have in common. All ranks call them in the same order, with arrays of the same
    size where nothing else is said; roots and blocks count by the ranks of the group."""

    def _team(self) -> "Group":
        raise NotImplementedError

    def _run(self, function, *arguments) -> None:
        team = self._team()
        team.lane.check(function(team.c, *arguments))

    def _bytes(self, counts, array, root=None):
        """Of each rank's part, where counts are in items; None: only `root` knows them."""
        if counts is None:
            if root is None or self._team().rank == root:
                raise ValueError("this rank gives counts, one for each rank")
            return ffi.NULL, 0
        if len(counts) != self._team().ranks:
            raise ValueError(f"{len(counts)} counts for {self._team().ranks} ranks")
        return ffi.new("size_t[]", [int(n) * array.itemsize for n in counts]), sum(counts)

    def split(self, color: int, key: int = 0) -> "Group":
        """The group of the ranks that give the same color, in the order of their keys. Of nobody, for a
        negative color."""
        into = Group.of_nobody(self._team().lane)
        self._run(lib.heddle_split, color, key, into.c)
        return into

    def survivors(self) -> "Group":
        """The group of the ranks that are alive, on which they agree. All living ranks call it at the same
        place among the collectives."""
        into = Group.of_nobody(self._team().lane)
        self._run(lib.heddle_survivors, into.c)
        return into

    def barrier(self) -> None:
        self._run(lib.heddle_group_barrier)

    def broadcast(self, data, root: int = 0) -> None:
        """`data` of rank `root` replaces everybody's."""
        view, size = writable(data)
        self._run(lib.heddle_group_broadcast, view, size, root)

    def _reduction(self, function, array, op):
        array = _vector(array)
        out = numpy.empty_like(array)
        self._run(function, readable(array)[0], writable(out)[0], array.size, _TYPES[array.dtype], _REDUCTIONS[op])
        return out

    def reduce(self, array, op: str = "sum", root: int = 0) -> "numpy.ndarray | None":
        """Item by item over all ranks, at `root`; None elsewhere."""
        array = _vector(array)
        out = numpy.empty_like(array) if self._team().rank == root else None
        into = ffi.NULL if out is None else writable(out)[0]
        self._run(lib.heddle_group_reduce, readable(array)[0], into, array.size, _TYPES[array.dtype],
                  _REDUCTIONS[op], root)
        return out

    def allreduce(self, array, op: str = "sum") -> numpy.ndarray:
        return self._reduction(lib.heddle_group_allreduce, array, op)

    def scan(self, array, op: str = "sum") -> numpy.ndarray:
        """Item by item over the ranks up to this one, itself included."""
        return self._reduction(lib.heddle_group_scan, array, op)

    def exclusive_scan(self, array, op: str = "sum") -> "numpy.ndarray | None":
        """Item by item over the ranks before this one; None at rank 0."""
        out = self._reduction(lib.heddle_group_exclusive_scan, array, op)
        return None if self._team().rank == 0 else out

    def reduce_scatter(self, array, op: str = "sum") -> numpy.ndarray:
        """This rank's block of the reduction of `array`, whose first axis is one block for each rank."""
        array = _vector(array)
        out = _part(array, self._team().ranks)
        self._run(lib.heddle_group_reduce_scatter, readable(array)[0], writable(out)[0], out.size,
                  _TYPES[array.dtype], _REDUCTIONS[op])
        return out

    def gather(self, array, root: int = 0) -> "numpy.ndarray | None":
        """Everybody's array in the order of ranks, at `root`; None elsewhere."""
        array = numpy.ascontiguousarray(array)
        team = self._team()
        out = numpy.empty((team.ranks, *array.shape), array.dtype) if team.rank == root else None
        into = ffi.NULL if out is None else writable(out)[0]
        self._run(lib.heddle_group_gather, readable(array)[0], into, array.nbytes, root)
        return out

    def scatter(self, array, into: numpy.ndarray, root: int = 0) -> None:
        """`into` becomes this rank's block of the root's `array`, which is None elsewhere."""
        view, size = writable(into)
        given = ffi.NULL
        if self._team().rank == root:
            array = numpy.ascontiguousarray(array, into.dtype)
            if array.nbytes != size * self._team().ranks:
                raise ValueError(f"{array.nbytes} bytes are not {self._team().ranks} blocks of {size}")
            given = readable(array)[0]
        self._run(lib.heddle_group_scatter, given, view, size, root)

    def allgather(self, array) -> numpy.ndarray:
        """Everybody's array in the order of ranks."""
        array = numpy.ascontiguousarray(array)
        out = numpy.empty((self._team().ranks, *array.shape), array.dtype)
        self._run(lib.heddle_group_allgather, readable(array)[0], writable(out)[0], array.nbytes)
        return out

    def alltoall(self, array) -> numpy.ndarray:
        """Block r of `array`, along its first axis, goes to rank r; block s of the result comes from rank s."""
        array = numpy.ascontiguousarray(array)
        _part(array, self._team().ranks)
        out = numpy.empty_like(array)
        self._run(lib.heddle_group_alltoall, readable(array)[0], writable(out)[0],
                  array.nbytes // self._team().ranks)
        return out

    # --- of arrays whose lengths differ: counts are in items, one for each rank; results are flat ------------

    def gatherv(self, array, counts=None, root: int = 0) -> "numpy.ndarray | None":
        """gather of so many items of each rank. `counts` at the root; None elsewhere."""
        array = numpy.ascontiguousarray(array)
        sizes, items = self._bytes(counts, array, root)
        out = numpy.empty(items, array.dtype) if self._team().rank == root else None
        into = ffi.NULL if out is None else writable(out)[0]
        self._run(lib.heddle_group_gatherv, readable(array)[0], array.nbytes, into, sizes, root)
        return out

    def scatterv(self, array, into: numpy.ndarray, counts=None, root: int = 0) -> None:
        """scatter of so many items to each rank. `array` and `counts` at the root; None elsewhere."""
        view, size = writable(into)
        given = ffi.NULL
        sizes, items = self._bytes(counts, into, root)
        if self._team().rank == root:
            array = numpy.ascontiguousarray(array, into.dtype)
            if array.size != items:
                raise ValueError(f"{array.size} items, and counts of {items}")
            given = readable(array)[0]
        self._run(lib.heddle_group_scatterv, given, sizes, view, size, root)

    def allgatherv(self, array, counts) -> numpy.ndarray:
        """allgather of so many items of each rank."""
        array = numpy.ascontiguousarray(array)
        sizes, items = self._bytes(counts, array)
        out = numpy.empty(items, array.dtype)
        self._run(lib.heddle_group_allgatherv, readable(array)[0], array.nbytes, writable(out)[0], sizes)
        return out

    def alltoallv(self, array, counts_to, counts_from) -> numpy.ndarray:
        """alltoall of so many items to each rank and from each."""
        array = numpy.ascontiguousarray(array)
        given, items = self._bytes(counts_to, array)
        if array.size != items:
            raise ValueError(f"{array.size} items, and counts of {items}")
        taken, items = self._bytes(counts_from, array)
        out = numpy.empty(items, array.dtype)
        self._run(lib.heddle_group_alltoallv, readable(array)[0], given, writable(out)[0], taken)
        return out


class Group(Collectives):
    """Some of the ranks, with collectives of their own. From split() or survivors() of a lane or a group."""

    def __init__(self, lane, c):
        if c == ffi.NULL:
            raise MemoryError("no memory for a group")
        self.lane, self.c = lane, ffi.gc(c, lib.heddle_group_free)

    @classmethod
    def of_lane(cls, lane) -> "Group":
        return cls(lane, lib.heddle_group_of(lane.c))

    @classmethod
    def of_nobody(cls, lane) -> "Group":
        return cls(lane, lib.heddle_group_new())

    def _team(self) -> "Group":
        return self

    @property
    def rank(self) -> int:
        """This process's in the group; -1: it is a group of nobody."""
        return lib.heddle_group_self(self.c)

    @property
    def ranks(self) -> int:
        return lib.heddle_group_ranks(self.c)

    def world_rank(self, member: int) -> int:
        """The rank in the world of a rank in the group; -1: there is no such member."""
        return lib.heddle_group_world_rank(self.c, member)

    def member(self, world_rank: int) -> int:
        """The other way round; -1: it is no member."""
        return lib.heddle_group_member(self.c, world_rank)
