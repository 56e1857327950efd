// Answers `introspect` from the catalog: lists, details and types.

import { type Catalog, type Operation, type Shown, nearest, search } from "./catalog.js";
import { quoted } from "./check.js";
import { type Warn, invalid } from "./errors.js";
import type { JsonObject } from "./json.js";

/** Entries of a page: `whole` for a list that fits on one page, `part` for a longer one, the others by `detail`. */
const PAGES = { whole: 50, part: 20, names: 200, full: 5, types: 10, hits: 5, max: 200, maxFull: 20 };
const GROUPS = 15; // groups with a count of their own
const HINT = `Find operations with {"search":"what you want to do"}, or narrow with tag, category or endpoint.`;
type Texts = "query" | "detail" | "search" | "category" | "endpoint" | "tag" | "after";
type Ask = Readonly<Partial<Record<Texts, string>> & { name?: string | string[]; first?: number }>;

/** The given parameters that filter operations. */
const narrowing = (ask: Ask): string[] => ["search", "category", "endpoint", "tag"].filter((name) => name in ask);
const isPaged = (ask: Ask): boolean => ask.first !== undefined || ask.after !== undefined;

export function introspect(catalog: Catalog, args: JsonObject, warn: Warn): JsonObject {
  const trimmed = Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? value.trim() : value]);
  // Some clients fill in every parameter, so blank texts are left out.
  const ask = Object.fromEntries(trimmed.filter(([, value]) => value !== "" && value !== null)) as Ask;
  const [first] = narrowing(ask);
  if (ask.query === "types" && first !== undefined) throw invalid(first, "filters operations, not types.");
  if (ask.name !== undefined) return named(catalog, ask, ask.name, warn);
  return ask.query === "types" ? listTypes(catalog, ask, warn) : listOperations(catalog, ask, warn);
}

function named(catalog: Catalog, ask: Ask, asked: string | string[], warn: Warn): JsonObject {
  const idle = [...narrowing(ask), ...(isPaged(ask) ? ["first or after"] : [])];
  if (idle.length > 0) warn("IGNORED_PARAMS", `'name' selects the entries, so ${idle.join(", ")} had no effect.`);
  const { operations, types } = catalog.data;
  const isTypes = ask.query === "types";
  const [detail, kind] = [ask.detail ?? "detail", isTypes ? "type" : "operation"];
  const known = (isTypes ? types : operations).map(({ name }) => name);
  const found = [asked].flat().map((name) => {
    const one = isTypes ? types.find((type) => type.name === name) : catalog.operations.get(name);
    if (one !== undefined) return form(one, detail === "signature" ? "alone" : detail);
    const near = nearest(name, known);
    const hint = near.length === 0 ? `List all with query '${kind}s'.` : `Nearest: ${near.join(", ")}.`;
    warn("NOT_FOUND", `There is no ${kind}${quoted(name)}. ${hint}`);
    return null;
  });
  return Array.isArray(asked) ? { [`${kind}s`]: found.filter((one) => one !== null) } : { [kind]: found[0] };
}

/** An operation or a type in a form of the catalog; `full` adds what the specification does not have. */
function form({ name, forms, extra }: Shown, how: string): unknown {
  if (how !== "full") return how === "names" ? name : forms[how];
  const parameters = forms["detail"]?.parameters?.map((param, index) => ({ ...param, ...extra.parameters?.[index] }));
  return { ...forms["detail"], ...extra, parameters };
}

function listTypes({ data }: Catalog, ask: Ask, warn: Warn): JsonObject {
  const { shown, isPart, pageInfo } = pageOf(ask, data.types, warn, ask.detail === "full" ? PAGES.types : undefined);
  const types = shown.map((type) => form(type, ask.detail ?? "summary"));
  if (isPaged(ask)) return { _protocol: { version: data.protocol["version"], pageInfo }, types };
  if (isPart) warn("VALIDATION_TRUNCATED_WARNING", "There are more types. Get them with 'first' and 'after'.");
  return { types };
}

function listOperations({ data }: Catalog, ask: Ask, warn: Warn): JsonObject {
  const isSearch = ask.search !== undefined;
  const all = ask.search === undefined ? data.operations : search(data.operations, ask.search);
  const found = all.filter((operation) => fits(ask, operation));
  if (found.length === 0) warn("NOT_FOUND", "No operation fits. Use other words, or leave a parameter out.");
  const isFull = ask.detail === "full";
  const size = isFull ? PAGES.full : isSearch ? PAGES.hits : undefined;
  const page = pageOf(ask, found, warn, size, isFull ? PAGES.maxFull : PAGES.max);
  const operations = page.shown.map((one) => form(one, ask.detail ?? (isSearch ? "hit" : "summary")));
  const isPart = page.isPart && !isSearch;
  const isStart = ask.detail === undefined && ask.after === undefined;
  const isPlain = isStart && narrowing(ask).length === 0;
  const says = isPaged(ask) || isPart;
  const _protocol = {
    ...(isPlain ? data.protocol : { version: data.protocol["version"] }),
    ...(says ? { pageInfo: page.pageInfo } : {}),
    ...(isPart && isStart ? { groups: groups(found), hint: HINT } : {}),
  };
  return isPlain || says ? { _protocol, operations } : { operations };
}

function fits({ category, endpoint, tag }: Ask, { extra: { tags = [] }, ...own }: Operation): boolean {
  const isThere = (category ?? own.category) === own.category && (endpoint ?? own.endpoint) === own.endpoint;
  return isThere && (tag === undefined || tags.some((one) => one.toLowerCase() === tag.toLowerCase()));
}

/** Counts operations by tag, or by noun if most have no tag; the largest groups come first. */
function groups(found: readonly Operation[]): JsonObject {
  const counts = new Map<string, number>();
  for (const { group } of found) counts.set(group, (counts.get(group) ?? 0) + 1);
  const largest = [...counts].sort(([a, m], [b, n]) => n - m || Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const tagged = found.filter((operation) => operation.tagged === true).length;
  const by = tagged * 2 >= found.length ? "tag" : "noun";
  const told = { by, counts: Object.fromEntries(largest.slice(0, GROUPS)) };
  return counts.size > GROUPS ? { ...told, more: counts.size - GROUPS } : told;
}

/** One page of a list. A cursor names its list by a hash (FNV-1a) of the filters. */
function pageOf<T>(ask: Ask, all: readonly T[], warn: Warn, fixed?: number, max: number = PAGES.max) {
  const filters = [ask.query === "types" ? "types" : "", ask.search, ask.category, ask.endpoint, ask.tag];
  const parts = filters.map((part) => `${part ?? ""}\0`).join("");
  const hash = Buffer.from(parts, "utf8").reduce((sum, byte) => Math.imul(sum ^ byte, 0x0100_0193), 0x811c_9dc5);
  const list = (hash >>> 0).toString(16).padStart(8, "0");
  const match = /^([0-9a-f]{1,8})-([0-9a-f]{8})$/.exec(ask.after ?? `0-${list}`);
  const start = match?.[2] === list ? Number.parseInt(match[1] ?? "", 16) : Number.NaN;
  if (!(start <= all.length)) throw invalid("after", "is no cursor of this list. Take 'endCursor' of a page.");
  const usual = all.length <= PAGES.whole ? PAGES.whole : PAGES.part;
  const size = ask.first ?? fixed ?? (ask.detail === "names" ? PAGES.names : usual);
  const end = Math.min(all.length, start + Math.min(Math.max(size, 1), max));
  if ((ask.first ?? 0) > max) warn("VALIDATION_CLAMPED_WARNING", `'first' was reduced to the maximum, ${max}.`);
  const [startCursor, endCursor] = [start + 1, end].map((position) => `${position.toString(16)}-${list}`);
  const cursors = end === start ? {} : { startCursor, endCursor };
  const pageInfo = { hasNextPage: end < all.length, hasPreviousPage: start > 0, ...cursors, totalCount: all.length };
  return { shown: all.slice(start, end), isPart: end - start < all.length, pageInfo };
}
