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


def _array(pointer, items, dtype, owner):
    """`items` of memory that `owner` keeps."""
    if items == 0:
        return numpy.empty(0, dtype)
    bytes_ = ffi.buffer(ffi.cast("char*", pointer), items * dtype.itemsize)
    array = numpy.frombuffer(bytes_, dtype)
    array.flags.writeable = True
    return _Owned.of(array, owner)


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
    """The same items on every rank. `local` is this rank's part."""

    def __init__(self, world, dtype, items: int, rights: int):
        self.dtype = numpy.dtype(dtype)
        self.size = items
        c = lib.heddle_symmetric_open(world.c, items * self.dtype.itemsize, rights)
        if c == ffi.NULL:
            raise set_up_error()
        self.c = ffi.gc(c, lib.heddle_symmetric_close)

    @property
    def local(self) -> numpy.ndarray:
        return _array(lib.heddle_symmetric_local(self.c), self.size, self.dtype, self)

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
