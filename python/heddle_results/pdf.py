# SPDX-License-Identifier: BSD-3-Clause
"""A run as a few A4 pages."""
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402
import numpy  # noqa: E402
from matplotlib.backends.backend_pdf import PdfPages  # noqa: E402
from matplotlib.colors import LinearSegmentedColormap, LogNorm  # noqa: E402
from matplotlib.ticker import FormatStrFormatter, LogLocator, MaxNLocator, NullFormatter  # noqa: E402


A4 = (8.27, 11.69)
LINES = 75  # of text, that a page holds
# The colours of the tool's own pictures: dark is good; red, for what failed, is not among them.
RAMP = LinearSegmentedColormap.from_list("heddle", [tuple(c / 255 for c in stop) for stop in (
    (48, 16, 92), (56, 66, 140), (38, 112, 146), (30, 156, 138), (96, 200, 98), (190, 222, 54), (254, 236, 80))])
RAMP.set_bad("#b4b4b8")
CLASS_COLORS = ("#8fae1b", "#1e9c8a", "#3f8fc4", "#38428c", "#b0417f", "#c98a1b")


def write(run, path):
    """Writes the pages to `path`, replacing what is there."""
    with PdfPages(path, metadata={"Title": title_of(run), "Creator": "heddle report"}) as pages:
        for figure in pages_of(run):
            pages.savefig(figure)
            plot.close(figure)


def seconds(value):
    return _scaled(value * 1e9, ("ns", "us", "ms", "s"))


def rate(value):
    return _scaled(value, ("B/s", "kB/s", "MB/s", "GB/s", "TB/s"))


def size_text(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"


def _scaled(value, units):
    if not value >= 0:
        return "-"
    for unit in units:
        if value < 999.5 or unit == units[-1]:
            return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"
        value /= 1000


def title_of(run):
    hosts = len(set(run.hosts))
    return f"Link test of {len(run.hosts)} ranks on {hosts} host{'s' if hosts > 1 else ''}"


def worst_pairs(run, size, count):
    """(initiator, peer, seconds, multiple of the median of its class), the worst first."""
    times, classes = run.time(size), run.classes()
    factor = numpy.full(times.shape, numpy.nan)
    for number in range(len(run.class_names)):
        of_class = classes == number
        if numpy.isfinite(times[of_class]).any():
            factor[of_class] = times[of_class] / numpy.nanmedian(times[of_class])
    order = numpy.argsort(numpy.where(numpy.isfinite(factor), -factor, numpy.inf), axis=None)[:count]
    pairs = [numpy.unravel_index(at, times.shape) for at in order]
    return [(i, j, times[i, j], factor[i, j]) for i, j in pairs if factor[i, j] > 1]


# --- pages ---

def pages_of(run):
    """The figures, one after the other: as many pages as the facts need, then one for each size."""
    lines = facts_of(run)
    for first in range(0, len(lines), LINES):
        figure = plot.figure(figsize=A4)
        figure.text(.08, .95, title_of(run) + (", continued" if first else ""), size=18, weight="bold")
        figure.text(.08, .92, "\n".join(lines[first:first + LINES]), family="monospace", size=8.5, va="top")
        yield figure
    for size in run.sizes:
        yield size_page(run, size)


def wrapped(line, indent):
    """The lines that one takes; all but the first are indented."""
    return textwrap.wrap(line, 84, subsequent_indent=" " * indent, drop_whitespace=False) or [""]


def facts_of(run):
    """Lines about a run: what it was, what it found, its figures; then the machines, each sort of them once."""
    lines = []
    options = run.facts["options"]
    say = lambda name, value: lines.extend(wrapped(f"{name:<22}{value}", 22))  # noqa: E731
    say("begun", run.facts["started"] or "not known")
    say("took", f"{run.facts['elapsed_s']:.1f} s")
    say("result", "all pairs measured" if run.facts["complete"] else "not all pairs could be measured")
    say("over", " and ".join(run.facts["routes"]) or "not known")
    for name in ("kernel", "op", "backend", "mode", "messages", "warmup", "repetitions", "seed", "shuffle"):
        if name in options:
            say(name, options[name])
    version = run.facts["heddle_version"]
    say("written by", f"heddle {version}" if version[:1].isdigit() else version)
    say("command", run.facts.get("command") or "not known")
    for name, value in run.facts.get("environment", {}).items():
        say(name, value)
    for name, why in (("not judged", run.facts.get("disturbed")), ("not diagnosed", run.facts.get("not_diagnosed"))):
        if why:
            say(name, why)
    found = run.facts.get("diagnosis")
    if found:
        lines += ["", "diagnosis"]
        words = found.get("words", "told by a file of an older heddle: have heddle report write it anew as .json")
        lines += [part for line in words.splitlines() for part in wrapped("  " + line, 6)]
    missed = run.facts.get("missed_rules")
    if missed:
        lines += ["", "rules"]
        lines += [part for rule in missed for part in wrapped("  " + rule.get("words", rule["rule"]).strip(), 6)]
    if run.facts.get("layers"):
        lines += [""] + [part for line in run.facts["layers"].splitlines() for part in wrapped(line, 4)]
    lines += ["", f"{'message':<10}{'pairs':<20}{'min':>10}{'median':>10}{'max':>10}{'bandwidth':>13}"]
    for size in run.sizes:
        times, classes = run.time(size), run.classes()
        for number, name in enumerate(run.class_names):
            values = times[(classes == number) & numpy.isfinite(times)]
            if values.size:
                lines.append(f"{size_text(size):<10}{name:<20}{seconds(values.min()):>10}"
                             f"{seconds(numpy.median(values)):>10}{seconds(values.max()):>10}"
                             f"{rate(numpy.median(run.bandwidth(size)[(classes == number) & numpy.isfinite(times)])):>13}")
    alike = {}
    for host, facts in run.facts.get("machines", {}).items():
        alike.setdefault(tuple(facts.items()), []).append(host)
    for facts, hosts in alike.items():
        lines += [""] + wrapped(", ".join(hosts), 2)
        for name, value in facts:
            say("  " + name, value)
    return lines


def size_page(run, size):
    figure = plot.figure(figsize=A4)
    figure.suptitle(f"{size_text(size)} messages", size=15, weight="bold", x=.08, ha="left", y=.97)
    grid = figure.add_gridspec(4, 2, height_ratios=(2.6, 1, 1, 1.1), left=.1, right=.93, top=.93, bottom=.05,
                               hspace=.5, wspace=.3)
    draw_matrix(figure, figure.add_subplot(grid[0, :]), run, size)
    draw_histogram(figure.add_subplot(grid[1, 0]), run, size, run.time(size), 1e6, "time per message, us")
    draw_histogram(figure.add_subplot(grid[1, 1]), run, size, run.bandwidth(size), 1e-6, "bandwidth, MB/s")
    draw_hosts(figure.add_subplot(grid[2, 0]), run, size)
    draw_distance(figure.add_subplot(grid[2, 1]), run, size)
    list_worst(figure.add_subplot(grid[3, :]), run, size)
    return figure


def unit_for(values):
    """Which unit suits most of these seconds: its name, and how many are in a second."""
    middle = numpy.median(values) if values.size else 1
    return next((unit for unit in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)) if middle * unit[1] < 1000), ("s", 1))


def logarithmic(axis):
    """Few round numbers instead of powers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FormatStrFormatter("%g"))
    axis.set_minor_formatter(NullFormatter())


def draw_matrix(figure, axes, run, size):
    seconds_known = run.time(size)[numpy.isfinite(run.time(size))]
    unit, per_second = unit_for(seconds_known)
    times, known = run.time(size) * per_second, seconds_known * per_second
    axes.set_title(f"median time per message, {unit}", size=10, loc="left")
    if not known.size:
        axes.text(.5, .5, "nothing was measured", ha="center")
        return
    norm = LogNorm(known.min(), max(known.max(), known.min() * 1.25))
    image = axes.imshow(times, cmap=RAMP, norm=norm, interpolation="nearest")
    bar = figure.colorbar(image, ax=axes, fraction=.046)
    logarithmic(bar.ax.yaxis)
    failed = numpy.argwhere(run.matrices[size]["state"] >= 2)
    axes.scatter(failed[:, 1], failed[:, 0], marker="x", color="#e11e2d", s=20, label="failed")
    axes.set_xlabel("peer")
    axes.set_ylabel("initiator")
    if len(run.hosts) <= 16:
        axes.set_xticks(range(len(run.hosts)))
        axes.set_yticks(range(len(run.hosts)))
        for i, j in numpy.argwhere(numpy.isfinite(times)):
            text = f"{times[i, j]:.3g}" if times[i, j] < 999.5 else f"{times[i, j]:.0f}"
            axes.text(j, i, text, ha="center", va="center", size=7,
                      color="black" if norm(times[i, j]) > .6 else "white")


def draw_histogram(axes, run, size, values, unit, label):
    classes, known = run.classes(), values[numpy.isfinite(values)]
    axes.set_xlabel(label, size=8)
    axes.set_ylabel("pairs", size=8)
    axes.tick_params(labelsize=7)
    if not known.size:
        return
    edges = numpy.geomspace(known.min(), max(known.max(), known.min() * 1.05), 41) * unit
    for number, name in enumerate(run.class_names):
        of_class = values[(classes == number) & numpy.isfinite(values)]
        if of_class.size:
            axes.hist(of_class * unit, edges, label=name, color=CLASS_COLORS[number], alpha=.8)
    axes.set_xscale("log")
    logarithmic(axes.xaxis)
    axes.legend(fontsize=7, frameon=False)


def draw_hosts(axes, run, size):
    """Each host's median over its pairs with other hosts, or each rank's where there is one host."""
    times = run.time(size) * 1e6
    several = len(set(run.hosts)) > 1
    names = numpy.array(run.hosts if several else [f"rank {r}" for r in range(len(run.hosts))])
    counted = names[:, None] != names[None, :]
    rows = []
    for name in dict.fromkeys(names):
        own = names == name
        of_name = numpy.concatenate([times[own][counted[own]], times[:, own][counted[:, own]]])
        if numpy.isfinite(of_name).any():
            rows.append((numpy.nanmedian(of_name), name))
    rows = sorted(rows, reverse=True)[:12][::-1]
    axes.barh([name for _, name in rows], [value for value, _ in rows], color="#38428c")
    axes.set_xlabel("median over its pairs, us; slowest first", size=8)
    axes.tick_params(labelsize=7)


def draw_distance(axes, run, size):
    """Time by how far the numbers of two ranks are apart, which often follows the cabling."""
    times = run.time(size) * 1e6
    i, j = numpy.nonzero(numpy.isfinite(times))
    classes = run.classes()[i, j]
    for number, name in enumerate(run.class_names):
        axes.plot(abs(i - j)[classes == number], times[i, j][classes == number], ".", ms=3,
                  color=CLASS_COLORS[number], label=name)
    axes.set_yscale("log")
    logarithmic(axes.yaxis)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("distance of the ranks' numbers", size=8)
    axes.set_ylabel("us", size=8)
    axes.tick_params(labelsize=7)


def list_worst(axes, run, size):
    axes.axis("off")
    lines = ["Pairs farthest from the median of their class", ""]
    for i, j, time, factor in worst_pairs(run, size, 12):
        lines.append(f"{f'{i} ({run.hosts[i]}) -> {j} ({run.hosts[j]})':<46}{seconds(time):>10}{factor:>8.2f} x")
    axes.text(0, 1, "\n".join(lines), family="monospace", size=8, va="top")
