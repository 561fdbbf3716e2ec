# SPDX-License-Identifier: BSD-3-Clause
"""Results of `heddle linktest` as numpy arrays: HDF5, JSON, and SION files of LinkTest 1.x.

    import heddle_results
    run = heddle_results.read("linktest-20260101-120000")
    run.hosts                           # host of each rank
    run.time(131072)                    # median seconds per message, [initiator][peer], NaN: none
    run.matrices[131072]["time_p99"]    # all that is kept of each pair
    runs = heddle_results.read_sections("several")  # by name, of a run with several sections
    run.pairs(131072)["time_median"]    # only of the pairs that were measured
    run.facts["machines"]               # processor, kernel, network cards ...

Needs numpy; for HDF5 h5py. Nothing else of Heddle has to be installed.
"""
from ._read import Run, UnreadableError, read, read_sections

__all__ = ["Run", "UnreadableError", "read", "read_sections"]
