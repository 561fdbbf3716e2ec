# SPDX-License-Identifier: BSD-3-Clause
"""Operations on many blocks that end as one: lists of them, and grids."""
import typing

import numpy

from ._library import ffi, lib, limit_ns, readable, writable
from .memory import Address
from .request import Request
from .status import Outcome, outcome_of

if typing.TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SAME_LANE = -1
EXACT_TAG = 2**64 - 1  #: mask: the tag itself


def _pairs(kind: str, blocks, view_of):
    """Of (data, address): the list for the library, how long it is, and what must stay as long as it is used."""
    views = [(*view_of(data), at) for data, at in blocks]
    return ffi.new(kind, [(view, size, at.c) for view, size, at in views]), len(views), views


def _parts(kind: str, blocks, view_of):
    """The same, of data alone."""
    views = [view_of(data) for data in blocks]
    return ffi.new(kind, views), len(views), views


def _grid(data: numpy.ndarray, at: Address, strides: "Sequence[int]"):
    """First block, its bytes, and the strides of the axes before the last one."""
    if data.ndim == 0 or len(strides) != data.ndim - 1:
        raise ValueError(f"an array of {data.ndim} axes has a stride for each but the last, not {len(strides)}")
    if data.dtype != at.dtype:
        raise TypeError(f"the array is of {data.dtype}, the peer's of {at.dtype}")
    if data.shape[-1] > 1 and data.strides[-1] != data.itemsize:
        raise ValueError("the items of the last axis do not follow each other")
    axes = [(count, here, there * data.itemsize) for count, here, there in zip(data.shape, data.strides, strides)]
    first = ffi.cast("char*", data.ctypes.data)
    return first, data.shape[-1] * data.itemsize, ffi.new("heddle_stride[]", axes), len(axes)


class Blocks:
    """Of a Lane. Functions that begin with i return a Request, as the lane's others do. What they are given stays as
    it is until they have ended, but for messages that leave, whose blocks may be changed on return."""

    c: typing.Any  # the lane's, as is check()
    if typing.TYPE_CHECKING:
        def check(self, status, peer: int = -1) -> None: ...

    # --- memory of peers: of several of them, if wanted -------------------------------------------

    def put_blocks(self, blocks: "Iterable[tuple[typing.Any, Address]]") -> None:
        """`blocks`: what goes, and where to."""
        c, count, _views = _pairs("heddle_put_block[]", blocks, readable)
        self.check(lib.heddle_put_blocks(self.c, c, count))

    def get_blocks(self, blocks: "Iterable[tuple[typing.Any, Address]]") -> None:
        """`blocks`: where it goes, and from where."""
        c, count, _views = _pairs("heddle_get_block[]", blocks, writable)
        self.check(lib.heddle_get_blocks(self.c, c, count))

    def iput_blocks(self, blocks: "Iterable[tuple[typing.Any, Address]]") -> Request:
        listed, count, views = _pairs("heddle_put_block[]", blocks, readable)
        return Request(self, lambda c: lib.heddle_try_put_blocks(self.c, listed, count, c), (listed, views))

    def iget_blocks(self, blocks: "Iterable[tuple[typing.Any, Address]]") -> Request:
        listed, count, views = _pairs("heddle_get_block[]", blocks, writable)
        return Request(self, lambda c: lib.heddle_try_get_blocks(self.c, listed, count, c), (listed, views))

    def put_grid(self, data: numpy.ndarray, to: Address, strides: "Sequence[int]") -> None:
        """An array of up to nine axes, also a part of a larger one like a[1:5, 3:7], to a part of the peer's that
        begins at `to`. `strides`: by how many items the peer's part goes on with each axis but the last."""
        first, size, c, count = _grid(data, to, strides)
        self.check(lib.heddle_put_grid(self.c, first, size, to.c, c, count))

    def get_grid(self, into: numpy.ndarray, place: Address, strides: "Sequence[int]") -> None:
        first, size, c, count = _grid(into, place, strides)
        if not into.flags.writeable:
            raise ValueError("the array cannot be written to")
        self.check(lib.heddle_get_grid(self.c, first, size, place.c, c, count))

    def iput_grid(self, data: numpy.ndarray, to: Address, strides: "Sequence[int]") -> Request:
        first, size, listed, count = _grid(data, to, strides)
        return Request(self, lambda c: lib.heddle_try_put_grid(self.c, first, size, to.c, listed, count, c),
                       (data, listed, to))

    def iget_grid(self, into: numpy.ndarray, place: Address, strides: "Sequence[int]") -> Request:
        first, size, listed, count = _grid(into, place, strides)
        if not into.flags.writeable:
            raise ValueError("the array cannot be written to")
        return Request(self, lambda c: lib.heddle_try_get_grid(self.c, first, size, place.c, listed, count, c),
                       (into, listed, place))

    # --- messages ------------------------------------------------------------------------------------

    def send_blocks(self, to: int, tag: int, blocks: "Iterable[typing.Any]", lane: int = SAME_LANE) -> None:
        """One message, gathered from blocks."""
        c, count, _views = _parts("heddle_send_block[]", blocks, readable)
        self.check(lib.heddle_send_blocks(self.c, to, lane, tag, c, count), to)

    def isend_blocks(self, to: int, tag: int, blocks: "Iterable[typing.Any]", lane: int = SAME_LANE) -> Request:
        listed, count, views = _parts("heddle_send_block[]", blocks, readable)
        return Request(self, lambda c: lib.heddle_try_send_blocks(self.c, to, lane, tag, listed, count, c),
                       (listed, views))

    def recv_blocks(self, source: int, tag: int, blocks: "Iterable[typing.Any]", mask: int = EXACT_TAG,
                    timeout: "float | None" = None) -> Outcome:
        """One message, scattered into blocks in turn. Otherwise as Lane.recv."""
        c, count, _views = _parts("heddle_recv_block[]", blocks, writable)
        outcome = outcome_of(
            lib.heddle_recv_blocks_for(self.c, source, tag, mask, c, count, limit_ns(timeout))
            if timeout is not None else lib.heddle_recv_blocks(self.c, source, tag, mask, c, count))
        self.check(outcome.status, source)
        return outcome

    def irecv_blocks(self, source: int, tag: int, blocks: "Iterable[typing.Any]", mask: int = EXACT_TAG) -> Request:
        listed, count, views = _parts("heddle_recv_block[]", blocks, writable)
        return Request(self, lambda c: lib.heddle_try_recv_blocks(self.c, source, tag, mask, listed, count, c),
                       (listed, views))

    def call_blocks(self, to: int, handler: int, header, payload: "Iterable[typing.Any]",
                    lane: int = SAME_LANE) -> None:
        """As Lane.call, with a payload gathered from blocks."""
        h, header_bytes = readable(header)
        c, count, _views = _parts("heddle_send_block[]", payload, readable)
        self.check(lib.heddle_call_blocks(self.c, to, lane, handler, h, header_bytes, c, count), to)

    def icall_blocks(self, to: int, handler: int, header, payload: "Iterable[typing.Any]",
                     lane: int = SAME_LANE) -> Request:
        h, header_bytes = readable(header)
        listed, count, views = _parts("heddle_send_block[]", payload, readable)
        return Request(self, lambda c: lib.heddle_try_call_blocks(self.c, to, lane, handler, h, header_bytes, listed,
                                                                  count, c), (header, h, listed, views))
