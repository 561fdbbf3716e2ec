# SPDX-License-Identifier: BSD-3-Clause
"""load.py LIBHEDDLE PLUGIN RANKS - a program that knows nothing of Heddle loads it, twice, and closes it."""
import ctypes
import sys

import _ctypes


class Text(ctypes.Structure):  # std::string_view
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]


heddle = ctypes.CDLL(sys.argv[1])
version = heddle._ZN6heddle7versionEv
version.restype = Text
said = version()
assert ctypes.string_at(said.data, said.size).decode().count(".") == 2, "heddle::version()"

for _ in range(2):
    plugin = ctypes.CDLL(sys.argv[2])
    ranks = plugin.ranks_of_the_job()
    assert ranks == int(sys.argv[3]), f"{ranks} ranks"
    _ctypes.dlclose(plugin._handle)
    if ranks != 1:
        break  # a job is joined once
