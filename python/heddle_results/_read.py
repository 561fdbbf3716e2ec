# SPDX-License-Identifier: BSD-3-Clause
"""Readers of the three formats."""
import collections.abc
import dataclasses
import json
import pathlib
import struct

import numpy

from . import _sion

STATES = ("unmeasured", "measured", "lost", "corrupted")
SECTION_FILE = "linktest.sections.json"
CLASSES = ("same core", "same core complex", "same socket", "same host", "same group", "other host")


class UnreadableError(Exception):
    """The file is not a result that can be read; says which file, and why."""


class _Spread(collections.abc.Mapping):
    """Matrices of a run whose file lists the known pairs: each is made when it is asked for."""

    def __init__(self, ranks, columns):
        self._ranks, self.columns = ranks, columns

    def __getitem__(self, name):
        values = self.columns[name]
        fill = 0 if name == "state" else numpy.nan
        out = numpy.full((self._ranks, self._ranks), fill, dtype=values.dtype)
        out[self.columns["initiator"], self.columns["peer"]] = values
        return out

    def __iter__(self):
        return (name for name in self.columns if name not in ("initiator", "peer"))

    def __len__(self):
        return len(self.columns) - 2


@dataclasses.dataclass
class Run:
    """One run of the link tester."""

    facts: dict  # everything but the matrices, as in linktest.json
    matrices: dict  # bytes -> metric -> [ranks x ranks]; "state" holds indices into STATES

    @property
    def hosts(self):
        return self.facts["hosts"]

    @property
    def sizes(self):
        return sorted(self.matrices)

    def pairs(self, size):
        """The pairs of which something is known, as columns: initiator, peer, state and the metrics. Of a run whose
        file lists them this needs no matrix."""
        matrices = self.matrices[size]
        if isinstance(matrices, _Spread):
            return dict(matrices.columns)
        known = numpy.nonzero(matrices["state"])
        return {"initiator": known[0], "peer": known[1], **{name: values[known] for name, values in matrices.items()}}

    def time(self, size):
        """Median seconds per message, [initiator][peer]."""
        return self.matrices[size]["time_median"]

    def bandwidth(self, size):
        """Bytes per second, [initiator][peer]; NaN where the kernel is unknown."""
        directions = {"bi": 2, "unknown": numpy.nan}.get(self.facts["options"]["kernel"], 1)
        return directions * size / self.time(size)

    @property
    def class_names(self):
        """What classes() counts; who is on another host is in another group, where groups are known."""
        return CLASSES[:5] + ("other group",) if self.facts.get("groups") else CLASSES

    def classes(self):
        """For each pair an index into class_names; -1 on the diagonal."""
        hosts = numpy.array(self.hosts)
        other = hosts[:, None] != hosts[None, :]
        places = self.facts.get("places") or [{}] * len(hosts)
        # What several cores, or none that is known, have in common is nothing.
        cores = [place.get("cores", ()) for place in places]
        core = numpy.array([of[0] if len(of) == 1 else -1 for of in cores])
        complexes, sockets = (numpy.array([place.get(part, -1) for place in places]) for part in ("complex", "socket"))
        groups = numpy.array(self.facts.get("groups") or range(len(hosts)))
        out = numpy.where(groups[:, None] == groups[None, :], 4, 5)
        out[~other] = 3
        for number, part in (2, sockets), (1, complexes), (0, core):
            out[~other & (part[:, None] == part[None, :]) & (part >= 0)[:, None]] = number
        numpy.fill_diagonal(out, -1)
        return out


def read(path):
    """The run at `path`: a folder of heddle linktest, its .h5 or .json, or a SION file of LinkTest 1.x.

    Raises UnreadableError naming the file and what is wrong with it, and OSError.
    """
    path = pathlib.Path(path)
    if path.is_dir():
        path = next((file for file in (path / "linktest.h5", path / "linktest.json") if file.exists()), path)
    if path.is_dir() and (path / SECTION_FILE).exists():
        raise UnreadableError(f"{path}: this run has several sections: use read_sections(), or give one of its folders")
    if path.is_dir():
        raise UnreadableError(f"{path}: neither linktest.h5 nor linktest.json is in this folder")
    with open(path, "rb") as file:
        begin = file.read(8)
    try:
        if begin == b"\x89HDF\r\n\x1a\n":
            return _read_hdf5(path)
        if begin.startswith(b"sion"):
            return Run(*_sion.read_run(path))
        if begin.startswith(b"{"):
            return _read_json(json.loads(path.read_text()))
    except (LookupError, ValueError, TypeError, struct.error) as why:
        raise UnreadableError(f"{path}: not a whole result of heddle linktest: {why}") from why
    raise UnreadableError(f"{path}: not a result that can be read: give a folder of heddle linktest, its "
                          "linktest.h5 or linktest.json, or a SION file of LinkTest 1.x")


def read_sections(path):
    """The runs in the folder of a run with several sections, by name, in the order of measuring.

    A run in mode paired has, in `facts["impact"]` of its parallel sections, the factor by which each pair is slower
    than alone. A run over several layers has, in `facts["comparison"]` of the sections over the last one, the figures
    of them all, and what is slow over some rails of a wire. Raises as read() does.
    """
    path = pathlib.Path(path)
    try:
        listed = json.loads((path / SECTION_FILE).read_text())["sections"]
        named = [(one["name"], {key: one[key] for key in ("impact", "comparison") if key in one}) for one in listed]
    except FileNotFoundError as why:
        raise UnreadableError(f"{path}: there is no {SECTION_FILE} in this folder: use read()") from why
    except (KeyError, ValueError, TypeError) as why:
        raise UnreadableError(f"{path / SECTION_FILE}: not a list of sections: {why}") from why
    runs = {}
    for name, compared in named:
        runs[name] = read(path / name)
        runs[name].facts.update(compared)
    return runs


def _read_hdf5(path):
    try:
        import h5py
    except ImportError as why:
        raise UnreadableError(f"{path}: reading HDF5 needs h5py; on Debian: apt install python3-h5py; or "
                              "give the linktest.json beside it") from why
    with h5py.File(path) as file:
        facts = json.loads(file.attrs["facts"])
        matrices = {int(size): _matrices_of(file[f"size_{size}"], len(facts["hosts"])) for size in file["sizes"]}
    return Run(facts, matrices)


def _matrices_of(group, ranks):
    if "pairs" in group:
        return _Spread(ranks, {name: data[...] for name, data in group["pairs"].items()})
    return {name: data[...] for name, data in group.items() if not name.startswith("host_")}


def _columns_of(pairs):
    out = {name: numpy.array(values, dtype=float) for name, values in pairs.items() if name != "state"}
    out["state"] = numpy.array([STATES.index(word) for word in pairs["state"]], dtype=numpy.uint8)
    for end in ("initiator", "peer"):
        out[end] = out[end].astype(int)
    return out


def _read_json(document):
    if document.get("format") != "heddle-linktest":
        raise ValueError("it has another format")
    matrices = {}
    for size in document["sizes"]:
        if "pairs" in size:
            matrices[size["bytes"]] = _Spread(len(document["hosts"]), _columns_of(size["pairs"]))
            continue
        named = {name: numpy.array(rows, dtype=float) for name, rows in size["matrices"].items() if name != "state"}
        named["state"] = numpy.array([[STATES.index(word) for word in row] for row in size["matrices"]["state"]],
                                     dtype=numpy.uint8)
        matrices[size["bytes"]] = named
    return Run({name: value for name, value in document.items() if name not in ("sizes", "metrics")}, matrices)
