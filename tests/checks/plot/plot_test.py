# SPDX-License-Identifier: BSD-3-Clause
"""`heddle bench plot` draws real images from records, and says what is wrong when it can not.

plot_test.py HEDDLE: the program. Ends with 77, skipped, where there is no matplotlib.
"""
import itertools
import json
import os
import pathlib
import py_compile
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HEDDLE = sys.argv.pop(1)
# Ends what hangs; ctest's limit for all of the runs together is out of reach.
MOST_SECONDS_PER_RUN = 300
SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "bench" / "report" / "plot"

NUMBERS = itertools.count()


def record(**changes):
    """One of a benchmark's records: no two have the same rounds."""
    fields = {"benchmark": "latency", "op": "tag", "backend": "shm", "library": "heddle", "ranks": 2,
              "threads": 1, "bytes": 8, "metric": "one-way", "unit": "us", "median": 0.5, "p99": 0.9,
              "ci95_low": 0.4, "ci95_high": 0.7, "runs": 5,
              "rounds": [0.4, 0.5 + next(NUMBERS) / 1e6, 0.7]}
    return fields | changes


LATENCY = [record(library=library, bytes=size, median=0.5 + size / 1000)
           for library in ("heddle", "ucx", "openmpi") for size in (8, 64, 4096)]
RATE = [record(benchmark="rate", op="put", metric="rate", unit="M/s", library=library, threads=t,
               median=90.0 / t)
        for library in ("heddle", "mpich") for t in (1, 2, 4)]
OVERLAP = [record(benchmark="overlap", op="receiver", library=library, bytes=size, metric=metric,
                  median=median, unit="1" if metric == "overlap_ratio" else "us")
           for library in ("heddle", "ucx") for size in (1 << 10, 1 << 20)
           for metric, median in (("overlap_ratio", 0.8), ("alone", 100.0), ("isend", 1.0),
                                  ("compute", 100.0), ("wait", 20.0), ("total", 121.0))]
MODES = [record(benchmark="adaptive", op=mode, metric=metric, bytes=size, unit=unit)
         for mode in ("inline", "idle", "adaptive") for size in (8, 4096)
         for metric, unit in (("total_20us", "us"), ("ratio_20us", "times"))]
RATIO = [record(library="heddle/ucx", metric="ratio", unit="times")]


def run_plot(*arguments, path=os.environ["PATH"]):
    return subprocess.run([HEDDLE, "bench", "plot", *arguments], text=True, capture_output=True,
                          check=False, timeout=MOST_SECONDS_PER_RUN, env=os.environ | {"PATH": path})


class Plot(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name) / "records"
        self.folder.mkdir()
        self.out = pathlib.Path(place.name) / "figures"

    def write(self, name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / name).write_text(text)

    def plot(self, *more, **where):
        return run_plot(*more, self.folder, **where)

    def drawn(self, *more):
        """Names of the figures, after a run that must succeed and tell all of them."""
        ran = self.plot("--out", self.out, *more)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        names = sorted(path.name for path in self.out.iterdir())
        self.assertEqual(sorted(pathlib.Path(line).name for line in ran.stdout.split()), names)
        return names

    def refused(self, *more):
        ran = self.plot(*more)
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertNotIn("Traceback", ran.stderr)
        return ran.stderr

    def check_png(self, path):
        start = path.read_bytes()[:24]
        self.assertEqual(start[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", start[16:24])
        self.assertGreater(min(width, height), 100)

    def test_draws_every_kind_of_record_once(self):
        self.write("latency.json", LATENCY + RATIO)
        self.write("others.json", RATE + OVERLAP)
        self.assertEqual(self.drawn(), [
            "latency-tag-shm-one-way-size.png", "overlap-receiver-shm-ratio.png",
            "overlap-receiver-shm-time.png", "rate-put-shm-threads.png"])
        for path in self.out.iterdir():
            self.check_png(path)

    def test_draws_all_formats_that_are_asked_for(self):
        self.write("rate.json", RATE)
        names = self.drawn("--format", "png,svg,pdf")
        self.assertEqual(names, [f"rate-put-shm-threads.{e}" for e in ("pdf", "png", "svg")])
        pdf, png, svg = (self.out / name for name in names)
        self.assertTrue(pdf.read_bytes().startswith(b"%PDF-"))
        self.assertTrue(pdf.read_bytes().rstrip().endswith(b"%%EOF"))
        self.check_png(png)
        self.assertTrue(xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg"))

    def test_labels_axes_and_curves(self):
        self.write("latency.json", LATENCY)
        (name,) = self.drawn("--format", "svg")
        # matplotlib draws letters as shapes and says beside them which text they are.
        text = (self.out / name).read_text()
        for words in ("message size (bytes)", "one-way (us)", "heddle", "openmpi", "4K"):
            self.assertIn(f"<!-- {words} -->", text)

    def test_tells_many_curves_apart_by_panels(self):
        self.write("rates.json", [
            record(benchmark="mt-rate", op="put", backend="utofu", metric="rate", unit="M/s",
                   library=library, threads=threads, bytes=size)
            for library in ("heddle", "utofu", "lock") for threads in (1, 24, 48)
            for size in (4, 64, 4096)])
        self.assertEqual(self.drawn("--format", "svg"), ["mt-rate-put-utofu-rate-size.svg",
                                                         "mt-rate-put-utofu-rate-threads.svg"])
        text = (self.out / "mt-rate-put-utofu-rate-threads.svg").read_text()
        for words in ("4 B", "64 B", "4K B", "heddle", "utofu", "lock"):
            self.assertIn(f"<!-- {words} -->", text)

    def test_draws_progress_modes_as_curves_of_one_figure(self):
        self.write("adaptive.json", MODES)
        (name,) = self.drawn("--format", "svg")
        self.assertEqual(name, "adaptive-tag-shm-total-20us-size.svg")
        text = (self.out / name).read_text()
        for mode in ("inline", "idle", "adaptive"):
            self.assertIn(f"<!-- heddle {mode} -->", text)

    def test_draws_beside_the_records_unless_told(self):
        self.write("rate.json", RATE)
        self.assertEqual(self.plot().returncode, 0)
        self.check_png(self.folder / "rate-put-shm-threads.png")

    def test_draws_records_that_fall_on_each_other_and_fields_it_does_not_know(self):
        self.write("one.json", LATENCY)
        self.write("two.json", LATENCY + [record(lanes=2)])
        self.assertEqual(len(self.drawn()), 1)

    def test_draws_a_single_record(self):
        self.write("one.json", [record(bytes=0, median=0.0, ci95_low=0.0, ci95_high=0.0)])
        self.assertEqual(len(self.drawn()), 1)

    def test_names_files_that_are_no_records_and_goes_on(self):
        self.write("latency.json", LATENCY)
        self.write("matrix.json", {"ranks": 4})
        self.write("broken.json", "[{")
        self.write("short.json", [{"benchmark": "latency"}])
        self.write("wrong.json", [record(bytes="8")])
        ran = self.plot("--out", self.out)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for name in ("matrix", "broken", "short", "wrong"):
            self.assertIn(f"{name}.json", ran.stderr)
        self.assertEqual(len(list(self.out.iterdir())), 1)

    def test_refuses_a_folder_without_records(self):
        self.assertIn("no benchmark records", self.refused())

    def test_refuses_records_of_which_nothing_is_drawn(self):
        self.write("ratio.json", RATIO)
        self.assertIn("nothing to draw", self.refused())

    def test_refuses_a_folder_that_is_not_there(self):
        self.folder.rmdir()
        self.assertIn("No such file", self.refused())

    def test_refuses_where_it_can_not_write(self):
        self.write("rate.json", RATE)
        self.out.write_text("in the way")
        self.assertIn(str(self.out), self.refused("--out", self.out))

    def test_goes_on_in_debians_python_where_that_of_path_has_no_packages(self):
        programs = self.folder.parent / "bin"
        programs.mkdir()
        (programs / "python3").symlink_to("/usr/bin/python3")
        (self.folder.parent / "pyvenv.cfg").write_text("home = /usr/bin\n")
        self.write("rate.json", RATE)
        ran = self.plot(path=f"{programs}:{os.environ['PATH']}")
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_says_that_there_is_no_python(self):
        self.assertIn("needs python3", self.plot(path="/nonexistent").stderr)

    def test_refuses_other_formats(self):
        ran = self.plot("--format", "gif")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("gif", ran.stderr)


class Scripts(unittest.TestCase):
    def test_compile(self):
        with tempfile.TemporaryDirectory() as place:
            scripts = list(SCRIPTS.glob("*.py"))
            self.assertNotEqual(scripts, [])
            for path in scripts:
                py_compile.compile(path, cfile=f"{place}/{path.name}c", doraise=True)


def can_draw():
    """As the program sees it."""
    with tempfile.TemporaryDirectory() as place:
        return "python3-matplotlib" not in run_plot(place).stderr


if __name__ == "__main__":
    if not can_draw():
        print("skipped: there is no matplotlib")
        sys.exit(77)
    unittest.main()
