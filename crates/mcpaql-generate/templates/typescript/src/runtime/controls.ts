// Query controls of operations that read: `fields`, `filter`, `sort` and pages, and the token budget of answers.
//
// The order is fixed: find the list in the answer, filter, sort, page, fields. Then the budget reduces a long answer.
// What always holds: no data is added to the items; a control without effect is a warning, and one that this server
// does not have is an error; data and codes are those of `mcpaql serve`, which shared test vectors check.

import { createHash } from "node:crypto";
import { type Operation, nearest, snakeCase } from "./catalog.js";
import { canonical, meant, quoted } from "./check.js";
import { OpError, type Warn, blocks, invalid } from "./errors.js";
import { type JsonObject, RawJson, isObject, parse, stringify, tryParse } from "./json.js";

/** What the catalog says about the list of an operation: its path, and whether an answer is one page of it. */
export type ListRules = Readonly<{ items?: string; more?: boolean }>;
type Path = readonly string[];
type Fields = Readonly<{ preset?: string | undefined; paths: readonly Path[] }>;
/** Tests the values of a field. */
type Test = (values: readonly unknown[]) => boolean;
type Condition = Readonly<{ path: Path; test: Test }>;
type SortKey = Readonly<{ path: Path; descending: boolean }>;
/** `from` is the number of items before the page, or the page's number; `cursor` is `after` or `before`. */
type PageRequest = Readonly<{ style: PageStyle; size: number; from: number; cursor?: string }>;
type PageStyle = "first" | "last" | "offset" | "page";
type Page = Readonly<{ request: PageRequest; start: number; end: number; total: number; isTotalKnown: boolean }>;
export type Controls = Readonly<{ filter?: readonly Condition[]; sort: readonly SortKey[]; budget?: number }> &
  Readonly<{ fields?: Fields; page?: PageRequest; scope: Readonly<Record<string, unknown>> }>;
/** A call whose answer is shaped. */
export type Question = Readonly<{ operation: Operation; args: JsonObject; controls?: Controls | undefined }>;
type Place = Readonly<{ path: Path; isList: boolean }>;

const OTHERS = ["fields", "preset", "filter", "sort", "answer_budget"];
const STYLES = [["first", "after", "last", "before"], ["limit", "offset"], ["page", "page_size"]];
const CONTROLS = [...OTHERS, ...STYLES.flat()];
/** Controls of `mcpaql serve` that this server does not have. */
const MISSING = ["aggregate", "include_items", "part"];
const OPERATORS = "gt gte lt lte contains starts_with in not exists".split(" ");
const PRESETS = ["minimal", "standard", "full"];
const MAX = { pathParts: 32, fields: 200, conditions: 100, depth: 8, sortKeys: 16, pageItems: 1000, hints: 5 };
const [PAGE_ITEMS, SAMPLE, MIN_BUDGET, BUDGET, OVERHEAD, PAGE_TOKENS] = [25, 20, 100, 8000, 200, 60];

const wrongType = (param: string, message: string): OpError => invalid(param, message, "VALIDATION_INVALID_TYPE");
const own = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Runs a step of a query. Data or controls that are nested too deeply for it are an error. */
function bounded<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = "The answer or a control is nested too deeply. Call without controls, or raise 'answer_budget'.";
    throw new OpError("VALIDATION_PAYLOAD_TOO_LARGE", message, { limit_type: "nesting_depth" });
  }
}

// ---- The controls of a call

/** The control that a name means: `_filter`, `pageSize`. */
function controlOf(name: string): string | undefined {
  const plain = name.replace(/^_/, "");
  const isCamel = plain.length <= 16 && /[A-Z]/.test(plain);
  return [...CONTROLS, ...MISSING].find((one) => one === plain || (isCamel && one === snakeCase(plain)));
}

const TOKENS = ["_confirmation", "confirmationToken", "confirmation_token"];

/** Separates the token of a confirmation and the controls of a call from its parameters, which have precedence. */
export function takeControls(operation: Operation, given: JsonObject, beside: JsonObject, warn: Warn) {
  const tokens = TOKENS.filter((name) => meant(operation, name) === undefined);
  const wrong = tokens.find((name) => typeof (given[name] ?? "") !== "string");
  if (wrong !== undefined) throw wrongType(wrong, "must be the text of a confirmation token.");
  const token = tokens.map((name) => given[name]).find((one) => typeof one === "string") ?? null;
  const params = Object.fromEntries(Object.entries(given).filter(([name]) => !tokens.includes(name)));
  return { ...takeQuery(operation, params, beside, warn), token };
}

function takeQuery(operation: Operation, params: JsonObject, beside: JsonObject, warn: Warn) {
  if (operation.controls === undefined) return { params };
  const foreign = new Set(Object.keys(params).filter((name) => meant(operation, name) === undefined));
  const isUnknown = (name: string): boolean => /^_(?!meta$)/.test(name) && !Object.hasOwn(beside, name);
  const given = new Map<string, unknown>();
  let isAsked = false;
  for (const name of foreign) {
    const control = controlOf(name);
    if (control === undefined) {
      if (isUnknown(name)) throw unknownControl(name, `Unknown query control${quoted(name)}.`);
      foreign.delete(name);
      continue;
    }
    isAsked = true;
    // The exact name wins over another spelling.
    const isExact = name.replace(/^_+/, "") === control;
    if (params[name] !== null && (isExact || !given.has(control))) given.set(control, params[name]);
  }
  if (!isAsked) return { params };
  const rest = Object.fromEntries(Object.entries(params).filter(([name]) => !foreign.has(name)));
  return { params: rest, controls: bounded(() => readControls(given, warn)) };
}

function unknownControl(name: string, message: string): OpError {
  const details = { param_name: name.slice(0, 64), query_controls: CONTROLS };
  return new OpError("VALIDATION_UNKNOWN_PARAM", `${message} There are: ${CONTROLS.join(", ")}.`, details);
}

function readControls(given: ReadonlyMap<string, unknown>, warn: Warn): Controls {
  const missing = MISSING.find((name) => given.has(name));
  if (missing !== undefined) throw unknownControl(missing, `This server does not have the query control '${missing}'.`);
  // Some models send objects and lists as text. Their meaning is clear.
  const read = (name: string): unknown => {
    const value = given.get(name);
    return typeof value === "string" && /^\s*[[{]/.test(value) ? (tryParse(value) ?? value) : value;
  };
  const [filter, order] = [read("filter"), read("sort")];
  const fields = readFields(read("fields"), given.get("preset"));
  const conditions = filter === undefined ? undefined : readFilter(filter);
  const sort = order === undefined ? [] : readSort(order);
  const page = readPage(given, warn);
  const asked = given.get("answer_budget");
  const budget = typeof asked === "string" && /^\s*\+?\d{1,20}\s*$/.test(asked) ? Number(asked) : asked;
  const isBudget = (typeof budget === "bigint" || Number.isInteger(budget)) && Number(budget) >= MIN_BUDGET;
  if (budget !== undefined && !isBudget) throw invalid("answer_budget", `must be ${MIN_BUDGET} tokens or more.`);
  const scope = { filter: canonical(filter ?? null), sort: canonical(order ?? null) };
  const found = { fields, filter: conditions, page, budget: budget === undefined ? undefined : Number(budget) };
  const set = Object.entries(found).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(set) as Omit<Controls, "sort" | "scope">), sort, scope };
}

/** The names of a dotted path; `undefined` if one is empty or there are too many. */
function pathOf(text: unknown): Path | undefined {
  const parts = typeof text === "string" ? text.trim().split(".", MAX.pathParts + 1) : [];
  return parts.length > 0 && parts.length <= MAX.pathParts && parts.every((part) => part !== "") ? parts : undefined;
}

function readFields(fields: unknown, preset: unknown): Fields | undefined {
  if (preset !== undefined && typeof preset !== "string") throw wrongType("preset", "must be a text.");
  if (preset !== undefined && !PRESETS.includes(preset)) throw invalid("preset", `is none of ${PRESETS.join(", ")}.`);
  if (fields === undefined) return preset === undefined ? undefined : { preset, paths: [] };
  if (typeof fields === "string" && PRESETS.includes(fields.trim())) return { preset: fields.trim(), paths: [] };
  const names: unknown = typeof fields === "string" ? fields.split(",") : fields;
  const isList = Array.isArray(names) && names.every((name) => typeof name === "string");
  if (!isList) throw wrongType("fields", "must be minimal, standard, full, or a list of field names.");
  const isSized = names.length > 0 && names.length <= MAX.fields;
  if (!isSized) throw invalid("fields", `must have from 1 to ${MAX.fields} names.`);
  const paths = names.map((name) => pathOf(name) ?? []);
  if (paths.some((path) => path.length === 0)) throw invalid("fields", "has an empty name. Write 'user.login'.");
  return { preset, paths };
}

// ---- Filter and order

function readFilter(filter: unknown): Condition[] {
  if (!isObject(filter)) throw wrongType("filter", `must be an object of fields, such as {"state": "open"}.`);
  const conditions: Condition[] = [];
  readConditions(filter, [], 0, conditions);
  return conditions;
}

function readConditions(fields: JsonObject, outer: Path, depth: number, found: Condition[]): void {
  if (depth > MAX.depth) throw invalid("filter", "is nested too deeply. Write paths such as 'user.login'.");
  for (const [name, condition] of Object.entries(fields)) {
    const inner = pathOf(name);
    if (inner === undefined) throw invalid("filter", "has an empty field name.");
    const path = [...outer, ...inner];
    const keys = isObject(condition) ? Object.keys(condition) : [];
    const isInside = keys.length > 0 && !keys.some((key) => OPERATORS.includes(key));
    if (isInside) readConditions(condition as JsonObject, path, depth + 1, found);
    else found.push(...readTests(condition, depth).map((test) => ({ path, test })));
    if (found.length > MAX.conditions) throw invalid("filter", `has more than ${MAX.conditions} conditions.`);
  }
}

function readTests(condition: unknown, depth: number): Test[] {
  if (!isObject(condition)) return [some(isAnyOf(Array.isArray(condition) ? condition : [condition]))];
  return Object.entries(condition).map(([operator, operand]) => readOperator(operator, operand, depth));
}

/** A test that one of the values passes; for a list, one of its items. */
const some = (test: (value: unknown) => boolean): Test => (values) =>
  values.some((value) =>
    test(value) || (Array.isArray(value) && value.some((item) => !Array.isArray(item) && test(item))));

function isAnyOf(expected: readonly unknown[]): (value: unknown) => boolean {
  const known = new Set(expected.map(canonical));
  const isPlain = expected.every((one) => typeof one !== "object" || one === null);
  return (value) => !(isPlain && typeof value === "object" && value !== null) && known.has(canonical(value));
}

function readOperator(operator: string, operand: unknown, depth: number): Test {
  const check = (isFine: boolean, expected: string): void => {
    if (!isFine) throw invalid("filter", `has the operator '${operator}', which needs ${expected}.`);
  };
  const ordered = (holds: (order: number) => boolean): Test => {
    const rank = rankOf(operand);
    check(rank >= 1 && rank <= 3, "a number, a text or a date");
    return some((value) => rankOf(value) === rank && holds(compare(value, operand)));
  };
  const text = typeof operand === "string" ? operand.toLowerCase() : undefined;
  const isText = (holds: (value: string, part: string) => boolean): Test =>
    some((value) => typeof value === "string" && holds(value.toLowerCase(), text ?? ""));
  switch (operator) {
    case "gt": return ordered((order) => order > 0);
    case "gte": return ordered((order) => order >= 0);
    case "lt": return ordered((order) => order < 0);
    case "lte": return ordered((order) => order <= 0);
    case "contains": {
      check(rankOf(operand) < 4, "one value");
      const isEqual = isAnyOf([operand]);
      return text === undefined
        ? (values) => values.some((value) => Array.isArray(value) && value.some(isEqual))
        : isText((value, part) => value.includes(part));
    }
    case "starts_with":
      check(text !== undefined, "a text");
      return isText((value, part) => value.startsWith(part));
    case "in":
      check(Array.isArray(operand), "a list of values");
      return some(isAnyOf(operand as unknown[]));
    case "exists":
      check(typeof operand === "boolean", "true or false");
      return (values) => values.length > 0 === operand;
    case "not": {
      if (depth >= MAX.depth) throw invalid("filter", "is nested too deeply. Use fewer 'not'.");
      const tests = readTests(operand, depth + 1);
      const isAbsentAllowed = own(operand, "exists") !== undefined;
      return (values) => (values.length > 0 || isAbsentAllowed) && !tests.every((test) => test(values));
    }
    default: {
      const near = nearest(operator, OPERATORS, 1).map((one) => ` Did you mean '${one}'?`).join("");
      const known = OPERATORS.join(", ");
      throw invalid("filter", `has the unknown operator${quoted(operator)}. There are: ${known}.${near}`);
    }
  }
}

const RANKS: Readonly<Record<string, number>> = { boolean: 1, number: 2, bigint: 2, string: 3 };
const rankOf = (value: unknown): number => (value === null ? 0 : Array.isArray(value) ? 4 : (RANKS[typeof value] ?? 5));

/** The order of JSON values: null, false, true, numbers by their exact value, texts by code points, lists, objects. */
function compare(a: unknown, b: unknown): number {
  const rank = rankOf(a);
  if (rank !== rankOf(b)) return rank - rankOf(b);
  const [x, y] = (rank > 3 ? [stringify(a), stringify(b)] : [a, b]) as [number, number];
  const isWide = rank > 2 && /[\ud800-\udfff]/.test(`${x}${y}`);
  if (isWide) return Buffer.compare(Buffer.from(String(x)), Buffer.from(String(y)));
  return x < y ? -1 : x > y ? 1 : 0;
}

function readSort(sort: unknown): SortKey[] {
  const keys: readonly unknown[] = Array.isArray(sort) ? sort : [sort];
  if (keys.length > MAX.sortKeys) throw invalid("sort", `has more than ${MAX.sortKeys} fields.`);
  const form = `must be {"field": NAME, "order": "asc" or "desc"}, or a list of them.`;
  return keys.map((key) => {
    if (!isObject(key)) throw wrongType("sort", form);
    const { field, order, ...others } = key;
    const path = pathOf(field);
    const word = typeof order === "string" ? order.toLowerCase() : (order ?? "asc") === "asc" ? "asc" : "";
    const isKnown = ["asc", "ascending", "desc", "descending"].includes(word);
    if (path === undefined || !isKnown || Object.keys(others).length > 0) throw invalid("sort", form);
    return { path, descending: word.startsWith("desc") };
  });
}

/** Sorts items; stable. Items without the field come last in both directions. */
function sorted(items: readonly unknown[], keys: readonly SortKey[]): unknown[] {
  const keyed = items.map((item) => ({ item, values: keys.map(({ path }) => valuesOf(item, path)[0] ?? null) }));
  keyed.sort((a, b) => {
    for (const [index, { descending }] of keys.entries()) {
      const [x, y] = [a.values[index] ?? null, b.values[index] ?? null];
      const order = x === null || y === null ? Number(x === null) - Number(y === null) : compare(x, y);
      if (order !== 0) return x !== null && y !== null && descending ? -order : order;
    }
    return 0;
  });
  return keyed.map(({ item }) => item);
}

/** All values that a path leads to. A list on the way is searched item by item; a name may contain dots itself. */
function valuesOf(value: unknown, path: Path, from = 0, found: unknown[] = []): unknown[] {
  const name = path[from];
  if (name === undefined) found.push(value);
  else if (Array.isArray(value)) for (const item of value) valuesOf(item, path, from, found);
  else if (isObject(value)) {
    const before = found.length;
    if (Object.hasOwn(value, name)) valuesOf(value[name], path, from + 1, found);
    const dotted = found.length === before && from + 1 < path.length ? path.slice(from).join(".") : name;
    if (dotted !== name && Object.hasOwn(value, dotted)) found.push(value[dotted]);
  }
  return found;
}

// ---- Pages

function readPage(given: ReadonlyMap<string, unknown>, warn: Warn): PageRequest | undefined {
  const used = STYLES.map((names) => names.filter((name) => given.has(name))).filter((names) => names.length > 0);
  const [names = []] = used;
  const has = (name: string): boolean => names.includes(name);
  const isMixed = (has("first") && has("last")) || (has("after") && !has("first")) || (has("before") && !has("last"));
  if (used.length > 1 || isMixed) {
    const styles = "first and after, last and before, limit and offset, or page and page_size";
    throw wrongType("pagination", `has conflicting controls: ${used.flat().join(", ")}. Use ${styles}.`);
  }
  const number = (name: string, least: number, usual: number): number => {
    const value = given.get(name);
    if (value === undefined) return usual;
    const text = typeof value === "string" ? value.trim() : value;
    const digits = typeof text === "string" && !/^\+?\d{1,20}$/.test(text) ? Number.NaN : Number(text);
    const isCount = !["string", "number", "bigint"].includes(typeof text) || !(digits >= 0 && digits < 2 ** 64);
    if (isCount || !Number.isInteger(digits)) throw wrongType(name, `must be an integer from ${least}.`);
    if (digits < least) throw invalid(name, `must be ${least} or more.`);
    return Math.min(digits, Number.MAX_SAFE_INTEGER);
  };
  const size = (name: string, least = 1): number => {
    const requested = number(name, least, PAGE_ITEMS);
    const details = { param_name: name, requested, maximum: MAX.pageItems };
    const message = `A page has up to ${MAX.pageItems} items here, so '${name}' was reduced.`;
    if (requested > MAX.pageItems) warn("VALIDATION_CLAMPED_WARNING", message, details);
    return Math.min(requested, MAX.pageItems);
  };
  const cursor = (name: string): { cursor?: string } => {
    const value = given.get(name);
    if (value !== undefined && typeof value !== "string") throw wrongType(name, "must be a cursor of an earlier page.");
    return value === undefined ? {} : { cursor: value };
  };
  if (has("last")) return { style: "last", size: size("last"), from: 0, ...cursor("before") };
  if (has("first")) return { style: "first", size: size("first"), from: 0, ...cursor("after") };
  if (has("limit") || has("offset")) return { style: "offset", size: size("limit", 0), from: number("offset", 0, 0) };
  return names.length === 0 ? undefined : { style: "page", size: size("page_size"), from: number("page", 1, 1) };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Makes the cursors of one list: a position, and a hash of it and everything that defines the list. */
function signer({ operation, args, controls }: Question): (position: number) => string {
  const { filter, sort } = controls?.scope ?? {};
  const list = sha256(stringify([operation.name, canonical({ ...args }), filter ?? "null", sort ?? "null"]));
  return (position) => `${position.toString(16)}-${sha256(`${list} ${position}`).slice(0, 12)}`;
}

function pageIn(total: number, request: PageRequest, sign: (position: number) => string) {
  const { style, size, from, cursor } = request;
  let at = style === "page" ? (from - 1) * size : style === "last" ? total : from;
  if (cursor !== undefined) {
    const position = Number.parseInt(/^[0-9a-f]{1,12}(?=-)/.exec(cursor)?.[0] ?? "", 16);
    const name = style === "last" ? "before" : "after";
    const isOwn = !Number.isNaN(position) && sign(position) === cursor;
    const problem = "must be a cursor of this list with the same parameters. Leave it out to start again.";
    if (!isOwn) throw invalid(name, problem);
    at = style === "last" ? position : position + 1;
  }
  at = Math.min(at, total);
  return style === "last" ? { start: Math.max(0, at - size), end: at } : { start: at, end: Math.min(at + size, total) };
}

function describe({ request, start, end, total, isTotalKnown }: Page, sign: (at: number) => string) {
  const { style, size, from } = request;
  const isPart = end < total;
  if (style === "first" || style === "last") {
    const cursors = start < end ? { startCursor: sign(start), endCursor: sign(end - 1) } : {};
    const count = isTotalKnown ? { totalCount: total } : {};
    return { pageInfo: { hasNextPage: isPart, hasPreviousPage: start > 0, ...cursors, ...count } };
  }
  const isOffset = style === "offset";
  const about = isOffset ? { limit: size, offset: start, returned: end - start } : { page: from, page_size: size };
  const pages = isOffset ? {} : { total_pages: Math.ceil(total / Math.max(size, 1)) };
  return { pagination: { ...about, ...(isTotalKnown ? { total_items: total, ...pages } : {}), has_more: isPart } };
}

// ---- The list in an answer

const words = (text: string): Set<string> => new Set(text.split(" "));
const LIST_NAMES = [...words(
  "items data results result records entries values value nodes rows hits objects members list elements content " +
  "contents response collection documents",
)];
const ENVELOPES = words("data result results response payload body content _embedded output");
const IDENTIFIERS = ["id", "_id", "uuid", "guid"];
const LIST_WORDS = words(
  "count total page pages pagination paging size limit offset next previous prev first last cursor more incomplete " +
  "has link links meta metadata info kind etag href self url object success status ok error errors warnings took " +
  "time timestamp per start end token query truncated facets version type number returned message code request sort " +
  "order max min",
);
const MAX_ENVELOPES = 3;

const describesList = (name: string): boolean =>
  snakeCase(name.replace(/^[_@$]+/, "")).split("_").some((word) => LIST_WORDS.has(word));

/** Finds the list of an answer, or the one item: directly, in a declared place, or in an envelope. */
function findItems(data: unknown, declared?: string): Place {
  const parts = declared?.split(".").filter((part) => part !== "");
  if (parts !== undefined && Array.isArray(parts.reduce(own, data))) return { path: parts, isList: true };
  const path: string[] = [];
  let value = data;
  while (isObject(value)) {
    const members = Object.entries(value);
    if (IDENTIFIERS.some((name) => own(value, name) !== undefined)) break;
    const name = listMember(members) ?? (path.length < MAX_ENVELOPES ? envelopeMember(members) : undefined);
    if (name === undefined) break;
    path.push(name);
    value = value[name];
  }
  return { path, isList: Array.isArray(value) };
}

type Members = readonly (readonly [name: string, member: unknown])[];
const restDescribes = (members: Members, name: string): boolean =>
  members.every(([other]) => other === name || describesList(other));

function listMember(members: Members): string | undefined {
  const lists = members.filter(([, member]) => Array.isArray(member));
  for (const known of LIST_NAMES) {
    const named = lists.find(([name]) => name.toLowerCase() === known);
    if (named !== undefined) return named[0];
  }
  const [only, another] = lists.filter(([name]) => !describesList(name));
  if (only === undefined || another !== undefined) return undefined;
  const [first = {}] = only[1] as unknown[];
  return isObject(first) && restDescribes(members, only[0]) ? only[0] : undefined;
}

function envelopeMember(members: Members): string | undefined {
  const [name] = members.find(([one, member]) => isObject(member) && ENVELOPES.has(one)) ?? [];
  return name !== undefined && restDescribes(members, name) ? name : undefined;
}

/** Whether the list has more items than these, as far as the answer says so. */
function hasMore(value: unknown, count: number, depth = 0, evidence: boolean[] = []): boolean | undefined {
  for (const [key, member] of isObject(value) ? Object.entries(value) : []) {
    if (isObject(member) && depth < 2) hasMore(member, count, depth + 1, evidence);
    if (typeof member === "object" && member !== null) continue;
    const named = new Set(snakeCase(key.replace(/^[_@]+/, "")).split("_"));
    const isNext = named.has("next");
    const isMore = isNext || named.has("more") || named.has("incomplete") || named.has("truncated");
    const isTotal = named.has("total") && !named.has("page") && !named.has("pages");
    if (typeof member === "boolean" && isMore) evidence.push(member);
    else if (member === null && isNext) evidence.push(false);
    else if (typeof member === "string" && isNext) evidence.push(member !== "");
    // A total below the number of items is wrong, or it counts something else.
    else if (isTotal && (Number.isInteger(member) || typeof member === "bigint") && Number(member) >= count) {
      evidence.push(Number(member) > count);
    }
  }
  return evidence.length === 0 ? undefined : evidence.includes(true);
}

/** The value with another one at a path. */
function replaced(value: unknown, path: Path, by: unknown, from = 0): unknown {
  const name = path[from];
  if (name === undefined || !isObject(value)) return by;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, one]) => [key, key === name ? replaced(one, path, by, from + 1) : one]));
}

/** An answer that is a page: its items, its description, and what is beside the list. */
function paged(value: unknown, path: Path, items: readonly unknown[], description: JsonObject): JsonObject {
  const found = new Map<string, unknown>(Object.entries({ items, ...description }));
  // A complete list has no other pages than this one's.
  const totals = Object.values(description).flatMap((info) => [own(info, "totalCount"), own(info, "total_items")]);
  const isComplete = totals.some((total) => total !== undefined);
  const saysMore = (info: unknown): boolean => ["hasNextPage", "has_more"].some((name) => own(info, name) !== undefined);
  const isOther = (key: string, one: unknown): boolean =>
    found.has(key) || (isComplete && DESCRIPTIONS.includes(key) && saysMore(one));
  let level = value;
  for (const name of path) {
    const rest = Object.entries(level as JsonObject).filter(([key, one]) => key !== name && !isOther(key, one));
    for (const [key, one] of rest) found.set(key, one);
    level = own(level, name);
  }
  return Object.fromEntries(found);
}

// ---- Fields

/** Selected paths as a tree. `isWhole` selects the value with everything in it. */
interface FieldTree { isWhole: boolean; readonly members: Map<string, FieldTree> }

function treeOf(paths: readonly Path[]): FieldTree {
  const root: FieldTree = { isWhole: false, members: new Map() };
  const member = ({ members }: FieldTree, name: string): FieldTree => {
    const found = members.get(name) ?? { isWhole: false, members: new Map() };
    members.set(name, found);
    return found;
  };
  for (const path of paths) {
    let node = root;
    for (const [index, name] of path.entries()) {
      // A name may contain dots itself.
      if (index + 1 < path.length) member(node, path.slice(index).join(".")).isWhole = true;
      node = member(node, name);
    }
    node.isWhole = true;
  }
  return root;
}

/** The selected part of a value; `undefined` if there is none. */
function partOf(value: unknown, { isWhole, members }: FieldTree): unknown {
  if (isWhole) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => partOf(item, { isWhole, members })).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return undefined;
  const found = Object.entries(value).flatMap(([name, one]) => {
    const node = members.get(name);
    const part = node === undefined ? undefined : partOf(one, node);
    return part === undefined ? [] : [[name, part] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function selected(item: unknown, tree: FieldTree): unknown {
  if (typeof item !== "object" || item === null) return item;
  return partOf(item, tree) ?? (Array.isArray(item) ? [] : {});
}

/** Adds the members of an object that are missing in another. */
function union(into: unknown, from: unknown): unknown {
  if (!isObject(into) || !isObject(from)) return into;
  const found = new Map(Object.entries(into));
  for (const [name, member] of Object.entries(from)) {
    found.set(name, found.has(name) ? union(found.get(name), member) : member);
  }
  return Object.fromEntries(found);
}

function selectItems(items: readonly unknown[], fields: Fields, place: Place, warnings: Note[]): unknown[] {
  const { preset, paths } = fields;
  const local = paths.map((path) => localPath(path, place, items));
  warnUnknown("fields", local, items, warnings);
  if (preset === "full") return [...items];
  const tree = treeOf(preset === "minimal" ? [...local, ...minimalPaths(items.slice(0, SAMPLE))] : local);
  if (preset !== "standard") return items.map((item) => selected(item, tree));
  const extra = (item: unknown): unknown => (local.length === 0 ? {} : selected(item, tree));
  return items.map((item) => (isObject(item) ? union(withoutNoise(item), extra(item)) : item));
}

const NAMES = {
  identifier: "id _id uuid guid number iid key slug sha isbn sku".split(" "),
  identifierEnd: "id uuid key number code".split(" "),
  name: "name title full_name display_name subject label login username filename path".split(" "),
  nameEnd: ["name", "title", "subject"], state: ["state", "status", "phase", "stage"],
  date: "at date time timestamp created updated modified on due deadline".split(" "),
  mainDate: "updated created modified due start published date".split(" "),
};

/** The fields that identify an item: identifiers, names, states and dates, by the names of the fields. */
function minimalPaths(items: readonly unknown[]): Path[] {
  const isScalar = (value: unknown): boolean => value !== null && typeof value !== "object";
  const names = new Map<string, boolean>();
  for (const [name, value] of items.flatMap((item) => (isObject(item) ? Object.entries(item) : []))) {
    names.set(name, names.get(name) === true || isScalar(value));
  }
  const fields = [...names].filter(([, isPlain]) => isPlain).map(([name]) => ({ name, snake: snakeCase(name) }));
  const chosen = new Set<string>();
  const choose = (ranked: readonly string[], most: number): boolean => {
    const before = chosen.size;
    for (const name of ranked) if (chosen.size < before + most) chosen.add(name);
    return chosen.size > before;
  };
  const exact = (known: readonly string[]): string[] =>
    known.flatMap((word) => fields.find(({ name, snake }) => name === word || snake === word)?.name ?? []);
  const ending = (known: readonly string[]): string[] =>
    fields.filter(({ snake }) => known.includes(snake.replace(/.*_/, ""))).map(({ name }) => name);
  if (!choose(exact(NAMES.identifier), 2)) choose(ending(NAMES.identifierEnd), 1);
  if (!choose(exact(NAMES.name), 2)) choose(ending(NAMES.nameEnd), 1);
  choose(ending(NAMES.state), 2);
  const importance = (name: string): number => {
    const rank = NAMES.mainDate.indexOf(snakeCase(name).replace(/_.*/, ""));
    return rank < 0 ? NAMES.mainDate.length : rank;
  };
  choose(ending(NAMES.date).sort((a, b) => importance(a) - importance(b)), 2);
  if (chosen.size === 0) choose(fields.map(({ name }) => name), 4);
  return [...chosen].flatMap((name) => [pathOf(name) ?? []]).filter((path) => path.length > 0);
}

const PAGE_WORDS = words("html web permalink homepage website download browser public share view page");
const LINK_WORDS = words("url uri href link links urls self");

/** Whether a member links to the API itself. */
function isLink(name: string, value: unknown): boolean {
  const named = snakeCase(name.replace(/^[_@]+/, "")).split("_");
  return LINK_WORDS.has(named.at(-1) ?? "") && !named.some((word) => PAGE_WORDS.has(word)) && isAddress(value);
}

function isAddress(value: unknown): boolean {
  if (typeof value === "string") return /^(?:https?:\/\/|\/)/.test(value);
  if (Array.isArray(value)) return value.length > 0 && value.every(isAddress);
  const members = isObject(value) ? Object.values(value) : [];
  return members.length > 0 && members.every((member) => member === null || isAddress(member));
}

/** A value without links, nulls and empty containers. A container stays one, even if it is empty. */
function withoutNoise(value: unknown): unknown {
  // A null in a list has a position, so it stays.
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  const links = new Set(members.filter(([name, member]) => isLink(name, member)).map(([name]) => name));
  const isNoise = (name: string): boolean =>
    links.has(name) && (links.size > 1 || name.startsWith("_") || !["url", "link", "uri", "href"].includes(name));
  const kept = members.flatMap(([name, member]) => {
    const part = isNoise(name) ? null : withoutNoise(member);
    const isEmpty = part === null || (typeof part === "object" && Object.keys(part).length === 0);
    return isEmpty ? [] : [[name, part] as const];
  });
  return Object.fromEntries(kept);
}

/** A path inside the items: `items.id` is `id` of each item, unless the items have `items` themselves. */
function localPath(path: Path, place: Place, items: readonly unknown[]): Path {
  const isInside = path.length > place.path.length && place.path.every((name, index) => path[index] === name);
  const isField = (): boolean => items.slice(0, SAMPLE).some((item) => valuesOf(item, path).length > 0);
  return !isInside || isField() ? path : path.slice(place.path.length);
}

// ---- Warnings

type Note = Readonly<{ code: string; message: string; details?: JsonObject | undefined }>;
const note = (code: string, message: string, details?: JsonObject): Note => ({ code, message, details });

function partialList(items: number): Note {
  const covers = "The query covers only this page. Get the others with the page parameters of the operation.";
  const message = `The API returned one page with ${items} item(s), and there may be more. ${covers}`;
  return note("PARTIAL_LIST", message, { items });
}

/** Warns about fields that no item has, with the nearest ones. */
function warnUnknown(control: string, paths: readonly Path[], items: readonly unknown[], warnings: Note[]): void {
  const seen = new Map(paths.map((path) => [path.join("."), path]));
  const isThere = (path: Path): boolean => items.some((item) => valuesOf(item, path).length > 0);
  const unknown = [...seen].filter(([, path]) => items.length > 0 && !isThere(path));
  const known = unknown.length === 0 ? [] : [...knownPaths(items.slice(0, SAMPLE))];
  for (const [name] of unknown.slice(0, MAX.hints)) {
    const near = nearest(name, known);
    const [last = ""] = /[^.]*$/.exec(name) ?? [];
    const isInside = control === "filter" && known.includes(name.slice(0, -last.length - 1));
    const operator = isInside ? nearest(last, OPERATORS, 1) : [];
    const named = near.length > 0 ? near : known.filter((path) => !path.includes("."));
    // Names from the data could be sentences.
    const shown = named.filter((path) => quoted(path) !== "").slice(0, 12);
    const meaning = operator.map((one) => `Did you mean the operator '${one}'?`).join("");
    const hint = meaning === "" ? `Fields: ${shown.join(", ")}.` : meaning;
    const field = quoted(name) === "" ? "a requested field" : `the field${quoted(name)}`;
    const message = `No item has ${field} of '${control}'. ${hint}`;
    warnings.push(note("FIELD_NOT_FOUND", message, { param_name: control, nearest: near }));
  }
  const more = unknown.length - MAX.hints;
  const message = `No item has ${more} more field(s) of '${control}'.`;
  if (more > 0) warnings.push(note("FIELD_NOT_FOUND", message, { param_name: control, more }));
}

function knownPaths(values: readonly unknown[], prefix = "", depth = 0, found = new Set<string>()): Set<string> {
  for (const value of values) {
    if (Array.isArray(value)) knownPaths(value.slice(0, 3), prefix, depth, found);
    for (const [name, member] of isObject(value) && depth < 3 ? Object.entries(value) : []) {
      if (found.size >= 300) return found;
      if (name === "" || prefix.length + name.length > 96) continue;
      knownPaths([member], `${prefix}${name}.`, depth + 1, found.add(prefix + name));
    }
  }
  return found;
}

/** Some values of the fields of a filter, which show how the data spells them. */
function examples(conditions: readonly Condition[], items: readonly unknown[]): JsonObject {
  const isShort = (value: unknown): boolean =>
    rankOf(value) < 4 && !(typeof value === "string" && Buffer.byteLength(value) > 40);
  const found = conditions.map(({ path }): [string, unknown[]] => {
    const values = items.slice(0, 200).flatMap((item) => valuesOf(item, path)).filter(isShort);
    return [path.join("."), [...new Set(values)].slice(0, 5)];
  });
  return Object.fromEntries(found.filter(([, values]) => values.length > 0));
}

// ---- An answer

/** An answer, and the page of the list that it is. */
type Shaped = Readonly<{ value: unknown; page?: Page }>;
type Step = Question & Readonly<{ sign: (position: number) => string; warnings: Note[] }>;

/** The part of an answer that a call asks for, within its budget. */
export function shape(data: unknown, question: Question, warn: Warn): unknown {
  const { operation, controls } = question;
  if (operation.controls === undefined) return data;
  return bounded(() => {
    const [text, budget] = [data instanceof RawJson ? data.text : stringify(data), controls?.budget ?? BUDGET];
    const { fields, filter, sort = [], page } = controls ?? {};
    const isFull = fields?.preset === "full" && filter === undefined && page === undefined && sort.length === 0;
    const isWhole = controls === undefined || isFull;
    if (isWhole && fits(text, budget)) return data;
    const step = { ...question, sign: signer(question), warnings: [] as Note[] };
    const shaped = isWhole ? { value: parse(text) } : query(parse(text), controls, step);
    const value = fits(stringify(shaped.value), budget) ? shaped.value : reduce(shaped, budget, step);
    for (const { code, message, details } of step.warnings) warn(code, message, details);
    // A file is a content block beside its data.
    const block = blocks.get(data as object);
    if (block !== undefined) blocks.set(value as object, block);
    return value;
  });
}

function query(data: unknown, controls: Controls, { operation, sign, warnings }: Step): Shaped {
  const { fields, filter, sort, page: request } = controls;
  const place = findItems(data, operation.controls?.items);
  const found = place.path.reduce(own, data);
  if (!place.isList) {
    const given = { filter: filter !== undefined, sort: sort.length > 0, "page parameters": request !== undefined };
    const idle = Object.entries(given).flatMap(([name, isGiven]) => (isGiven ? [name] : []));
    const message = `Ignored: ${idle.join(", ")}. The answer is one item and not a list.`;
    if (idle.length > 0) warnings.push(note("IGNORED_PARAMS", message));
    const [item] = fields === undefined ? [found] : selectItems([found], fields, place, warnings);
    return { value: replaced(data, place.path, item) };
  }
  const all = found as unknown[];
  let items: readonly unknown[] = all;
  const isMore = hasMore(data, all.length) ?? operation.controls?.more === true;
  const queriesAll = filter !== undefined || sort.length > 0;
  if (isMore && queriesAll) warnings.push(partialList(all.length));
  if (filter !== undefined) {
    const local = filter.map(({ path, test }) => ({ path: localPath(path, place, all), test }));
    warnUnknown("filter", local.map(({ path }) => path), all, warnings);
    items = all.filter((item) => local.every(({ path, test }) => test(valuesOf(item, path))));
    const message = `No item matches the filter; ${all.length} item(s) were checked.`;
    const details = { checked: all.length, values: examples(local, all) };
    if (items.length === 0 && all.length > 0) warnings.push(note("EMPTY_RESULT", message, details));
  }
  if (sort.length > 0) {
    const keys = sort.map(({ path, descending }) => ({ path: localPath(path, place, items), descending }));
    warnUnknown("sort", keys.map(({ path }) => path), items, warnings);
    items = sorted(items, keys);
  }
  let page: Page | undefined;
  if (request !== undefined) {
    const total = items.length;
    const { start, end } = pageIn(total, request, sign);
    if (isMore && !queriesAll && end >= total) warnings.push(partialList(all.length));
    page = { request, start, end, total, isTotalKnown: !isMore };
    items = items.slice(start, end);
  }
  const path = page === undefined ? place.path : ["items"];
  if (fields !== undefined) items = selectItems(items, fields, { path, isList: true }, warnings);
  if (page === undefined) return { value: replaced(data, place.path, items) };
  return { value: paged(data, place.path, items, describe(page, sign)), page };
}

// ---- The budget

/** The longest texts (in characters) and lists (in items) of a shortened answer, from long to short. */
const ITEM_SIZES = [[8000, 200], [4000, 100], [2000, 60], [1000, 40], [500, 20]];
const SIZES = [...ITEM_SIZES, [250, 10], [120, 5], [60, 3], [20, 1], [0, 0]];
const TEXT_SIZES = [4000, 2000, 1000, 500, 250].map((size) => [size, Number.POSITIVE_INFINITY]);

/** Reduces an answer step by step until it fits. Warnings name the steps and how to get the rest. */
function reduce({ value: whole, page }: Shaped, budget: number, step: Step): unknown {
  const { operation, controls, warnings } = step;
  const room = Math.max(budget - OVERHEAD, Math.floor(budget / 2));
  const place = page === undefined ? findItems(whole, operation.controls?.items) : { path: ["items"], isList: true };
  const reduced = (name: string, control: string, message: string, details: JsonObject = {}): void => {
    const written = meant(operation, control) === undefined ? control : `_${control}`;
    const told = message.replaceAll(`{${control}}`, written);
    const about = { step: name, control: written, ...details };
    warnings.push(note("ANSWER_REDUCED", `The answer was too long, so ${told}`, about));
  };
  let value = whole;
  if (controls?.fields === undefined) {
    value = replaced(whole, place.path, withoutNoise(place.path.reduce(own, whole)));
    const message = "links, nulls and empty fields were left out. Select fields, or get all with {fields}: full.";
    if (stringify(value).length < stringify(whole).length) reduced("standard", "fields", message);
  }
  if (fits(stringify(value), room)) return value;
  const tell = (cuts: readonly Cut[]): void => {
    const fields = cuts.slice(0, 5).map(({ field, kept, total, unit }) => `'${field}' to ${kept} of ${total} ${unit}`);
    const advice = "Select fewer fields, or raise '{answer_budget}'.";
    const message = `${cuts.length} value(s) were shortened: ${fields.join(", ")}. ${advice}`;
    if (cuts.length > 0) reduced("shorten", "answer_budget", message, { shortened: cuts.slice(0, 5) });
  };
  const size = page === undefined && place.isList ? ownPageSize(operation) : undefined;
  if (size !== undefined) {
    // The cursor of the operation itself belongs to the last item: all items stay, or the cursor goes.
    const short = shortened(value, room, TEXT_SIZES);
    if (fits(stringify(short.value), room)) {
      tell(short.cuts);
      return short.value;
    }
    const rest = withoutDescription(value);
    const items = place.path.reduce(own, value) as unknown[];
    const beside = tokens(stringify(replaced(rest, place.path, [])));
    const [count, total] = [Math.min(Math.max(1, fitting(items, Math.max(0, room - beside))), items.length), items.length];
    const told = `The answer was too long, so it has the first ${count} of ${total} items and no cursor.`;
    const next = `For the others, call again with ${size}: ${count} and follow the cursors, or select fewer fields.`;
    warnings.push(note("ANSWER_REDUCED", `${told} ${next}`, { step: "page", control: size, returned: count, total }));
    value = replaced(rest, place.path, items.slice(0, count));
  } else if (place.isList) value = cutPage(value, place, room, page, step, reduced);
  if (fits(stringify(value), room)) return value;
  // Without the description of a page, nobody could go on.
  const isPage = page !== undefined || (place.isList && size === undefined);
  const about = isPage ? descriptionOf(value) : {};
  const left = Object.keys(about).length > 0 ? Math.max(0, room - tokens(stringify(about))) : room;
  const { value: short, cuts } = shortened(isPage ? withoutDescription(value) : value, left, SIZES);
  tell(cuts);
  if (!isObject(short) || Object.keys(about).length === 0) return short;
  return { items: [], ...short, ...about };
}

/** The operation's own parameter for the size of a page, if it has cursors of its own. */
function ownPageSize(operation: Step["operation"]): string | undefined {
  if (meant(operation, "after") === undefined) return undefined;
  return ["first", "limit", "page_size"].find((name) => meant(operation, name) !== undefined);
}

const DESCRIPTIONS = ["pageInfo", "pagination"];

/** An answer without the members that describe a page. */
function withoutDescription(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !DESCRIPTIONS.includes(name)));
}

/** The members of an answer that describe a page. */
function descriptionOf(value: unknown): JsonObject {
  const members = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(members.filter(([name]) => DESCRIPTIONS.includes(name)));
}

type Reduced = (name: string, control: string, message: string, details?: JsonObject) => void;

/** Keeps the first items that fit, as a page with a cursor. */
function cutPage(value: unknown, { path }: Place, room: number, page: Page | undefined, step: Step, reduced: Reduced) {
  const { operation, sign } = step;
  const items = path.reduce(own, value) as unknown[];
  const rest = page === undefined ? value : withoutDescription(value);
  const beside = tokens(stringify(replaced(rest, path, []))) + PAGE_TOKENS;
  const shown = items.length;
  const count = Math.min(Math.max(1, fitting(items, Math.max(0, room - beside))), shown);
  const isMore = hasMore(value, shown) ?? operation.controls?.more === true;
  const request: PageRequest = { style: "first", size: count, from: 0 };
  const { start, total, isTotalKnown } = page ?? { start: 0, total: shown, isTotalKnown: !isMore };
  const end = start + count;
  if (count < shown) {
    const after = meant(operation, "first") === undefined ? "first" : "_first";
    const next = `For the next ones, call again with ${after}: ${count} and {after}: "${sign(Math.max(end - 1, 0))}"`;
    const message = `it has the first ${count} of ${shown} items. ${next}, or select fewer fields.`;
    reduced("page", "after", message, { returned: count, total: shown });
  }
  return paged(rest, path, items.slice(0, count), describe({ request, start, end, total, isTotalKnown }, sign));
}

/** The number of first items that fit. */
function fitting(items: readonly unknown[], room: number): number {
  let left = room;
  const end = items.findIndex((item) => {
    const text = stringify(item);
    left -= fits(text, left) ? tokens(text) + 1 : left + 1;
    return left < 0;
  });
  return end < 0 ? items.length : end;
}

/** A value that was shortened. */
type Cut = Readonly<{ field: string; kept: number; total: number; unit: string }>;

/** Shortens the longest texts and lists until the answer fits or the sizes end. */
function shortened(value: unknown, room: number, sizes: readonly (readonly number[])[]) {
  let last = { value, cuts: [] as Cut[] };
  for (const [characters = 0, items = 0] of sizes) {
    const cuts: Cut[] = [];
    last = { value: cut(value, characters, items, [], cuts), cuts };
    if (fits(stringify(last.value), room)) break;
  }
  return last;
}

function cut(value: unknown, characters: number, items: number, path: Path, cuts: Cut[]): unknown {
  const told = (kept: number, total: number, unit: string): void => {
    if (total > kept) cuts.push({ field: path.join("."), kept, total, unit });
  };
  if (typeof value === "string" && value.length > characters) {
    const total = value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
    told(characters, total, "characters");
    const start = Array.from(value.slice(0, 2 * characters)).slice(0, characters).join("");
    return total > characters ? `${start}… (${total} characters)` : value;
  }
  const inside = (one: unknown, name: string): unknown => cut(one, characters, items, [...path, name], cuts);
  if (Array.isArray(value)) {
    told(items, value.length, "items");
    return value.slice(0, items).map((item, index) => inside(item, String(index)));
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  // Fields are fewer than items, and they say more.
  told(2 * items, members.length, "fields");
  return Object.fromEntries(members.slice(0, 2 * items).map(([name, member]) => [name, inside(member, name)]));
}

/** Whether a text has at most this number of tokens. A token has at least one byte, and rarely more than 16. */
function fits(text: string, budget: number): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes <= budget || (Math.floor(bytes / 16) <= budget && tokens(text) <= budget);
}

const PIECES = /[A-Z]+[a-z]*|[a-z]+|[0-9]+|[\t\n\f\r ]+|[^\0-\x7f]+|[^A-Za-z0-9\t\n\f\r \x80-\uffff]+/g;
/** Costs of words by length, in eighths of a token, alone and after a mark such as `_`. */
const WORD_COSTS = [0, 8, 8, 8, 8, 8, 9, 9, 10, 11];
const MARKED_COSTS = [0, 8, 8, 8, 9, 10, 10, 13, 13, 15];
const COMMON_MARKS = ['":"","', '":{"', '":["', "},{\"", '"},{"'];

/** The cost of a word by its letters, and the same inside an identifier, whose letters form no words. */
function wordCosts(word: string, isMarked: boolean): readonly [asWord: number, inIdentifier: number] {
  const size = word.length;
  const capitals = word.replace(/[a-z]+$/, "").length;
  if (capitals === 0) {
    const costs = isMarked ? MARKED_COSTS : WORD_COSTS;
    const long = size < 14 ? (costs.at(-1) ?? 0) + size - 9 : 2 * size - 12;
    return [costs[size] ?? long, size <= 2 ? 8 : 4 * size];
  }
  if (capitals === 1) return [size <= 6 ? 8 : size <= 8 ? 9 : 12, size <= 2 ? 9 : size === 3 ? 14 : 4 * size];
  if (capitals === size) return [size <= 3 ? 8 : 4 * size, size <= 2 ? 8 : 5 * size];
  return [5 * size, 5 * size];
}

/** Estimates the tokens of a text: words, numbers, runs of punctuation and other scripts have typical costs. */
export function tokens(text: string): number {
  let [sum, asWords, asIdentifier, pieces] = [0, 0, 0, 0];
  let [hasDigits, isMarked] = [false, false];
  const endRun = (): void => {
    sum += hasDigits && pieces >= 3 ? asIdentifier : asWords;
    [asWords, asIdentifier, pieces, hasDigits] = [0, 0, 0, false];
  };
  for (const { 0: piece, index } of text.matchAll(PIECES)) {
    const [first, next = ""] = [piece.charCodeAt(0), text[index + piece.length]];
    if (/^[A-Za-z0-9]/.test(piece)) {
      const isNumber = first < 0x3a;
      const digits = 8 * Math.ceil(piece.length / 3);
      const [word, identifier] = isNumber ? [digits, digits] : wordCosts(piece, isMarked);
      [asWords, asIdentifier, pieces] = [asWords + word, asIdentifier + identifier, pieces + 1];
      [hasDigits, isMarked] = [hasDigits || isNumber, false];
      continue;
    }
    endRun();
    if (/^[\t\n\f\r ]/.test(piece)) sum += piece.length === 1 && /^[^0-9]/.test(next) ? 0 : 8;
    else if (first > 0x7f) {
      isMarked = false;
      const costs = Array.from(piece, (char) => char.codePointAt(0) ?? 0);
      sum += costs.reduce((all, code) => all + (code >= 0x1_f000 && code <= 0x1_ffff ? 16 : code >= 0x2e80 ? 6 : 4), 4);
    } else {
      const size = piece.length;
      isMarked = size === 1 && /^[A-Za-z]/.test(next);
      const isOne = size <= 3 || COMMON_MARKS.includes(piece);
      if (!isMarked) sum += isOne ? 8 : size <= 5 ? 16 : 4 * size - 5;
    }
  }
  endRun();
  return Math.ceil(sum / 8);
}
