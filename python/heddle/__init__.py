# SPDX-License-Identifier: BSD-3-Clause
"""Heddle: a communication engine with a lane to the network for every thread.

    import heddle, numpy
    with heddle.World() as world:
        lane = world.lane()
        box = world.symmetric(numpy.int64, 1)
        lane.put(numpy.array([100 + world.rank]), box.at((world.rank + 1) % world.size))
        lane.barrier()
        print(world.rank, "was told", box.local[0])
        lane.barrier()

Run it as `heddle run -n 4 -- python3 program.py`. docs/guide/python.md tells more.
"""
from ._library import ffi as _ffi, lib as _lib
from .collectives import NO_COLOR, Group
from .lane import ANY_SOURCE, ANY_TAG, EXACT_TAG, MAX_TAG, SAME_LANE, Lane
from .matched import Matched
from .memory import ALL, ATOMIC, READ, WRITE, Address, Region, Remote, Symmetric
from .request import Request
from .status import Error, Outcome, PeerLost, Status
from .world import MAX_HANDLERS, ArrivingCall, Message, World

__version__ = _ffi.string(_lib.heddle_library_version()).decode()
__all__ = ["ALL", "ANY_SOURCE", "ANY_TAG", "ATOMIC", "Address", "ArrivingCall", "EXACT_TAG", "Error", "Group", "Lane", "MAX_HANDLERS",
           "MAX_TAG", "Matched", "Message", "NO_COLOR", "Outcome", "PeerLost", "READ", "Region", "Remote", "Request", "SAME_LANE",
           "Status", "Symmetric", "WRITE", "World"]
