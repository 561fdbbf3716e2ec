#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a header names something of the standard library without including what declares it.

Builds read the standard headers once per target (heddle_precompile), which hides that. The table has
the names that Heddle's headers use; a name that is not there is nobody's business here.
"""
import pathlib
import re
import sys

DECLARED = {
    "algorithm": "all_of any_of clamp copy copy_n fill find find_if max min none_of sort",
    "array": "array",
    "atomic": "atomic atomic_ref memory_order atomic_thread_fence",
    "bit": "bit_cast bit_ceil bit_width countr_zero has_single_bit popcount",
    "chrono": "chrono",
    "condition_variable": "condition_variable",
    "coroutine": "coroutine_handle suspend_always suspend_never",
    "cstddef": "byte max_align_t ptrdiff_t size_t",
    "cstdint": "int16_t int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t uintptr_t",
    "cstring": "memcmp memcpy memmove memset strlen",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr rethrow_exception",
    "filesystem": "filesystem",
    "functional": "function",
    "initializer_list": "initializer_list",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock",
    "optional": "nullopt optional",
    "ostream": "ostream",
    "random": "mt19937 mt19937_64 random_device",
    "set": "multiset set",
    "shared_mutex": "shared_lock shared_mutex",
    "source_location": "source_location",
    "span": "as_bytes as_writable_bytes span",
    "stdexcept": "invalid_argument logic_error out_of_range runtime_error",
    "string": "string to_string",
    "string_view": "string_view",
    "system_error": "error_code system_error",
    "thread": "jthread this_thread thread",
    "tuple": "tie tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "exchange forward in_place move pair swap",
    "variant": "variant visit",
    "vector": "vector",
}
HOME = {name: header for header, names in DECLARED.items() for name in names.split()}

NAMED = re.compile(r"\bstd::(\w+)")
INCLUDED = re.compile(r"^\s*#\s*include\s*<([a-z_]+)>", re.MULTILINE)


def missing(text):
    """Pairs of a standard header that `text` needs and does not include, and a name that needs it."""
    code = re.sub(r"//.*", "", text)
    included = set(INCLUDED.findall(code))
    needed = {HOME[name]: name for name in NAMED.findall(code) if name in HOME}
    return sorted((header, name) for header, name in needed.items() if header not in included)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = 0
    for top in ("include", "src", "tools", "examples", "tests", "bench", "emu"):
        for path in sorted((root / top).rglob("*.h")):
            for header, name in missing(path.read_text()):
                print(f"{path.relative_to(root)}:1: std::{name} needs #include <{header}>")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
