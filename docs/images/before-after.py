#!/usr/bin/env python3
"""Draws before-after.svg from the README's table and the example adapter of GitHub.

Run it from any folder after the table has changed: python3 docs/images/before-after.py
"""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENT = "examples/github-api-adapter.md"

WIDTH, HEIGHT = 880, 430
STYLE = """
  text { font-family: -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .panel { fill: #f6f8fa; stroke: #d1d9e0 }
  .title { font-size: 17px; font-weight: 600 }
  .count { font-size: 34px; font-weight: 700 }
  .much { fill: #b35900 }
  .little { fill: #116329 }
  .note { font-size: 13px; fill: #59636e }
  .tool { fill: #ffffff; stroke: #d1d9e0 }
  .name, .wide { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
  .name { font-size: 8.5px }
  .wide { font-size: 14px }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .panel { fill: #161b22; stroke: #3d444d }
    .much { fill: #f0a04b }
    .little { fill: #56d364 }
    .note { fill: #9198a1 }
    .tool { fill: #0d1117; stroke: #3d444d }
  }
"""


def measured():
    """Operations, tokens with a tool per operation, tokens with a tool per effect."""
    row = next(line for line in (ROOT / "README.md").read_text().splitlines() if f"({DOCUMENT})" in line and line.startswith("|"))
    operations, discrete, semantic = (cell.strip(" *") for cell in row.split("|")[2:5])
    return operations, discrete, semantic


def operations_by_effect():
    """The names of the operations below each effect of the document."""
    effects, effect = {}, None
    for line in (ROOT / DOCUMENT).read_text().split("\noperations:\n")[1].splitlines():
        if found := re.match(r"  (create|read|update|delete|execute):", line):
            effect = effects.setdefault(found[1], [])
        elif found := re.match(r"    - (?:\{ )?name: (\w+)", line):
            effect.append(found[1])
        elif line == "---":
            break
    return effects


def shorten(name, length):
    return name if len(name) <= length else name[: length - 1] + "…"


def box(x, y, width, height, kind, text):
    baseline = y + height / 2 + (5 if kind == "wide" else 3)
    return (
        f'<rect class="tool" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>'
        f'<text class="{kind}" x="{x + (12 if kind == "wide" else 6)}" y="{baseline:g}">{text}</text>'
    )


def panel(x, title, tokens, colour, note):
    return [
        f'<rect class="panel" x="{x}" y="10" width="420" height="410" rx="10"/>',
        f'<text class="title" x="{x + 16}" y="42">{title}</text>',
        f'<text class="count {colour}" x="{x + 16}" y="82">{tokens} tokens</text>',
        f'<text class="note" x="{x + 16}" y="104">{note}</text>',
    ]


def main():
    operations, discrete, semantic = measured()
    effects = operations_by_effect()
    names = [name for effect in effects.values() for name in effect]
    assert len(names) == int(operations), (len(names), operations)
    prefix = re.search(r"^name: (\S+)", (ROOT / DOCUMENT).read_text(), re.M)[1].replace("-", "_")

    parts = panel(10, "A tool per operation", discrete, "much", f"{operations} tools in the context of every request")
    rows = -(-len(names) // 3)
    step = 290 / rows
    for index, name in enumerate(names):
        column, row = divmod(index, rows)
        parts.append(box(26 + column * 130, round(118 + row * step, 1), 126, round(step - 3, 1), "name", shorten(name, 22)))

    parts += panel(450, "mcpaql: a tool per effect", semantic, "little", f"{len(effects)} tools; the agent looks up the rest")
    for index, (effect, found) in enumerate(effects.items()):
        y = 118 + index * 58
        parts.append(box(466, y, 388, 50, "wide", f"{prefix}_mcpaql_{effect}"))
        count = f"{len(found)} operation{'s' if len(found) != 1 else ''}"
        parts.append(f'<text class="note" x="842" y="{y + 30}" text-anchor="end">{count}</text>')

    about = f"{operations} tools cost {discrete} tokens; {len(effects)} tools for the same operations cost {semantic} tokens"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">\n'
        f"<title>{about}</title>\n<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )
    (HERE / "before-after.svg").write_text(svg)


if __name__ == "__main__":
    main()
