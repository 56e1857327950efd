// What `introspect` answers: lists, details and types, from data.

import type { Catalog, Operation, TypeInfo } from "./catalog.js";
import { quoted } from "./check.js";
import { OpError, type Warn } from "./errors.js";
import type { JsonObject } from "./json.js";
import { nearest, search } from "./suggest.js";

/** A list up to this length comes whole; how many make a page of a longer one, by what is asked for. */
const PAGES = { whole: 50, part: 20, names: 200, full: 5, fullTypes: 10, hits: 5, largest: 200, largestFull: 20 };
const GROUPS = 15; // groups that are counted before the rest of them is
const HINT = `Find operations with {"search":"what you want to do"}, or narrow with tag, category or endpoint.`;

type Texts = "query" | "detail" | "search" | "category" | "endpoint" | "tag" | "after";
type Ask = Readonly<Partial<Record<Texts, string>> & { name?: string | string[]; first?: number }>;

/** The arguments; a blank text is as good as none. */
function read(args: JsonObject): Ask {
  const trimmed = Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? value.trim() : value]);
  return Object.fromEntries(trimmed.filter(([, value]) => value !== "" && value !== null)) as Ask;
}

/** The parameters that leave operations out. */
const narrowing = (ask: Ask): string[] => ["search", "category", "endpoint", "tag"].filter((name) => name in ask);
const isPaged = (ask: Ask): boolean => ask.first !== undefined || ask.after !== undefined;
const pageSize = (length: number): number => (length <= PAGES.whole ? PAGES.whole : PAGES.part);

/** Answers `introspect` for arguments that are validated. */
export function introspect(catalog: Catalog, args: JsonObject, warn: Warn): JsonObject {
  const ask = read(args);
  const [first] = narrowing(ask);
  if (ask.query === "types" && first !== undefined) {
    const message = `Parameter '${first}' narrows operations, not types. Leave it out, or leave out 'query'.`;
    throw new OpError("VALIDATION_INVALID_VALUE", message, { param_name: first });
  }
  if (ask.name !== undefined) return named(catalog, ask, ask.name, warn);
  return ask.query === "types" ? listTypes(catalog, ask) : listOperations(catalog, ask, warn);
}

function named(catalog: Catalog, ask: Ask, asked: string | string[], warn: Warn): JsonObject {
  const idle = [...narrowing(ask), ...(isPaged(ask) ? ["first or after"] : [])];
  const message = `'name' says what to show, so ${idle.join(", ")} had no effect.`;
  if (idle.length > 0) warn({ code: "IGNORED_PARAMS", message });
  const { operations, types } = catalog.data;
  const isTypes = ask.query === "types";
  const [detail, kind] = [ask.detail ?? "full", isTypes ? "type" : "operation"];
  const known = isTypes ? types.map((type) => type.detail.name) : operations.map(({ name }) => name);
  const found = [asked].flat().map((name) => {
    const type = types.find((one) => one.detail.name === name);
    const operation = catalog.operations.get(name);
    if (isTypes && type !== undefined) return typeForm(type, detail);
    const show = detail === "signature" ? signed : form;
    if (!isTypes && operation !== undefined) return show(operation, detail);
    const near = nearest(name, known);
    const hint = near.length === 0 ? `List all with query '${kind}s'.` : `Nearest: ${near.join(", ")}.`;
    warn({ code: "NOT_FOUND", message: `There is no ${kind}${quoted(name)}. ${hint}` });
    return null;
  });
  return Array.isArray(asked) ? { [`${kind}s`]: found.filter((one) => one !== null) } : { [kind]: found[0] };
}

/** All that a call needs: the signature with its types, and where identifiers come from. */
function signed({ name, endpoint, detail }: Operation): JsonObject {
  const from = detail.parameters.flatMap((param) => (param.from === undefined ? [] : [[param.name, param.from]]));
  const row = { name, endpoint, signature: detail.signature };
  return from.length === 0 ? row : { ...row, from: Object.fromEntries(from) as JsonObject };
}

/** An operation in a list. */
function form({ name, category, endpoint, summary, listed, detail }: Operation, how: string): unknown {
  if (how === "names") return name;
  if (how === "full") return detail;
  if (how === "signature") return { name, signature: listed };
  return { name, semantic_category: category, endpoint, description: summary };
}

function typeForm({ detail, signature }: TypeInfo, how: string): unknown {
  const { name, kind, description } = detail;
  if (how === "names") return name;
  if (how === "full") return detail;
  if (how === "signature" && signature !== undefined) return { name, signature };
  return description === undefined ? { name, kind } : { name, kind, description };
}

function listTypes({ data }: Catalog, ask: Ask): JsonObject {
  const detail = ask.detail ?? "summary";
  const size = { names: PAGES.largest, full: PAGES.fullTypes }[detail] ?? pageSize(data.types.length);
  const { shown, isPart, pageInfo } = pageOf(ask, data.types, size);
  const types = shown.map((type) => typeForm(type, detail));
  return isPaged(ask) || isPart ? { types, pageInfo } : { types };
}

function listOperations({ data }: Catalog, ask: Ask, warn: Warn): JsonObject {
  const all = ask.search === undefined ? data.operations : search(data.operations, ask.search);
  const found = all.filter((operation) => fits(ask, operation));
  const usual = ask.search === undefined ? pageSize(found.length) : PAGES.hits;
  const named = ask.search === undefined && ask.detail === "names" ? PAGES.names : usual;
  const size = ask.detail === "full" ? PAGES.full : named;
  const page = pageOf(ask, found, size, ask.detail === "full" ? PAGES.largestFull : PAGES.largest);
  const hit = ({ name, tool, endpoint, brief, summary }: Operation): JsonObject => {
    return { name, ...(data.mode === "discrete" ? { tool } : { endpoint }), signature: brief, summary };
  };
  const isHit = ask.search !== undefined && ask.detail === undefined;
  const rows = page.shown.map((one) => (isHit ? hit(one) : form(one, ask.detail ?? "summary")));
  const isPlain = narrowing(ask).length === 0 && ask.detail === undefined && ask.after === undefined;
  const isPart = page.isPart && ask.search === undefined;
  const message = "No operation fits all of these parameters. Use other words, or leave one of them out.";
  if (found.length === 0) warn({ code: "NOT_FOUND", message });
  return {
    ...(isPlain ? { _protocol: data.protocol } : {}),
    operations: rows,
    ...(isPaged(ask) || isPart ? { pageInfo: page.pageInfo } : {}),
    ...(isPart && ask.detail === undefined && ask.after === undefined ? { groups: groups(found), hint: HINT } : {}),
  };
}

function fits({ category, endpoint, tag }: Ask, operation: Operation): boolean {
  const tags = (operation.detail.tags ?? []).map((one) => one.toLowerCase());
  const isOne = (asked: string | undefined, own: string): boolean => asked === undefined || asked === own;
  const isThere = isOne(category, operation.category) && isOne(endpoint, operation.endpoint);
  return isThere && (tag === undefined || tags.includes(tag.toLowerCase()));
}

/** Operations counted by tag, or by noun where most have no tag; the largest groups first. */
function groups(found: readonly Operation[]): JsonObject {
  const counts = new Map<string, number>();
  for (const { group } of found) counts.set(group, (counts.get(group) ?? 0) + 1);
  const largest = [...counts].sort(([a, m], [b, n]) => n - m || Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const tagged = found.filter((operation) => operation.tagged === true).length;
  const by = tagged * 2 >= found.length ? "tag" : "noun";
  const told = { by, counts: Object.fromEntries(largest.slice(0, GROUPS)) };
  return counts.size > GROUPS ? { ...told, more: counts.size - GROUPS } : told;
}

/** One page of a list. A cursor says which list it belongs to: that is a number (FNV-1a) of what narrows it. */
function pageOf<T>(ask: Ask, all: readonly T[], size: number, most: number = PAGES.largest) {
  const { query, search: question, category, endpoint, tag } = ask;
  const narrowed = [query === "types" ? query : "", question, category, endpoint, tag];
  const parts = narrowed.map((part) => `${part ?? ""}\0`).join("");
  const hash = Buffer.from(parts, "utf8").reduce((sum, byte) => Math.imul(sum ^ byte, 0x0100_0193), 0x811c_9dc5);
  const list = (hash >>> 0).toString(16).padStart(8, "0");
  const match = /^([0-9a-f]{1,8})-([0-9a-f]{8})$/.exec(ask.after ?? `0-${list}`);
  const start = match?.[2] === list ? Number.parseInt(match[1] ?? "", 16) : Number.NaN;
  if (!(start <= all.length)) {
    const message = "Parameter 'after' is no cursor of this list. Take 'endCursor' of the page before.";
    throw new OpError("VALIDATION_INVALID_VALUE", message, { param_name: "after" });
  }
  const end = Math.min(all.length, start + Math.min(Math.max(ask.first ?? size, 1), most));
  const endCursor = end === start ? null : `${end.toString(16)}-${list}`;
  const pageInfo = { hasNextPage: end < all.length, endCursor, total: all.length };
  return { shown: all.slice(start, end), isPart: end - start < all.length, pageInfo };
}
