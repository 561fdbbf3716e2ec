# SPDX-License-Identifier: BSD-3-Clause
"""The library, as cffi sees it: `ffi` and `lib`."""
import os
import pathlib

import cffi

_here = pathlib.Path(__file__).parent

ffi = cffi.FFI()
ffi.cdef((_here / "_declarations.h").read_text(encoding="utf-8"))


def _candidates():
    """Where the library may be: as LIBHEDDLE says, where it was installed with this package, or where
    the loader finds it."""
    named = os.environ.get("LIBHEDDLE")
    if named:
        return [named]
    installed = (_here / "_installed.txt").read_text(encoding="utf-8").strip()
    beside = (_here / installed).resolve()
    return [str(beside), beside.name] if beside.exists() else [beside.name]


def _open():
    reasons = []
    for name in _candidates():
        try:
            return ffi.dlopen(name)
        except OSError as why:
            reasons.append(str(why))
    raise ImportError("cannot load libheddle: " + "; ".join(reasons)
                      + "; LIBHEDDLE=/path/to/libheddle.so.0 says where it is")


lib = _open()

_known = 1  # HEDDLE_C_VERSION of the header that _declarations.h comes from
if lib.heddle_c_version() != _known:
    raise ImportError(f"libheddle has version {lib.heddle_c_version()} of the interface in C, and this package "
                      f"was made for {_known}: install both from one release")


def text(owned):
    """A text that the library gave away."""
    try:
        return "" if owned == ffi.NULL else ffi.string(owned).decode()
    finally:
        lib.heddle_free(owned)


def limit_ns(timeout):
    """Seconds as the library counts; None, or more than a century: for ever."""
    if timeout is None or timeout * 1e9 >= 2**62:
        return 2**63 - 1
    return max(0, int(timeout * 1e9))


def readable(data):
    """(pointer, bytes) of anything with a contiguous buffer. Keep the pointer as long as it is used."""
    view = ffi.from_buffer("char[]", data)
    return view, len(view)


def writable(data):
    """The same, of what may be written to."""
    view = ffi.from_buffer("char[]", data, require_writable=True)
    return view, len(view)
