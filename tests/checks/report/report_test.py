# SPDX-License-Identifier: BSD-3-Clause
"""heddle report: what it makes of a real run can be opened by what it is for.

    report_test.py HEDDLE PYTHON_FOLDER [KEEP]      KEEP: a folder for the pictures
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import browser

HEDDLE, PACKAGES = sys.argv[1], sys.argv[2]
KEEP = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None


def heddle(*words):
    return subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, timeout=120)


def python_with(*modules):
    for python in sys.executable, "/usr/bin/python3":
        if not subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode:
            return python
    return None


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        for name in "first", "second":
            # Pretended hosts, so that there are pairs of two classes.
            made = heddle("run", "-n", 4, "--", "sh", "-c", 'HEDDLE_HOST=h$((HEDDLE_RANK / 2)) exec "$0" "$@"', HEDDLE,
                          "linktest", "--sizes", "8,4K", "--messages", 5, "--sion", 2, "--diagnosis", "never",
                          "--kernel", "uni", "--op", "put", "--output", cls.root / name)
            assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def make(self, *words, status=0):
        made = heddle("report", *words)
        self.assertEqual(made.returncode, status, made.stderr)
        return made

    def browser_at(self, page):
        program = browser.find()
        if not program:
            self.skipTest("chromium is not installed")
        shown = browser.Browser(program, self.root / f"profile of {page.stem}")
        self.addCleanup(shown.close)
        shown.open(page.as_uri())
        shown.wait("document.documentElement.dataset.ready === 'yes'")
        return shown

    def page_of_first_with(self, name, **facts):
        """The first run's page, were these facts of it as given."""
        document = json.loads((self.root / "first/linktest.json").read_text())
        document.update(facts)
        (self.root / f"{name}.json").write_text(json.dumps(document))
        self.make(self.root / f"{name}.json", "-o", self.root / f"{name}.html")
        return self.browser_at(self.root / f"{name}.html")

    def test_a_page_shows_its_matrix_without_errors_and_a_click_selects_a_pair(self):
        page = self.root / "page.html"
        self.make(self.root / "first", self.root / "second", "-o", page)
        shown = self.browser_at(page)
        self.assertEqual(shown.value("document.getElementById('title').textContent"), "4 ranks on 2 hosts")
        box = shown.value("(r => [r.left, r.top, r.width])(document.getElementById('matrix').getBoundingClientRect())")
        each = box[2] * 640 / 676 / 4  # the matrix has a margin of 36 of its 676
        shown.click(box[0] + box[2] * 36 / 676 + 3.5 * each, box[1] + box[2] * 36 / 676 + 1.5 * each)
        self.assertEqual(shown.value("document.getElementById('pair-title').textContent"), "rank 1 -> rank 3")
        self.assertIn("other host", shown.value("document.getElementById('pair-facts').textContent"))
        for choice, value in ("metric", "change"), ("order", "slow"), ("size", "1"), ("run", "1"):
            shown.value(f"(e => {{ e.value = '{value}'; e.dispatchEvent(new Event('change')); }})"
                        f"(document.getElementById('{choice}'))")
        self.assertGreater(shown.value("document.querySelectorAll('#worst tr').length"), 0)
        self.assertGreater(shown.value("document.querySelectorAll('#compared tr').length"), 0)
        shown.screenshot(self.root / "page.png")
        if KEEP:
            KEEP.mkdir(parents=True, exist_ok=True)
            (KEEP / "report-page.png").write_bytes((self.root / "page.png").read_bytes())
        self.assertEqual(shown.errors, [])

    def test_a_page_says_why_nothing_was_diagnosed_and_who_is_not_judged(self):
        shown = self.page_of_first_with("busy", not_diagnosed="ranks share cores", disturbed="rank 2 (h1) 31 %")
        self.assertFalse(shown.value("document.getElementById('diagnosis').hidden"))
        told = shown.value("document.getElementById('verdicts').textContent")
        self.assertIn("are not judged: rank 2 (h1) 31 %", told)
        self.assertIn("were not looked for: ranks share cores", told)
        self.assertEqual(shown.errors, [])

    def test_a_page_says_of_a_verdict_what_the_screen_says(self):
        verdict = {"what": "node_tx", "node": 3, "peer": None, "rail": None, "cable": None, "step": None, "factor": 2.5,
                   "confidence": .99, "retested": True, "evidence": "Alone: 3 of 3 slow.", "or_else": []}
        seen = dict.fromkeys(("pairs", "possible_pairs", "nodes", "all_nodes", "links", "all_links", "retests",
                              "more_contention", "not_retested"), 12)
        shown = self.page_of_first_with("slow", diagnosis={"verdicts": [verdict], "coverage": seen})
        told = shown.value("[...document.querySelectorAll('#verdicts li')].map((e) => e.textContent)")
        self.assertEqual(len(told), 2)
        self.assertRegex(told[0], r"^node_tx: rank 3 \(h1\): 2\.50 times as slow as usual, .*\n  Alone: 3 of 3 slow\.$")
        self.assertIn("Looked at 12 of 12 ordered pairs", told[1])
        self.assertEqual(shown.errors, [])

    def test_a_page_has_no_diagnosis_where_nobody_wanted_one(self):
        shown = self.page_of_first_with("unwanted")
        self.assertTrue(shown.value("document.getElementById('diagnosis').hidden"))
        self.assertTrue(shown.value("document.getElementById('rules').hidden"))

    def test_a_page_says_which_rules_are_missed_by_which_pairs(self):
        missed = {"rule": "time<=1e-6", "bytes": 8, "pairs": 2, "of": 12, "initiator": 0, "peer": 3, "value": 2.5e-6,
                  "wanted": 1e-6}
        other = {"rule": "comparable with the baseline: it has 4 ranks and this run 2", "bytes": 0, "pairs": 0, "of": 0,
                 "initiator": -1, "peer": -1, "value": 0, "wanted": 0}
        shown = self.page_of_first_with("missed", missed_rules=[missed, other])
        told = shown.value("[...document.querySelectorAll('#missed li')].map((e) => e.textContent.trim())")
        self.assertRegex(told[0], r"^Missed: time<=1e-6 at 8 B: 2 of 12 pairs; the worst is rank 0 \(.*\) -> rank 3 "
                                  r"\(.*\) with 2\.50 us where 1\.00 us was wanted$")
        self.assertEqual(told[1], "Missed: " + other["rule"])
        self.assertFalse(shown.value("document.getElementById('rules').hidden"))
        self.assertEqual(shown.errors, [])

    def test_a_page_tells_pairs_of_hosts_in_one_group_from_others(self):
        shown = self.page_of_first_with("racks", hosts=["h0", "h1", "h2", "h3"],
                                        groups=["rack1", "rack1", "rack2", "rack2"])
        classes = shown.value("[...document.querySelectorAll('#worst tr')].map((r) => r.children[1].textContent)")
        self.assertEqual(set(classes), {"same group", "other group"})
        self.assertEqual(classes.count("same group"), 4)
        self.assertEqual(shown.errors, [])

    def test_tables_have_a_line_per_size_and_pair(self):
        self.make(self.root / "first", "-o", self.root / "x.csv")
        with open(self.root / "x.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2 * 4 * 3)
        self.assertEqual({row["class"] for row in rows} - {"core", "complex", "socket", "host"}, {"network"})
        self.make(self.root / "first", "-o", self.root / "x.prom")
        self.assertRegex((self.root / "x.prom").read_text(), r"heddle_linktest_ranks\{[^}]*\} 4\n")

    def test_sion_files_are_read_as_those_of_linktest_are(self):
        self.make(self.root / "first/linktest-8.sion", "-o", self.root / "old.json")
        self.make(self.root / "old.json", "-o", self.root / "old.html")

    def test_pages_to_print_are_made_or_what_is_missing_is_named(self):
        made = heddle("report", self.root / "first", "-o", self.root / "x.pdf")
        if python_with("matplotlib", "h5py"):
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertTrue((self.root / "x.pdf").read_bytes().startswith(b"%PDF"))
        else:
            self.assertNotEqual(made.returncode, 0)
            self.assertIn("apt install", made.stderr)

    def test_pages_to_print_hold_the_whole_diagnosis_and_all_machines(self):
        python = python_with("matplotlib")
        if not python:
            self.skipTest("python3-matplotlib is not installed")
        document = json.loads((self.root / "first/linktest.json").read_text())
        words = [f"node_tx: rank {r} (h{r}): 2.00 times as slow as usual\n  Alone: {r} of 99 slow, and much more to say "
                 "that takes a line of its own and some of the next one." for r in range(99)]
        document["diagnosis"] = {"words": "\n".join(words) + "\nLooked at 12 of 12 pairs\n"}
        document["missed_rules"] = [{"rule": "time<=1", "words": "Missed: time<=1 at 8 B: 1 of 12 pairs\n"}]
        document["layers"] = "Layers, medians     near     wide\n8 B, other host  1.00 us  2.00 us\n"
        document["machines"] = {f"h{n}": {"processor": f"sort {n % 20}", "memory": "1 GiB"} for n in range(40)}
        (self.root / "large.json").write_text(json.dumps(document))
        script = """
import sys, heddle_results
from heddle_results import pdf
for figure in pdf.pages_of(heddle_results.read(sys.argv[1])):
    for text in figure.texts:
        assert text.get_text().count("\\n") < pdf.LINES
        if text.get_position()[1] < .95:  # no title
            print(text.get_text())
"""
        shown = subprocess.run([python, "-c", script, self.root / "large.json"], capture_output=True, text=True,
                               env={**os.environ, "PYTHONPATH": PACKAGES})
        self.assertEqual(shown.returncode, 0, shown.stderr)
        told = " ".join(shown.stdout.split())
        for r in range(99):
            self.assertIn(f"node_tx: rank {r} (h{r}): 2.00 times as slow as usual Alone: {r} of 99 slow", told)
        self.assertIn("Looked at 12 of 12 pairs rules Missed: time<=1 at 8 B: 1 of 12 pairs", told)
        self.assertIn(document["layers"], shown.stdout)  # in its columns
        self.assertIn("8 B", told)
        for n in range(20):
            self.assertIn(f"h{n}, h{n + 20} processor sort {n} memory 1 GiB", told)

    def layers(self):
        """A run over three of them, made once."""
        folder = self.root / "layers"
        if not folder.exists():
            made = heddle("run", "-n", 3, "--env", "HEDDLE_TCP_IFACE=127.0.0.1,127.0.0.2", "--", HEDDLE, "linktest",
                          "--layers", "shm,tcp.rail0-1", "--sizes", "8", "--messages", 5, "--diagnosis", "never",
                          "--output", folder)
            self.assertEqual(made.returncode, 0, made.stderr)
        return folder

    def test_layers_have_a_page_each_and_that_of_the_last_says_how_they_compare(self):
        self.make(self.layers(), "-o", self.root / "links.html")
        for layer in "shm", "tcp.rail0", "tcp.rail1":
            self.assertIn(f'"backend":"{layer}"', (self.root / f"links-semi-send-{layer}.html").read_text())
        shown = self.browser_at(self.root / "links-semi-send-tcp.rail1.html")
        words = shown.value("document.getElementById('layers-words').textContent")
        self.assertRegex(words, r"^Layers, medians +shm +tcp\.rail0 +tcp\.rail1\n8 B, ")
        self.assertTrue(shown.value("document.getElementById('subtitle').textContent").endswith("over tcp.rail1"))
        self.assertEqual(shown.errors, [])
        other = self.browser_at(self.root / "links-semi-send-shm.html")
        self.assertTrue(other.value("document.getElementById('layers').hidden"))

    def test_python_reads_the_sections_of_a_run_and_how_its_layers_compare(self):
        python = python_with("numpy", "h5py")
        if not python:
            self.skipTest("python3-h5py is not installed")
        script = """
import sys, heddle_results
runs = heddle_results.read_sections(sys.argv[1])
assert list(runs) == ["semi-send-shm", "semi-send-tcp.rail0", "semi-send-tcp.rail1"], list(runs)
assert ["comparison" in run.facts for run in runs.values()] == [False, False, True]
layers = runs["semi-send-tcp.rail1"].facts["comparison"]["layers"]
assert runs["semi-send-tcp.rail1"].facts["layers"] == runs["semi-send-tcp.rail1"].facts["comparison"]["words"]
assert [one["name"] for one in layers] == ["shm", "tcp.rail0", "tcp.rail1"]
assert all(one["medians"][0]["bytes"] == 8 and one["medians"][0]["time"] > 0 for one in layers)
"""
        done = subprocess.run([python, "-c", script, self.layers()], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=PACKAGES))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_wrong_use_is_told_with_the_cure(self):
        self.assertIn("does not end with a format", self.make(self.root / "first", "-o", "x.doc", status=2).stderr)
        self.assertIn("no such file", self.make(self.root / "none", "-o", self.root / "x.html", status=1).stderr)
        self.assertIn("holds one run", self.make(self.root / "first", self.root / "second", "-o", "x.csv", status=2).stderr)

    def test_results_of_more_ranks_than_matrices_are_kept_of_are_read_from_lists_of_pairs(self):
        python = python_with("numpy", "h5py")
        if not python:
            self.skipTest("python3-h5py is not installed")
        many = json.loads((self.root / "first" / "linktest.json").read_text())
        many["hosts"] += ["h2"] * (2049 - len(many["hosts"]))
        for size in many["sizes"]:
            matrices = size.pop("matrices")
            ends = [(i, j) for i in range(4) for j in range(4) if i != j]
            size["pairs"] = {"initiator": [i for i, _ in ends], "peer": [j for _, j in ends],
                             **{name: [rows[i][j] for i, j in ends] for name, rows in matrices.items()}}
        (self.root / "many.json").write_text(json.dumps(many))
        self.make(self.root / "many.json", "-o", self.root / "many.h5")
        self.make(self.root / "many.h5", "-o", self.root / "again.json")
        script = """
import sys, numpy, heddle_results
few, *many = map(heddle_results.read, sys.argv[1:])
for run in many:
    for size in few.sizes:
        own, listed = few.pairs(size), run.pairs(size)
        for name in "initiator", "peer", "state", "time_median", "time_p99", "samples", "bandwidth":
            numpy.testing.assert_allclose(own[name], listed[name], rtol=1e-6, err_msg=name)
        assert run.time(size).shape == (2049, 2049)
        numpy.testing.assert_allclose(run.time(size)[:4, :4], few.time(size), rtol=1e-6)
        assert numpy.isnan(run.time(size)[4:]).all() and not run.matrices[size]["state"][4:].any()
"""
        done = subprocess.run([python, "-c", script, self.root / "first", self.root / "many.json", self.root / "many.h5",
                               self.root / "again.json"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGES})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_python_reads_the_same_from_every_format(self):
        python = python_with("numpy", "h5py")
        if not python:
            self.skipTest("python3-h5py is not installed")
        script = """
import pathlib, struct, sys, numpy, heddle_results
from heddle_results import _sion
def refused(path):
    try:
        heddle_results.read(path)
    except heddle_results.UnreadableError:
        return
    raise AssertionError(f"{path} was read")
folder = sys.argv[1]
h5, js = (heddle_results.read(f"{folder}/linktest.{end}") for end in ("h5", "json"))
assert h5.hosts == js.hosts == ["h0", "h0", "h1", "h1"] and h5.sizes == js.sizes == [8, 4096]
for size in h5.sizes:
    sion = heddle_results.read(f"{folder}/linktest-{size}.sion")
    for other in js, sion:
        numpy.testing.assert_allclose(h5.time(size), other.time(size), rtol=1e-6)
        assert [other.facts["options"][key] for key in ("kernel", "op", "mode")] == ["uni", "put", "parallel"]
    numpy.testing.assert_allclose(h5.bandwidth(size), h5.matrices[size]["bandwidth"], rtol=1e-6)
assert (h5.classes()[0, 2:] == 5).all() and h5.classes()[0, 1] < 4 and h5.class_names[5] == "other host"
js.facts["groups"] = ["rack1"] * 4
assert (js.classes()[0, 2:] == 4).all() and js.classes()[0, 1] < 4 and js.class_names[4:] == ("same group", "other group")
js.facts["hosts"] = ["h0"] * 4
for names, places in (["same host"] * 3, None), (["same core", "same core complex", "same socket"], [
        {"cores": [1], "complex": 0, "socket": 0}, {"cores": [1], "complex": 0, "socket": 0},
        {"cores": [2], "complex": 0, "socket": 0}, {"cores": [3], "complex": 1, "socket": 0}]), (
        ["same host"] * 3, [{"cores": [r, 9], "complex": -1, "socket": r} for r in range(4)]):
    js.facts["places"] = places
    assert [js.class_names[number] for number in js.classes()[0, 1:]] == names, (names, js.classes())
whole = pathlib.Path(folder, "linktest-8.sion").read_bytes()
cut = pathlib.Path(folder, "cut.sion")
for more in pathlib.Path(folder).glob("linktest-8.sion.*"):  # the other files of the set
    cut.with_suffix(".sion" + more.suffix).write_bytes(more.read_bytes())
order = "<>"[whole[4]]
tasks, = struct.unpack_from(order + "i", whole, 24)
index, = struct.unpack_from(order + "q", whole, _sion.FIXED + 16 * tasks + 4)
for rank in range(tasks):
    used_at = index + 8 * (tasks + rank)
    for kept in range(300):  # no rank's times begin before
        cut.write_bytes(whole[:used_at] + struct.pack(order + "q", kept) + whole[used_at + 8:])
        refused(cut)
for kept in range(0, index, 50):
    cut.write_bytes(whole[:kept])
    refused(cut)
try:
    heddle_results.read(__file__)
except heddle_results.UnreadableError as why:
    assert "LinkTest 1.x" in str(why)
else:
    raise AssertionError
"""
        (self.root / "read.py").write_text(script)
        done = subprocess.run([python, self.root / "read.py", self.root / "first"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGES})
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
