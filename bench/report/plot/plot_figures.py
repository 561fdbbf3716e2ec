# SPDX-License-Identifier: BSD-3-Clause
"""Drawing: time and bandwidth over message size, rates over threads, and overlap."""
import collections
import os

import matplotlib

matplotlib.use("Agg")  # no screen is needed
from matplotlib import pyplot  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: E402

# Okabe and Ito's colours, which everybody can tell apart; one for each library, in every figure.
# Those that are only measured over uTofu or verbs share theirs with those that never are.
COLOURS = {"heddle": "#0072B2", "ucx": "#D55E00", "openmpi": "#009E73", "mpich": "#CC79A7",
           "bare": "#555555", "utofu": "#D55E00", "verbs": "#009E73", "lock": "#CC79A7",
           "uncached": "#009E73"}
OTHERS = ["#E69F00", "#56B4E9", "#000000", "#F0E442"]
MARKERS = "osD^vP*X"
LINES = ["-", "--", ":", "-."]
X_NAMES = {"bytes": "message size (bytes)", "threads": "threads per rank"}
FILE_NAMES = {"bytes": "size", "threads": "threads"}
# Of what may span orders of magnitude.
LOGARITHMIC_UNITS = ("us", "ns", "M/s")
# More of them are told apart by panels.
MOST_CURVES = 6
# What is said by a figure's place, or is no part of what was measured.
NOT_IN_A_LABEL = {"benchmark", "op", "backend", "library", "ranks", "threads", "bytes", "metric",
                  "unit", "median", "ci95_low", "ci95_high", "p99", "runs", "rounds", "file"}
WIDTH = 0.8  # of a bar
PARTS = ("isend", "compute", "wait", "total")  # of overlap, which are stacked


def groups(records, *fields):
    """{values of the fields: records}, in the order of the values."""
    found = collections.defaultdict(list)
    for record in records:
        found[tuple(record[name] for name in fields)].append(record)
    return dict(sorted(found.items()))


def size_text(size):
    """1048576 as 1M."""
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def parts_of(record, x):
    """What tells curves of a figure over `x` apart, as words, beside the library."""
    parts = {"threads": f"{record['threads']} threads", "bytes": f"{size_text(record['bytes'])} B",
             "ranks": f"{record['ranks']} ranks"}
    # Of benchmarks that this does not know.
    parts |= {name: f"{name} {record[name]}" for name in sorted(set(record) - NOT_IN_A_LABEL)}
    return {name: text for name, text in parts.items() if name != x}


def split(label, records, x):
    """Records that fall on each other come from several files or runs: one curve for each."""
    if len({record[x] for record in records}) == len(records):
        return {label: records}
    found, seen = {}, collections.Counter()
    for record in sorted(records, key=lambda each: each["file"]):
        seen[record["file"], record[x]] += 1
        nth = seen[record["file"], record[x]]
        again = f" ({nth})" if nth > 1 else ""
        found.setdefault(f"{label}, {record['file']}{again}", []).append(record)
    return found


def curves(records, x):
    """{label: records by x}, Heddle's first; a label tells the library and what is not the same everywhere."""
    all_parts = [parts_of(record, x) for record in records]
    names = [name for name in dict.fromkeys(name for parts in all_parts for name in parts)
             if len({parts.get(name) for parts in all_parts}) > 1]
    found = collections.defaultdict(list)
    for record, parts in zip(records, all_parts):
        words = [record["library"]] + [parts[name] for name in names if name in parts]
        found[", ".join(words)].append(record)
    return {name: sorted(some, key=lambda record: record[x])
            for label in sorted(found, key=lambda text: (not text.startswith("heddle"), text))
            for name, some in split(label, found[label], x).items()}


def look_of(library):
    """Colour and marker; a library that is not known gets one of the others, and keeps it."""
    colour = COLOURS.setdefault(library, OTHERS[len(COLOURS) % len(OTHERS)])
    return {"color": colour, "marker": MARKERS[list(COLOURS).index(library) % len(MARKERS)]}


def error_bars(records):
    """Distances of the interval's ends from the median, as matplotlib wants them."""
    return ([max(0, r["median"] - r["ci95_low"]) for r in records],
            [max(0, r["ci95_high"] - r["median"]) for r in records])


def save(figure, folder, name, formats):
    """The paths written. Raises OSError."""
    paths = [os.path.join(folder, f"{name}.{ending}") for ending in formats]
    for path in paths:
        figure.savefig(path, dpi=150, bbox_inches="tight")
    pyplot.close(figure)
    return paths


def scale_x(axes, records, x):
    """Powers of two where the values grow so."""
    values = sorted({record[x] for record in records})
    if len(values) > 1 and values[0] > 0 and values[-1] / values[0] >= 4:
        axes.set_xscale("log", base=2)
    # All of the values where they fit, and every n-th where they do not.
    axes.set_xticks(values[::(len(values) + 11) // 12])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: size_text(int(value)) if x == "bytes" else f"{value:g}"))
    axes.set_xlabel(X_NAMES[x])


def scale_y(axes, records):
    values = [record["median"] for record in records]
    metric, unit = records[0]["metric"].replace("_", " "), records[0]["unit"]
    if unit in LOGARITHMIC_UNITS and min(values) > 0 and max(values) >= 10 * min(values):
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    elif min(values) >= 0:
        axes.set_ylim(bottom=0)
    axes.set_ylabel(metric if unit == "1" else f"{metric} ({unit})")


def draw_curves(axes, records, x):
    of_library = {}
    for label, some in curves(records, x).items():
        library = some[0]["library"]
        nth = of_library[library] = of_library.get(library, -1) + 1
        axes.errorbar([r[x] for r in some], [r["median"] for r in some], yerr=error_bars(some),
                      label=label, linestyle=LINES[nth % len(LINES)], capsize=3, linewidth=1.5,
                      **look_of(library))


def title_of(records, x):
    """What is the same for all curves, in words."""
    first = records[0]
    words = [f"{first['benchmark']} of {first['op']} over {first['backend']}"]
    sizes = {r["bytes"] for r in records}
    threads = {r["threads"] for r in records}
    if x != "bytes" and len(sizes) == 1:
        words.append(f"{size_text(first['bytes'])} B")
    if x != "threads" and len(threads) == 1 and first["threads"] > 1:
        words.append(f"{first['threads']} threads per rank")
    return ", ".join(words)


def panels_of(records, x):
    """[(what is the same within, records)]: one, or one for each value of what is not `x`."""
    if len(curves(records, x)) <= MOST_CURVES:
        return [("", records)]
    other = "threads" if x == "bytes" else "bytes"
    return [(parts_of(some[0], x)[other], some) for some in groups(records, other).values()]


def line_figure(records, x):
    panels = panels_of(records, x)
    columns = 2 if len(panels) > 1 else 1
    rows = (len(panels) + columns - 1) // columns
    figure, grid = pyplot.subplots(rows, columns, figsize=(6.4 * columns, 4.4 * rows),
                                   squeeze=False, layout="constrained" if columns > 1 else None)
    for axes, (name, some) in zip(grid.flat, panels):
        draw_curves(axes, some, x)
        scale_x(axes, some, x)
        scale_y(axes, some)
        axes.grid(True, which="major", color="#dddddd")
        axes.legend(fontsize=8)
        axes.set_title(name, fontsize=10)
    for axes in list(grid.flat)[len(panels):]:
        axes.remove()
    middle = "means" if records[0]["metric"].endswith("_mean") else "medians"
    title = f"{title_of(records, x)}\n{middle}, 95 % confidence intervals"
    if len(panels) > 1:
        figure.suptitle(title, fontsize=11)
    else:
        grid[0][0].set_title(title, fontsize=10)
    return figure


def draw_lines(records, folder, formats):
    for key, some in groups(records, "benchmark", "op", "backend", "metric", "unit").items():
        benchmark, op, backend, metric, _ = key
        words = [benchmark, op, backend] + ([metric] if metric != benchmark else [])
        # Over sizes, threads, or both; over sizes where nothing varies.
        varying = [x for x in X_NAMES if len({r[x] for r in some}) > 1]
        for x in varying or ["threads" if metric == "rate" else "bytes"]:
            name = "-".join(words + [FILE_NAMES[x]]).replace("_", "-").replace("/", "-")
            yield from save(line_figure(some, x), folder, name, formats)


def stack(axes, places, by_metric, colour, library):
    """Posting, computing and waiting on top of each other, for each size."""
    bottom = [0.0] * len(places)
    looks = {"isend": (0.55, ""), "compute": (0.2, "///"), "wait": (1.0, "")}
    for metric, (alpha, hatch) in looks.items():
        heights = [record["median"] for record in by_metric[metric]]
        axes.bar(places, heights, WIDTH, bottom=bottom, color=colour, alpha=alpha, hatch=hatch,
                 edgecolor="white", label=f"{library}, {metric}")
        bottom = [low + high for low, high in zip(bottom, heights)]
    totals = by_metric["total"]
    axes.errorbar(places, [r["median"] for r in totals], yerr=error_bars(totals), fmt="none",
                  ecolor="black", capsize=2)


def stacks_of(records):
    """[(label, {metric: records by size})] of those that have all parts."""
    found = {}
    for metric in PARTS:
        some = [record for record in records if record["metric"] == metric]
        for label, of_label in curves(some, "bytes").items():
            found.setdefault(label, {})[metric] = of_label
    return [(label, parts) for label, parts in found.items()
            if len({tuple(r["bytes"] for r in parts.get(m, ())) for m in PARTS}) == 1]


def stacked_figure(records):
    """A group of bars for each size, a bar for each library."""
    stacks = stacks_of(records)
    sizes = sorted({r["bytes"] for _, parts in stacks for r in parts["total"]})
    figure, axes = pyplot.subplots(figsize=(max(6.4, 0.5 * len(sizes) * len(stacks)), 4.4))
    for nth, (label, parts) in enumerate(stacks):
        places = [sizes.index(r["bytes"]) * (len(stacks) + 1) + nth for r in parts["total"]]
        stack(axes, places, parts, look_of(parts["total"][0]["library"])["color"], label)
    axes.set_xticks([n * (len(stacks) + 1) + (len(stacks) - 1) / 2 for n in range(len(sizes))])
    axes.set_xticklabels([size_text(size) for size in sizes])
    axes.set_xlabel(X_NAMES["bytes"])
    axes.set_ylabel("time (us)")
    axes.set_title(f"overlap over {records[0]['backend']}, at the {records[0]['op']}\n"
                   "medians, 95 % confidence intervals of the totals", fontsize=10)
    axes.legend(fontsize=7, ncol=max(1, len(stacks)), loc="upper left",
                bbox_to_anchor=(0, -0.15))
    return figure


def draw_overlap(records, folder, formats):
    for (backend, side), some in groups(records, "backend", "op").items():
        if stacks_of(some):
            yield from save(stacked_figure(some), folder, f"overlap-{side}-{backend}-time", formats)
        ratios = [record for record in some if record["metric"] == "overlap_ratio"]
        if ratios:
            figure = line_figure(ratios, "bytes")
            figure.axes[0].set_title(f"overlap over {backend}, at the {side}\n"
                                     "1: all of the shorter one is hidden, 0: nothing", fontsize=10)
            figure.axes[0].set_ylim(min(-0.1, min(r["median"] for r in ratios) * 1.1), 1.15)
            yield from save(figure, folder, f"overlap-{side}-{backend}-ratio", formats)


def draw_all(records, folder, formats):
    """Yields the path of each figure as it is written. Raises OSError."""
    overlap = [record for record in records if record["benchmark"] == "overlap"]
    others = [record for record in records if record["benchmark"] != "overlap"]
    yield from draw_lines(others, folder, formats)
    yield from draw_overlap(overlap, folder, formats)
