#!/usr/bin/env python3
"""Draws the pictures of docs/operators.md into docs/operators. Needs nothing but Python.

Usage: scripts/draw-operators.py
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

INK, SOFT = "#333333", "#777777"
GREY, BLUE, RED = "#b8b8b8", "#7d9cc0", "#d1495b"
PALE_GREY, PALE_BLUE, PALE_RED = "#eeeeee", "#d5e1ee", "#f4d3d7"
WHITE = "#ffffff"

CELL = 34  # the usual width of a cell
HEIGHT = 24


class Picture:
    """An SVG on a white ground, which is readable in light and in dark surroundings."""

    def __init__(self, name: str, width: int, height: int, title: str) -> None:
        self.name, self.width, self.height, self.title = name, width, height, title
        self.parts: list[str] = []

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", colour: str = INK,
             bold: bool = False, mono: bool = False, size: int = 13) -> None:
        """`y` is the middle of the line."""
        family = "monospace" if mono else "sans-serif"
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y + size * 0.35:g}" font-family="{family}" font-size="{size}"'
            f' text-anchor="{anchor}" fill="{colour}"{weight}>{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, fill: str = WHITE,
            stroke: str = SOFT, *, dashed: bool = False) -> None:
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
                          f' fill="{fill}" stroke="{stroke}"{dashes}/>')

    def cell(self, x: float, y: float, text: str, fill: str = WHITE, width: float = CELL,
             height: float = HEIGHT, colour: str = INK) -> None:
        self.box(x, y, width, height, fill)
        self.text(x + width / 2, y + height / 2, text, anchor="middle", mono=True, size=12,
                  colour=colour)

    def cells(self, x: float, y: float, texts: Sequence[str], fills: str | Sequence[str] = WHITE,
              width: float = CELL) -> None:
        """A row of cells, of one fill or each of its own."""
        each = [fills] * len(texts) if isinstance(fills, str) else fills
        for i, (text, fill) in enumerate(zip(texts, each, strict=True)):
            self.cell(x + i * width, y, text, fill, width)

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = SOFT, *,
             arrow: bool = False, dashed: bool = False) -> None:
        head = f' marker-end="url(#head-{colour[1:]})"' if arrow else ""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
                          f' stroke="{colour}" stroke-width="1.5"{dashes}{head}/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float, colour: str = SOFT) -> None:
        self.line(x1, y1, x2, y2, colour, arrow=True)

    def bracket(self, x: float, y: float, width: float, text: str, colour: str = INK) -> None:
        """Under what is `width` wide, with its name below."""
        self.parts.append(f'<path d="M{x + 2:g} {y:g}v5h{width - 4:g}v-5" fill="none"'
                          f' stroke="{colour}"/>')
        self.text(x + width / 2, y + 15, text, anchor="middle", colour=colour, size=12)

    def save(self, folder: Path) -> None:
        heads = "".join(
            f'<marker id="head-{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6"'
            f' markerHeight="6" orient="auto"><path d="M0 0l8 4l-8 4z" fill="{colour}"/></marker>'
            for colour in (SOFT, BLUE, RED))
        body = "\n".join(self.parts)
        (folder / f"{self.name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
            f' width="{self.width}" height="{self.height}" role="img">\n'
            f"<title>{escape(self.title)}</title>\n<defs>{heads}</defs>\n"
            f'<rect width="{self.width}" height="{self.height}" rx="6" fill="{WHITE}"/>\n'
            f"{body}\n</svg>\n")


ROWS = (("9", "9"), ("1", "40"), ("2", "20"), ("6", "-10"), ("-1", "5"))


def operator() -> Picture:
    picture = Picture("operator", 760, 232, "Rows of a table are gathered, pooled and stored")
    picture.text(20, 22, "ids of a bag", bold=True)
    for i, row in enumerate(("1", "3", "0", "2", "2")):
        picture.cell(50, 44 + i * 32, row, PALE_GREY if row == "0" else PALE_BLUE)
    picture.text(140, 22, "their rows", bold=True)
    for i, row in enumerate((1, 3, 0, 2, 2)):
        y = 44 + i * 32
        if row == 0:
            picture.text(160, y + 12, "padding: not read", colour=SOFT, size=12)
            continue
        picture.arrow(88, y + 12, 152, y + 12)
        picture.cells(158, y, ROWS[row], PALE_BLUE)
        picture.line(230, y + 12, 300, 116)
    picture.text(300, 22, "pooled, in float32", bold=True)
    picture.cells(304, 104, ("11", "70"), PALE_BLUE)
    picture.text(338, 142, "sum", anchor="middle", colour=SOFT, size=12)
    picture.arrow(376, 116, 448, 116)
    picture.text(452, 22, "fused end", bold=True)
    picture.box(452, 100, 110, 32, PALE_GREY)
    picture.text(507, 116, "x * 0.5f", anchor="middle", mono=True, size=12)
    picture.text(507, 145, "optional", anchor="middle", colour=SOFT, size=12)
    picture.arrow(564, 116, 628, 116)
    picture.text(632, 22, "output row", bold=True)
    picture.cells(634, 104, ("5.5", "35"), PALE_RED, 44)
    picture.text(678, 142, "in output_type", anchor="middle", colour=SOFT, size=12)
    picture.text(304, 212, "one kernel: nothing between the table and the output is stored",
                 colour=SOFT, size=12)
    return picture


def offsets_above(picture: Picture, x: float, y: float, offsets: Sequence[int],
                  ends: Sequence[str] = ()) -> None:
    """Offsets over a row of ids at (x, y), each with an arrow to where it points."""
    texts = [str(offset) for offset in offsets]
    left = x + CELL
    picture.cells(left, y - 62, texts, PALE_RED)
    for i, offset in enumerate(offsets):
        picture.arrow(left + i * CELL + CELL / 2, y - 38, x + offset * CELL, y - 2, RED)
    for text in ends:
        picture.text(left + len(offsets) * CELL + 8, y - 50, text, colour=SOFT, size=12)


def bags() -> Picture:
    picture = Picture("bags", 760, 400, "Fixed bags and CSR bags")
    x = 180
    picture.text(20, 42, "FixedBags{2}", mono=True)
    picture.text(20, 60, "ids [batch, 2]", colour=SOFT, size=12)
    picture.cells(x, 38, ("1", "3", "2", "2"), PALE_BLUE)
    picture.bracket(x, 66, 2 * CELL, "bag 0")
    picture.bracket(x + 2 * CELL, 66, 2 * CELL, "bag 1")

    y = 180
    picture.text(20, y - 50, "offsets [batch + 1]", colour=RED, size=12)
    picture.text(20, y + 4, "CsrBags{}", mono=True)
    picture.text(20, y + 22, "ids [num_ids]", colour=SOFT, size=12)
    picture.cells(x, y, ("99", "1", "3", "2", "2", "77"),
                  [PALE_GREY] + [PALE_BLUE] * 4 + [PALE_GREY])
    offsets_above(picture, x, y, (1, 3, 3, 5))
    picture.bracket(x + CELL, y + 28, 2 * CELL, "bag 0")
    picture.bracket(x + 3 * CELL, y + 28, 2 * CELL, "bag 2")
    picture.text(x + 6 * CELL + 24, y + 4, "99 and 77 are in no bag: never read", colour=SOFT, size=12)
    picture.text(x + 6 * CELL + 24, y + 22, "bag 1 begins and ends at 3: empty, zeros", colour=SOFT,
                 size=12)

    y = 326
    picture.text(20, y - 50, "offsets [batch]", colour=RED, size=12)
    picture.text(20, y + 4, "CsrBags{.end =", mono=True)
    picture.text(20, y + 20, "  OffsetsEnd::implied}", mono=True, size=12)
    picture.cells(x, y, ("99", "1", "3", "2", "2"), [PALE_GREY] + [PALE_BLUE] * 4)
    offsets_above(picture, x, y, (1, 3, 3))
    picture.bracket(x + CELL, y + 28, 2 * CELL, "bag 0")
    picture.bracket(x + 3 * CELL, y + 28, 2 * CELL, "bag 2")
    picture.line(x + 5 * CELL, y - 22, x + 5 * CELL, y - 2, RED)
    picture.text(x + 5 * CELL + 8, y - 16, "the last bag ends at num_ids", colour=RED, size=12)
    return picture


def without_pooling() -> Picture:
    picture = Picture("none", 760, 320, "Without pooling every id has a row of the output")
    picture.text(20, 22, "fixed bags, padding id 0", bold=True)
    picture.text(400, 22, "CSR bags, offsets 1 3 3 5", bold=True)
    fixed = (("1", ROWS[1]), ("0", ("0", "0")), ("2", ROWS[2]), ("2", ROWS[2]))
    for i, (row, values) in enumerate(fixed):
        y = 56 + i * 36
        picture.cell(40, y, row, PALE_BLUE if row != "0" else PALE_GREY)
        picture.arrow(78, y + 12, 142, y + 12)
        picture.cells(148, y, values, PALE_RED)
    picture.text(226, 104, "padding: zeros", colour=SOFT, size=12)
    picture.text(57, 44, "ids", anchor="middle", colour=SOFT, size=12)
    picture.text(182, 44, "output [batch * 2, dim]", anchor="middle", colour=SOFT, size=12)
    csr = (("99", None), ("1", ROWS[1]), ("3", ROWS[3]), ("2", ROWS[2]), ("2", ROWS[2]), ("77", None))
    for i, (row, kept) in enumerate(csr):
        y = 56 + i * 36
        picture.cell(420, y, row, PALE_BLUE if kept else PALE_GREY)
        if kept:
            picture.arrow(458, y + 12, 522, y + 12)
            picture.cells(528, y, kept, PALE_RED)
        else:
            picture.cells(528, y, ("", ""), WHITE)
            picture.text(606, y + 12, "in no bag: left as it is", colour=SOFT, size=12)
    picture.text(437, 44, "ids", anchor="middle", colour=SOFT, size=12)
    picture.text(562, 44, "output [num_ids, dim]", anchor="middle", colour=SOFT, size=12)
    picture.text(400, 296, "one row for each id from the first offset to the last", colour=SOFT, size=12)
    return picture


def capacity() -> Picture:
    picture = Picture("capacity", 760, 262, "Buffers of a capacity, with the counts on the device")
    x = 120
    picture.text(20, 36, "ids", mono=True)
    picture.cells(x, 24, ("1", "3", "2", "", "", "", "", ""), [PALE_BLUE] * 3 + [PALE_GREY] * 5)
    picture.text(x + 8 * CELL + 12, 36, "num_ids = 8: how many there is room for", size=12)
    picture.text(20, 76, "offsets", mono=True)
    picture.cells(x, 64, ("0", "2", "3", "", ""), [PALE_BLUE] * 3 + [PALE_GREY] * 2)
    picture.text(x + 5 * CELL + 12, 76, "batch = 4", size=12)
    picture.text(20, 116, "counts", mono=True)
    picture.cells(x, 104, ("2", "3"), PALE_RED)
    picture.text(x + 2 * CELL + 12, 116,
                 "on the device: {bags, ids} now; read when the kernel runs", size=12)
    picture.text(20, 156, "output", mono=True)
    picture.cells(x, 144, ("7 30", "2 20", "", ""), [PALE_BLUE] * 2 + [PALE_GREY] * 2, 2 * CELL)
    picture.text(x + 8 * CELL + 12, 156, "rows beyond the count: left as they are", size=12)

    picture.box(x, 196, 150, 34, PALE_BLUE)
    picture.text(x + 75, 213, "writes ids, counts", anchor="middle", size=12)
    picture.arrow(x + 152, 213, x + 196, 213)
    picture.box(x + 200, 196, 150, 34, PALE_RED)
    picture.text(x + 275, 213, "embedding bag", anchor="middle", size=12)
    picture.box(x - 12, 186, 374, 54, "none", SOFT, dashed=True)
    picture.text(x + 372, 213, "captured once, replayed for each batch", size=12, colour=SOFT)
    picture.text(20, 213, "CUDA graph", size=13)
    return picture


def poolings() -> Picture:
    picture = Picture("poolings", 760, 412, "What each pooling makes of one bag")
    picture.text(20, 20, "one bag, padding id 0", bold=True)
    picture.text(57, 42, "weight", anchor="middle", colour=SOFT, size=12)
    picture.text(127, 42, "id", anchor="middle", colour=SOFT, size=12)
    picture.text(214, 42, "row", anchor="middle", colour=SOFT, size=12)
    bag = (("1", 1), ("2", 3), ("9", 0), ("0.5", 2), ("1.5", 2))
    winners = {(1, 1), (3, 0)}
    for i, (weight, row) in enumerate(bag):
        y = 54 + i * 28
        fill = PALE_BLUE if row else PALE_GREY
        picture.cell(36, y, weight, PALE_RED if row else PALE_GREY, 42)
        picture.cell(110, y, str(row), fill)
        if row:
            for column in (0, 1):
                picture.cell(180 + column * CELL, y, ROWS[row][column],
                             BLUE if (row, column) in winners else PALE_BLUE)
        else:
            picture.text(180, y + 12, "not read, not counted", colour=SOFT, size=12)
    picture.text(20, 214, "4 rows are counted; their weights", size=12)
    picture.text(20, 231, "sum to 5; mean_length is 10.", size=12)
    picture.text(20, 255, "Darker: the largest of its column.", size=12)

    picture.text(360, 20, "without weights", bold=True)
    lines = (("sum", "Σ row", ("11", "70")), ("mean", "Σ row / 4", ("2.75", "17.5")),
             ("mean_by_length", "Σ row / 10", ("1.1", "7")),
             ("mean_by_sqrt", "Σ row / √4", ("5.5", "35")),
             ("max", "winners 3 1", ("6", "40")))
    for i, (name, formula, values) in enumerate(lines):
        y = 36 + i * 30
        picture.text(360, y + 12, name, mono=True, size=12)
        picture.text(505, y + 12, formula, size=12, colour=SOFT)
        picture.cells(620, y, values, PALE_BLUE, 48)
    picture.text(360, 208, "with weights", bold=True)
    weighted = (("sum", "Σ w·row", ("17", "60")), ("mean", "Σ w·row / 4", ("4.25", "15")),
                ("mean_by_weights", "Σ w·row / Σ w", ("3.4", "12")))
    for i, (name, formula, values) in enumerate(weighted):
        y = 224 + i * 30
        picture.text(360, y + 12, name, mono=True, size=12)
        picture.text(505, y + 12, formula, size=12, colour=SOFT)
        picture.cells(620, y, values, PALE_RED, 48)
    picture.text(20, 346, "several side by side, from one gather", bold=True)
    picture.text(20, 374, "{sum, mean, max}", mono=True, size=12)
    picture.cells(180, 362, ("11", "70", "2.75", "17.5", "6", "40"),
                  [PALE_BLUE] * 2 + [PALE_RED] * 2 + [PALE_GREY] * 2, 48)
    for i, name in enumerate(("sum", "mean", "max")):
        picture.bracket(180 + i * 96, 388, 96, name)
    return picture


def bad_input() -> Picture:
    picture = Picture("bad_input", 760, 326, "Bad ids and bad offsets under skip and report")
    picture.text(20, 22, "ids and a table of 5 rows", bold=True)
    for i, row in enumerate(("-3", "-1", "0", "1", "2", "3", "4", "5", "7")):
        good = 2 <= i <= 6
        picture.cell(180 + i * 42, 40, row, PALE_BLUE if good else PALE_RED, 42)
    picture.bracket(180, 68, 84, "below 0", RED)
    picture.bracket(264, 68, 210, "read")
    picture.bracket(474, 68, 84, "5 or more", RED)
    picture.text(576, 52, "bad: as if padding", colour=RED, size=12)

    picture.text(20, 128, "offsets -4, 9, 2, 3 and 3 ids", bold=True)
    x, y = 300, 236
    picture.line(x - 120, 180, x + 330, 180)
    marks = {-4: "-4", 0: "0", 2: "2", 3: "3", 9: "9"}
    places = {-4: x - 110, 0: x, 2: x + 2 * CELL, 3: x + 3 * CELL, 9: x + 310}
    for offset, text in marks.items():
        bad = offset in (-4, 9)
        picture.line(places[offset], 174, places[offset], 186, RED if bad else SOFT)
        picture.text(places[offset], 160, text, anchor="middle", mono=True, colour=RED if bad else INK)
    picture.arrow(places[-4] + 4, 192, x - 4, 226, RED)
    picture.arrow(places[9] - 4, 192, places[3] + 6, 226, RED)
    picture.text(places[-4] + 22, 218, "to the nearer end", colour=RED, size=12, anchor="end")
    picture.text(places[9] - 22, 218, "to the nearer end", colour=RED, size=12)
    picture.cells(x, y, ("1", "3", "2"), PALE_BLUE)
    picture.text(20, y + 12, "ids", mono=True)
    picture.bracket(x, y + 28, 3 * CELL, "bag 0: begins at -4, so at 0; ends at 9, so at 3")
    picture.text(x + 3 * CELL + 30, y + 6, "bag 1: from 3 to 2, so empty", size=12)
    picture.text(x + 3 * CELL + 30, y + 24, "bag 2: from 2 to 3, good", size=12)
    picture.text(20, 306, "report: the same output, and an error for bag 0, the lowest bag with bad input",
                 colour=SOFT, size=12)
    return picture


def rows() -> Picture:
    picture = Picture("rows", 760, 456, "The bytes of a quantised row of three columns")
    width = 30
    layouts: tuple[tuple[str, str, Sequence[tuple[str, str]]], ...] = (
        ("apart, int8", "RowScale{}", [("code", "0"), ("code", "1"), ("code", "2")]),
        ("inference_row, int8", "fbgemm::inference_row()",
         [("scale", ""), ("scale", ""), ("bias", ""), ("bias", ""), ("code", "0"), ("code", "1"),
          ("code", "2")]),
        ("inference_row, int4", "fbgemm::inference_row()",
         [("scale", ""), ("scale", ""), ("bias", ""), ("bias", ""), ("code", "1|0"), ("code", "·|2")]),
        ("fused_8bit_row, int8", "fbgemm::fused_8bit_row(3)",
         [("code", "0"), ("code", "1"), ("code", "2"), ("pad", "")] + [("scale", "")] * 4
         + [("bias", "")] * 4),
        ("without padding, int8", ".offset = 3",
         [("code", "0"), ("code", "1"), ("code", "2")] + [("scale", "")] * 4 + [("bias", "")] * 4),
        ("fused_4bit_row, int4", "fbgemm::fused_4bit_row(3)",
         [("code", "1|0"), ("code", "·|2"), ("scale", ""), ("scale", ""), ("bias", ""), ("bias", "")]),
        ("nowhere, float8", "Place::nowhere", [("code", "0"), ("code", "1"), ("code", "2")]),
    )
    fills = {"code": PALE_BLUE, "scale": PALE_RED, "bias": PALE_GREY, "pad": WHITE}
    for i, (name, how, parts) in enumerate(layouts):
        y = 34 + i * 56
        picture.text(20, y + 6, name, bold=True)
        picture.text(20, y + 24, how, mono=True, size=12, colour=SOFT)
        x: float = 250
        previous, start = "", x
        for kind, text in (*parts, ("", "")):
            if kind != previous and previous in ("scale", "bias"):
                size = "float32" if x - start == 4 * width else "float16"
                label = previous if size == "float16" else f"{previous}, {size}"
                picture.text((start + x) / 2, y + 38, label, anchor="middle", size=11, colour=SOFT)
            if kind != previous:
                previous, start = kind, x
            if kind:
                picture.cell(x, y, text, fills[kind], width)
                x += width
        if name.startswith("apart"):
            picture.text(x + 20, y + 12, "and", size=12, colour=SOFT)
            picture.cell(x + 54, y, "scale", PALE_RED, 60)
            picture.cell(x + 114, y, "bias", PALE_GREY, 60)
            picture.text(x + 184, y + 12, "of each row, in an array", size=12, colour=SOFT)
    picture.text(20, 438, "A cell is a byte; a number is the column whose code it holds. 1|0: column 1 in "
                 "the high half, 0 in the low half.", size=12, colour=SOFT)
    return picture


def types() -> Picture:
    picture = Picture("types", 760, 200, "From the table's type over the accumulator to the output's")
    picture.text(90, 24, "table", anchor="middle", bold=True)
    picture.text(370, 24, "accumulator", anchor="middle", bold=True)
    picture.text(640, 24, "output", anchor="middle", bold=True)
    picture.box(20, 44, 150, 30, PALE_BLUE)
    picture.text(95, 59, "float64", anchor="middle", mono=True, size=12)
    picture.box(20, 90, 150, 92, PALE_BLUE)
    for i, name in enumerate(("float32", "float16, bfloat16", "int8, int4", "float8_e4m3, _e5m2")):
        picture.text(95, 104 + i * 21, name, anchor="middle", mono=True, size=12)
    picture.box(310, 44, 120, 30, PALE_RED)
    picture.text(370, 59, "float64", anchor="middle", mono=True, size=12)
    picture.box(310, 121, 120, 30, PALE_RED)
    picture.text(370, 136, "float32", anchor="middle", mono=True, size=12)
    picture.arrow(174, 59, 304, 59)
    picture.arrow(174, 136, 304, 136)
    picture.text(238, 46, "exact", anchor="middle", size=12, colour=SOFT)
    picture.text(238, 112, "exact; codes:", anchor="middle", size=12, colour=SOFT)
    picture.text(238, 125, "scale * code + bias", anchor="middle", size=11, colour=SOFT)
    picture.box(560, 59, 160, 92, PALE_BLUE)
    for i, name in enumerate(("float64", "float32", "float16", "bfloat16")):
        picture.text(640, 73 + i * 21, name, anchor="middle", mono=True, size=12)
    picture.arrow(434, 59, 554, 84)
    picture.arrow(434, 136, 554, 120)
    picture.text(494, 104, "rounded once", anchor="middle", size=12, colour=SOFT)
    picture.text(370, 180, "weights: any of the four floats, of their own", anchor="middle", size=12,
                 colour=SOFT)
    return picture


def strides() -> Picture:
    picture = Picture("strides", 760, 190, "Row stride and output stride")
    picture.text(40, 24, "table: dim 2, row_stride 4", bold=True)
    for i, row in enumerate((("0", "1", "10", "0"), ("0", "2", "20", "0"))):
        picture.cells(60, 66 + i * HEIGHT, row, (PALE_GREY, PALE_BLUE, PALE_BLUE, PALE_GREY), 48)
    picture.arrow(108, 46, 108, 63, RED)
    picture.text(116, 48, "the table's address: aligned to 4 bytes only", colour=RED, size=12)
    picture.bracket(60, 120, 192, "row_stride, in elements")
    picture.text(60, 156, "grey: never read", size=12, colour=SOFT)
    picture.arrow(276, 90, 440, 90)
    picture.text(358, 78, "bags {0, 1}, {1, 1}", anchor="middle", size=12, colour=SOFT)
    picture.text(440, 24, "output: output_stride 3", bold=True)
    for i, row in enumerate((("3", "30", "-7"), ("4", "40", "-7"))):
        picture.cells(460, 66 + i * HEIGHT, row, (PALE_BLUE, PALE_BLUE, PALE_GREY), 48)
    picture.bracket(460, 120, 144, "output_stride")
    picture.text(460, 156, "grey: never written; -7 was there before", size=12, colour=SOFT)
    return picture


def tables() -> Picture:
    picture = Picture("tables", 760, 350, "Two tables in one launch, ids joined and outputs side by side")
    picture.text(20, 24, "joined: bag b of table t is number t * batch + b", bold=True)
    x, y = 200, 112
    fills = [PALE_BLUE] * 3 + [PALE_GREY] * 3
    picture.text(20, 62, "offsets [2 * batch + 1]", size=12, colour=RED)
    picture.text(20, y + 12, "ids of both tables", size=12)
    picture.cells(x, y, ("1", "3", "2", "0", "1", "2"), fills)
    picture.cells(x, 50, ("0", "2", "3", "4", "6"), PALE_RED)
    for i, offset in enumerate((0, 2, 3, 4, 6)):
        picture.arrow(x + i * CELL + CELL / 2, 74, x + offset * CELL, y - 2, RED)
    picture.bracket(x, y + 28, 3 * CELL, "table 0")
    picture.bracket(x + 3 * CELL, y + 28, 3 * CELL, "table 1")
    picture.text(x + 6 * CELL + 24, y + 2, "batch 2: bags 0, 1 are table 0's,", size=12, colour=SOFT)
    picture.text(x + 6 * CELL + 24, y + 20, "bags 2, 3 are table 1's", size=12, colour=SOFT)

    picture.text(20, 188, "side by side: output [batch, 2 + 1]", bold=True)
    for i, row in enumerate((("7", "30", "100"), ("2", "20", "250"))):
        picture.text(120, 222 + i * HEIGHT, f"bag {i}", size=12, colour=SOFT)
        picture.cells(x, 210 + i * HEIGHT, row, (PALE_BLUE, PALE_BLUE, PALE_GREY), 52)
    picture.bracket(x, 262, 104, "table 0")
    picture.bracket(x + 104, 262, 52, "table 1")
    picture.text(440, 188, "separate", bold=True)
    for i, row in enumerate((("7", "30"), ("2", "20"))):
        picture.cells(460, 210 + i * HEIGHT, row, PALE_BLUE, 52)
    for i, row in enumerate((("100",), ("250",))):
        picture.cells(620, 210 + i * HEIGHT, row, PALE_GREY, 52)
    picture.bracket(460, 262, 104, "table 0")
    picture.bracket(620, 262, 52, "table 1")
    picture.text(20, 322, "table 0: dim 2, sum, rows as above.   table 1: dim 1, mean, rows 100, 200, 300.",
                 size=12, colour=SOFT)
    return picture


def schedule() -> Picture:
    picture = Picture("schedule", 760, 330, "The batch in slots, the blocks of a slot heaviest first")
    picture.text(20, 24, "bags of every table, cut into slots of the same number of bags", bold=True)
    x = 190
    names = ("table 0: dim 128, 40 ids", "table 1: dim 128, 40 ids", "table 2: dim 32, 1 id")
    fills = (RED, PALE_RED, PALE_BLUE)
    blocks = (4, 4, 1)
    for t, (name, fill, count) in enumerate(zip(names, fills, blocks, strict=True)):
        y = 48 + t * 34
        picture.text(20, y + 12, name, size=12)
        for slot in range(3):
            for block in range(count):
                width = 168 / count
                picture.cell(x + slot * 180 + block * width, y, "", fill, width)
    for slot in range(3):
        picture.bracket(x + slot * 180, 152, 168, f"slot {slot}")
    picture.text(20, 204, "the grid: one list of blocks for each slot, heaviest first", bold=True)
    order = (0, 0, 0, 0, 1, 1, 1, 1, 2)
    for slot in range(3):
        for i, t in enumerate(order):
            picture.cell(x + slot * 180 + i * 18.6, 222, str(t), fills[t], 18.6,
                         colour=WHITE if t == 0 else INK)
    picture.bracket(x, 250, 168, "blocks_per_slot")
    picture.text(20, 234, "blockIdx.x", mono=True, size=12)
    picture.text(20, 292, "A block finds in the list its table, its kind (which of the kernel's bodies), "
                 "its first bag within the slot", size=12, colour=SOFT)
    picture.text(20, 308, "and its tile of columns. Tables 0 and 1 are alike, so they share a kind.",
                 size=12, colour=SOFT)
    return picture


def end() -> Picture:
    picture = Picture("end", 760, 176, "A fused end: L2 normalisation")
    picture.text(20, 24, "pooled", bold=True)
    picture.cells(20, 60, ("11", "70"), PALE_BLUE, 44)
    picture.text(64, 100, "x", anchor="middle", mono=True, colour=SOFT)
    picture.text(186, 24, "row_sum", bold=True, mono=True)
    picture.arrow(112, 72, 180, 72)
    picture.box(186, 56, 110, 32, PALE_GREY)
    picture.text(241, 72, "x * x", anchor="middle", mono=True, size=12)
    picture.text(241, 104, "summed: 5021", anchor="middle", size=12, colour=SOFT)
    picture.arrow(300, 72, 350, 72)
    picture.text(356, 24, "element", bold=True, mono=True)
    picture.box(356, 56, 226, 32, PALE_GREY)
    picture.text(469, 72, "x * rsqrtf(row_sum + 1e-12f)", anchor="middle", mono=True, size=12)
    picture.arrow(586, 72, 626, 72)
    picture.text(632, 24, "stored", bold=True)
    picture.cells(632, 60, (".155", ".988"), PALE_RED, 52)
    picture.text(20, 140, "Each pooling's vector has its own row_sum. Both expressions see x, column, dim, bag, "
                 "count, pooling, parameters.", size=12, colour=SOFT)
    return picture


def main() -> None:
    folder = Path("docs/operators")
    folder.mkdir(exist_ok=True)
    for picture in (operator(), bags(), without_pooling(), capacity(), poolings(), bad_input(), rows(),
                    types(), strides(), tables(), schedule(), end()):
        picture.save(folder)


if __name__ == "__main__":
    main()
