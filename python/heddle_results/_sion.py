# SPDX-License-Identifier: BSD-3-Clause
"""SION containers, and LinkTest 1.x's records in them."""
import struct

import numpy

PREFIX = 1024
FIXED = 52 + PREFIX
LOCATION = 256
KERNELS = ("semi", "bi", "uni")
OPS = ("send", "put", "get", "call")


def read_part(data):
    """The streams of one physical file by rank, how many files its set has, and the order of their bytes."""
    if data[:4] != b"sion" or len(data) < FIXED + 12:
        raise ValueError("it is not a SION file")
    order = {0: "<", 1: ">"}[data[4]]
    version, block, tasks, files = struct.unpack_from(order + "4i", data, 16)
    if not 2 <= version <= 5 or block < 1 or tasks < 1 or files < 1 or len(data) < FIXED + 16 * tasks + 12:
        raise ValueError("its header is not whole")
    ranks = struct.unpack_from(f"{order}{tasks}q", data, FIXED)
    sizes = list(struct.unpack_from(f"{order}{tasks}q", data, FIXED + 8 * tasks))
    if version < 4:
        sizes = [-(-size // block) * block for size in sizes]
    chunks, index = struct.unpack_from(order + "iq", data, FIXED + 16 * tasks)
    if index == 0:
        raise ValueError("it was never closed")
    if chunks < 1 or min(sizes) < 0 or not 0 < index <= len(data) - 8 * tasks * (chunks + 1):
        raise ValueError("it ends before its index")
    at = -(-(FIXED + 16 * tasks + 12) // block) * block
    streams = [b""] * tasks
    for chunk in range(chunks):
        used = struct.unpack_from(f"{order}{tasks}q", data, index + 8 * tasks * (chunk + 1))
        for task in range(tasks):
            length = max(used[task], 0)
            if length > sizes[task] or at + length > len(data):
                raise ValueError("it ends within a chunk")
            streams[task] += data[at:at + length]
            at += sizes[task]
    return dict(zip(ranks, streams)), files, {0: "<", 1: ">"}[data[5]]


def read_streams(path):
    """Of the set whose first file is `path`: the streams of all ranks, the order of their bytes, and whether heddle
    wrote it."""
    first = path.read_bytes()
    streams, files, order = read_part(first)
    for number in range(1, files):
        streams.update(read_part(path.with_name(f"{path.name}.{number:06}").read_bytes())[0])
    if sorted(streams) != list(range(len(streams))):
        raise ValueError("a rank is missing in it")
    return [streams[rank] for rank in range(len(streams))], order, first[52:].startswith(b"linktest-")


def name_from(words, number):
    """What heddle counted from 1; 0 in its first files, which do not say it."""
    return words[number - 1] if 0 < number <= len(words) else "unknown"


def read_run(path):
    """Facts and matrices, as a Run has them."""
    streams, order, ours = read_streams(path)
    ranks = len(streams)
    hosts, times = [], numpy.full((ranks, ranks), numpy.nan)
    size = messages = serial = 1
    kernel, op = "semi", "send"
    for rank, stream in enumerate(streams):
        if stream[:5] != b"LKTST":
            raise ValueError("its streams are not those of LinkTest 1.x")
        major, minor = struct.unpack_from(order + "2i", stream, 5)
        if major != 1:
            raise ValueError(f"it was written by LinkTest {major}.{minor}")
        hosts.append(stream[17:17 + LOCATION].split(b"\0")[0].decode(errors="replace"))
        at = 17 + LOCATION + 4 * (6 if minor >= 4 else 4)
        if rank == 0:
            messages, size, _, _, serial, _, *traffic = struct.unpack_from(order + "8i", stream, at)
            if ours or any(traffic):
                kernel, op = name_from(KERNELS, traffic[0]), name_from(OPS, traffic[1])
            at += 10 * 4 + 10 * 8
        if len(stream) < at + 8 * ranks:
            raise ValueError(f"the stream of rank {rank} ends within its times")
        times[rank] = numpy.frombuffer(stream, order + "f8", ranks, at)
    times[~(times > 0)] = numpy.nan
    numpy.fill_diagonal(times, numpy.nan)
    writer = "heddle, as LinkTest 1.x does" if ours else "LinkTest 1.x"
    facts = {"format": "LinkTest 1.x", "heddle_version": writer, "hosts": hosts, "ranks": ranks,
             "routes": [], "started": "", "ended": "", "elapsed_s": 0.0, "command": "",
             "complete": bool(numpy.isfinite(times).sum() == ranks * (ranks - 1)), "interrupted": False,
             "options": {"kernel": kernel, "op": op, "backend": "unknown",
                         "mode": "serial" if serial else "parallel", "messages": messages, "repetitions": 1}}
    state = numpy.isfinite(times).astype(numpy.uint8)
    return facts, {size: {"time_median": times, "state": state}}
