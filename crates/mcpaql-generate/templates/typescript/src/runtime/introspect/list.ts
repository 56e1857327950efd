// Lists of operations: all, narrowed, found by search; whole or in pages.

import type { Catalog, Operation } from "../catalog.js";
import { type Producers, found, foundWithChain, producers } from "../discovery.js";
import type { Fields } from "../json.js";
import { type Answer, type Warning, answer } from "../response.js";
import { nearestMany } from "../suggest.js";
import { asciiLower, quoted } from "../text.js";
import { type Ask, type Detail, isPaged, narrowedBy } from "./ask.js";
import { SHOWN, hitRows } from "./hits.js";
import { LARGEST, Page, SIZE, WHOLE } from "./page.js";

/** Names are short, so that more of them make a page. */
const NAMES = 200;
/** Details are long. */
const DETAILS = 5;
/** So many details at once, whatever is asked for. */
const MOST_DETAILS = 20;
/** How many groups are counted before the rest of them is. */
const GROUPS = 15;
/** How to go on where a list is long. */
const HINT = `Find operations with {"search":"what you want to do"}, or narrow with tag, category or endpoint.`;

/** The operations that are asked for. */
export function listOperations(catalog: Catalog, ask: Ask): Answer {
  const { search, detail, after } = ask;
  const fitting = all(catalog, search).filter((operation) => fits(ask, operation));
  const page = new Page(ask, fitting.length, pageSize(ask, fitting.length), detail === "full" ? MOST_DETAILS : LARGEST);
  const shown = fitting.slice(page.start, page.end);
  const data: Fields = {};
  if (narrowedBy(ask).length === 0 && detail === undefined && after === undefined) data["_protocol"] = catalog.data.protocol;
  data["operations"] =
    detail === undefined && search !== undefined
      ? hitRows(catalog, chained(catalog, ask, search, page, shown))
      : shown.map((operation) => row(operation, detail ?? "summary"));
  // A search answers with the best; how many others fit somehow says nothing.
  if (isPaged(ask) || (page.isPart && search === undefined)) data["pageInfo"] = page.info;
  if (page.isPart && search === undefined && detail === undefined && after === undefined) {
    data["groups"] = groups(fitting);
    data["hint"] = HINT;
  }
  return answer(data, fitting.length === 0 ? [nothing(catalog, ask)] : []);
}

function pageSize({ detail, search }: Ask, total: number): number {
  if (detail === "full") return DETAILS;
  if (search !== undefined) return SHOWN;
  if (detail === "names") return NAMES;
  return total <= WHOLE ? WHOLE : SIZE;
}

/** All operations: the best first where there is a question. */
function all(catalog: Catalog, search: string | undefined): readonly Operation[] {
  return search === undefined ? catalog.operations : found(catalog, search, catalog.operations.length);
}

/** Whether an operation is none of those that are left out. */
function fits({ category, endpoint, tag }: Ask, operation: Operation): boolean {
  return (
    (category === undefined || operation.category === category) &&
    (endpoint === undefined || operation.endpoint === endpoint) &&
    (tag === undefined || hasTag(operation, tag))
  );
}

function hasTag(operation: Operation, tag: string): boolean {
  return operation.tags?.some((own) => asciiLower(own) === asciiLower(tag)) === true;
}

/** What search found, with where identifiers come from. Filters leave out hits, and what was said with them. */
function chained(catalog: Catalog, ask: Ask, question: string, page: Page, shown: readonly Operation[]): [Operation, Producers][] {
  if (narrowedBy(ask).length <= 1 && page.start === 0) return foundWithChain(catalog, question, page.end);
  return shown.map((operation) => [operation, producers(catalog, operation)]);
}

/** An operation in a list, in as much detail as is asked for. */
function row(operation: Operation, detail: Detail): unknown {
  switch (detail) {
    case "names":
      return operation.name;
    case "signature":
      return { name: operation.name, signature: operation.listed ?? operation.signature };
    case "summary":
      return summaryOf(operation);
    case "full":
      return fullOf(operation);
  }
}

/** An operation in a few words. */
export function summaryOf({ name, category, endpoint, summary }: Operation): Fields {
  return { name, semantic_category: category, endpoint, description: summary };
}

/** Everything about an operation. */
export function fullOf({ name, category, endpoint, tool, params, details }: Operation): Fields {
  const { description, permissions, ...rest } = details;
  const parameters = params.map(({ view }) => view);
  return { name, semantic_category: category, endpoint, mcpTool: tool, description, permissions, parameters, ...rest };
}

/** `{"by":"tag","counts":{"repos":201},"more":12}`. */
function groups(operations: readonly Operation[]): Fields {
  const counts = new Map<string, number>();
  for (const { group } of operations) counts.set(group, (counts.get(group) ?? 0) + 1);
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const tagged = operations.filter((operation) => operation.tagged === true).length;
  const by = tagged * 2 >= operations.length ? "tag" : "noun";
  const more = sorted.length - GROUPS;
  return { by, counts: Object.fromEntries(sorted.slice(0, GROUPS)), ...(more > 0 ? { more } : {}) };
}

/** Why a list is empty, and what to do about it. */
function nothing(catalog: Catalog, { tag, search }: Ask): Warning {
  let message = "No operation fits all of these parameters. Leave one of them out.";
  if (tag !== undefined && !catalog.operations.some((operation) => hasTag(operation, tag))) {
    const tags = catalog.operations.flatMap((operation) => operation.tags ?? []);
    const near = nearestMany(tag, tags, 40).filter((name, at, all) => name !== all[at - 1]).slice(0, 3);
    const hint = near.length === 0 ? "List operations without it to see the groups." : `Nearest: ${near.join(", ")}.`;
    message = `No operation has the tag${quoted(tag)}. ${hint}`;
  } else if (search !== undefined) {
    message = "No operation fits. Search with other words, or list operations to see what there is.";
  }
  return { code: "NOT_FOUND", message };
}
