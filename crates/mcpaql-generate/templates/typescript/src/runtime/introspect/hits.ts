// What a search answers: enough about a few operations to call the right one, in few words.
//
// What always holds: nothing is said twice. A summary that repeats the name is left out, where an identifier comes from is said
// once, and identifiers that come from the same operations share a line.

import type { Catalog, Operation } from "../catalog.js";
import type { Producers } from "../discovery.js";
import type { Fields } from "../json.js";
import { shorten } from "../text.js";
import { estimate } from "../tokens.js";

/** So many operations where nobody says how many. */
export const SHOWN = 5;
/** Estimated tokens of all of them together, for so many. */
const ROOM = 236;

/** How much is said about an operation; `producers` are the operations named for each parameter. */
interface Size {
  readonly signature: number;
  readonly summary: number;
  readonly producers: number;
}

/** From generous to terse. Where values come from outlasts the summary: it leads on, and the name says much already. */
const SIZES: readonly Size[] = [
  { signature: 40, summary: 100, producers: 2 },
  { signature: 28, summary: 72, producers: 2 },
  { signature: 20, summary: 56, producers: 1 },
  { signature: 12, summary: 40, producers: 1 },
  { signature: 8, summary: 0, producers: 1 },
  { signature: 8, summary: 0, producers: 0 },
];

/** The hits, the best first, as generous as there is room. */
export function hitRows(catalog: Catalog, shown: readonly [Operation, Producers][]): Fields[] {
  const room = ROOM * Math.ceil(Math.max(shown.length, 1) / SHOWN);
  let rows: Fields[] = [];
  for (const size of SIZES) {
    const said = new Set<string>();
    rows = shown.map(([operation, from]) => hitRow(catalog, operation, from, size, said));
    if (estimate(JSON.stringify(rows)) <= room) break;
  }
  return rows;
}

function hitRow(catalog: Catalog, operation: Operation, producers: Producers, size: Size, said: Set<string>): Fields {
  const { name, tool, endpoint } = operation;
  const row: Fields = catalog.data.mode === "discrete" ? { name, tool } : { name, endpoint };
  row["signature"] = brief(operation, catalog.data.brief_sizes.indexOf(size.signature));
  if (size.summary > 0 && operation.repeats !== true) {
    row["summary"] = clipped(operation.hit_summary ?? operation.summary, size.summary);
  }
  const from = lines(operation, producers, size.producers, said);
  if (from.length > 0) row["from"] = Object.fromEntries(from);
  return row;
}

/** The signature in a size, which may be that of the sizes before. */
function brief(operation: Operation, size: number): string {
  return operation.brief.slice(0, size + 1).findLast((signature) => signature !== null) ?? operation.signature;
}

/** Where the required values come from, as far as no hit before said so. */
function lines(operation: Operation, producers: Producers, most: number, said: Set<string>): [string, readonly string[]][] {
  const found = new Map<string, { params: string[]; names: readonly string[] }>();
  for (const [param, all] of producers) {
    const names = all.slice(0, most);
    const key = names.join(" ");
    if (names.length === 0 || !isRequired(operation, param) || said.has(`${param} ${key}`)) continue;
    said.add(`${param} ${key}`);
    const line = found.get(key);
    if (line === undefined) found.set(key, { params: [param], names });
    else line.params.push(param);
  }
  return [...found.values()].map(({ params, names }) => [params.join(", "), names]);
}

/** Whether the operation itself asks for it, whoever fills it in. */
function isRequired(operation: Operation, name: string): boolean {
  return operation.params.some((param) => param.name === name && param.view["required"] === true);
}

/** The text, cut between words. */
function clipped(text: string, most: number): string {
  const cut = shorten(text, most);
  const space = cut === text ? -1 : cut.lastIndexOf(" ");
  return space < 0 ? cut : `${cut.slice(0, space)}…`;
}
