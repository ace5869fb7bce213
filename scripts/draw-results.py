#!/usr/bin/env python3
"""Draws docs/seed_sweep.svg from a folder of bench/results. Needs matplotlib.

Usage: scripts/draw-results.py bench/results/2026-12-01-h200
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

Times = dict[tuple[int, int], float]


def load(path: Path) -> dict[str, Any]:
    """Reads one result file."""
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def cuembed_and_jitbag(folder: Path) -> tuple[Times, Times]:
    """Median device microseconds by (dim, bag size), in one process on the same buffers."""
    times: dict[str, Times] = {"cuEmbed": {}, "jitbag dependent": {}}
    for result in load(folder / "peers_cuembed.json")["results"]:
        is_wanted = result["group"] == "seed" and result["arrangement"] == "block"
        if is_wanted and result["contender"] in times:
            shape = (result["dim"], result["bag"])
            times[result["contender"]][shape] = result["graph_us_median"]
    return times["cuEmbed"], times["jitbag dependent"]


def triton(folder: Path) -> Times:
    """The same for the best Triton variant of each shape."""
    shapes = load(folder / "peers_triton.json")["shapes"]
    return {(shape["dim"], shape["bag"]): shape["graph_us_median"] for shape in shapes}


def draw(folder: Path, target: Path) -> None:
    """One group of bars for each shape."""
    cuembed, jitbag = cuembed_and_jitbag(folder)
    series = {"cuEmbed": cuembed, "Triton, best variant": triton(folder), "jitbag": jitbag}
    colours = ("#b8b8b8", "#7d9cc0", "#d1495b")
    shapes = sorted(jitbag)
    figure, axes = plt.subplots(figsize=(9, 3.4), layout="constrained")
    for index, ((name, times), colour) in enumerate(zip(series.items(), colours, strict=True)):
        places = [place + (index - 1) * 0.27 for place in range(len(shapes))]
        axes.bar(places, [times[shape] for shape in shapes], 0.25, label=name, color=colour)
    axes.set_xticks(range(len(shapes)), [f"{dim} × {bag}" for dim, bag in shapes])
    axes.set_xlabel("dim × bag size (8192 bags, 1M rows, float16, a quarter padding)")
    axes.set_ylabel("device time, µs (median)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path("docs/seed_sweep.svg"))
