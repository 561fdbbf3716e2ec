# SPDX-License-Identifier: BSD-3-Clause
"""Memory that peers may address, as numpy arrays."""
import dataclasses

import numpy

from ._library import ffi, lib, writable
from .status import set_up_error

READ, WRITE, ATOMIC, ALL = lib.HEDDLE_READ, lib.HEDDLE_WRITE, lib.HEDDLE_ATOMIC, lib.HEDDLE_ALL_RIGHTS


@dataclasses.dataclass(frozen=True)
class Address:
    """A place in a peer's memory, of items of `dtype`. Keeps what it belongs to alive."""

    c: object
    dtype: numpy.dtype
    owner: object

    def __add__(self, items: int) -> "Address":
        c = ffi.new("heddle_address*", self.c)[0]
        c.offset += items * self.dtype.itemsize
        return Address(c, self.dtype, self.owner)


def _array(pointer, items, dtype, owner, may_write=True):
    """`items` of memory that `owner` keeps."""
    if items == 0:
        return numpy.empty(0, dtype)
    bytes_ = ffi.buffer(ffi.cast("char*", pointer), items * dtype.itemsize)
    array = numpy.frombuffer(bytes_, dtype)
    array.flags.writeable = may_write
    return _Owned.of(array, owner)


def _mapped(pointer, bytes_, dtype, owner, rights):
    """A peer's memory that this process has mapped; None: it has not."""
    if pointer == ffi.NULL:
        return None
    return _array(pointer, bytes_ // dtype.itemsize, dtype, owner, rights & (WRITE | ATOMIC) != 0)


class _Owned(numpy.ndarray):
    """An array that keeps the region in which it lies."""

    @classmethod
    def of(cls, array, owner):
        made = array.view(cls)
        made._heddle_owner = owner
        return made

    def __array_finalize__(self, source):
        self._heddle_owner = getattr(source, "_heddle_owner", None)


class Symmetric:
    """An array with a part on every rank. `local` is this rank's, of `size` items."""

    def __init__(self, c, world, dtype, items: int, rights: int, memory=None):
        if c == ffi.NULL:
            raise set_up_error()
        self.c = ffi.gc(c, lib.heddle_symmetric_close)
        self.dtype = numpy.dtype(dtype)
        self.size = items
        self._rank, self._rights = world.rank, rights
        self._memory = memory  # stays as long as the array

    @classmethod
    def made(cls, world, dtype, items: int, rights: int) -> "Symmetric":
        c = lib.heddle_symmetric_open(world.c, items * numpy.dtype(dtype).itemsize, rights)
        return cls(c, world, dtype, items, rights)

    @classmethod
    def exposed(cls, world, array: numpy.ndarray, rights: int) -> "Symmetric":
        data, bytes_ = writable(array)
        c = lib.heddle_expose_symmetric(world.c, data, bytes_, rights)
        return cls(c, world, array.dtype, array.size, rights, (array, data))

    @property
    def local(self) -> numpy.ndarray:
        return _array(lib.heddle_symmetric_local(self.c), self.size, self.dtype, self)

    def size_of(self, peer: int) -> int:
        """How many items `peer` has."""
        return lib.heddle_symmetric_bytes(self.c, peer) // self.dtype.itemsize

    def mapped_memory(self, peer: int) -> "numpy.ndarray | None":
        """The part of `peer` where this process has it mapped, to be used as memory that processes share: what was
        stored before a message or a barrier is there behind it. None: it is not mapped, or no longer."""
        if peer == self._rank:
            return self.local
        pointer = lib.heddle_symmetric_mapped_memory(self.c, peer)
        return _mapped(pointer, lib.heddle_symmetric_bytes(self.c, peer), self.dtype, self, self._rights)

    def at(self, peer: int, index: int = 0) -> Address:
        """Where `peer` keeps item `index`."""
        return Address(lib.heddle_symmetric_at(self.c, peer, index * self.dtype.itemsize), self.dtype, self)


class Region:
    """Memory of this rank that peers may address: `local`. Send `key` to a peer, which imports it."""

    def __init__(self, c, dtype, memory=None):
        if c == ffi.NULL:
            raise set_up_error()
        self.c = ffi.gc(c, lib.heddle_region_close)
        self.dtype = numpy.dtype(dtype)
        self._memory = memory  # stays as long as the region

    @classmethod
    def exposed(cls, world, array: numpy.ndarray, rights: int) -> "Region":
        data, bytes_ = writable(array)
        return cls(lib.heddle_expose(world.c, data, bytes_, rights), array.dtype, (array, data))

    @classmethod
    def allocated(cls, world, dtype, items: int, rights: int) -> "Region":
        return cls(lib.heddle_allocate(world.c, items * numpy.dtype(dtype).itemsize, rights), dtype)

    @property
    def local(self) -> numpy.ndarray:
        items = lib.heddle_region_bytes(self.c) // self.dtype.itemsize
        return _array(lib.heddle_region_memory(self.c), items, self.dtype, self)

    @property
    def key(self) -> bytes:
        return bytes(ffi.buffer(ffi.new("heddle_key*", lib.heddle_region_key(self.c))))

    def withdraw(self) -> None:
        lib.heddle_region_withdraw(self.c)


class Remote:
    """A peer's region."""

    def __init__(self, world, key: bytes, dtype):
        self.dtype = numpy.dtype(dtype)
        given = ffi.new("heddle_key*")
        if len(key) != ffi.sizeof("heddle_key"):
            raise ValueError(f"a key has {ffi.sizeof('heddle_key')} bytes, not {len(key)}")
        ffi.buffer(given)[:] = key
        c = lib.heddle_import(world.c, given)
        if c == ffi.NULL:
            raise set_up_error()
        self.c = ffi.gc(c, lib.heddle_remote_close)

    def at(self, index: int = 0) -> Address:
        return Address(lib.heddle_remote_at(self.c, index * self.dtype.itemsize), self.dtype, self)

    @property
    def bytes(self) -> int:
        return lib.heddle_remote_bytes(self.c)

    @property
    def owner(self) -> int:
        return lib.heddle_remote_owner(self.c)

    @property
    def mapped(self) -> bool:
        return lib.heddle_remote_mapped(self.c)

    @property
    def rights(self) -> int:
        """What may be done with it, as far as that is known here."""
        return lib.heddle_remote_rights(self.c)

    def mapped_memory(self) -> "numpy.ndarray | None":
        """The region where this process has it mapped: see Symmetric.mapped_memory."""
        return _mapped(lib.heddle_remote_mapped_memory(self.c), self.bytes, self.dtype, self, self.rights)
