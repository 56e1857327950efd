// JSON without loss: integers beyond 2^53 are bigints, and `RawJson` keeps JSON as it was written.

import { randomUUID } from "node:crypto";

export type JsonObject = Record<string, unknown>;
/** The start of a string that stands for a token which `JSON` would change. */
const MARK = `kept ${randomUUID()} `;
const MARKED = new RegExp(`"${MARK}([^"]+)"`, "g");
// Both match quotes and escapes too, so that `rewrite` knows where strings are.
const SPACES = /\\.|"|\s+/gs;
const NUMBERS = /\\.|"|-?\d[\w.+-]*/gs;
const INTEGERS = /\\.|"|(?<![\w.+-])-?\d{16,}(?![\w.])/gs;

/** Replaces tokens outside strings. An expression for a whole string would overflow the stack on a long one. */
export function rewrite(json: string, tokens: RegExp, by: (token: string) => string): string {
  let inside = false;
  return json.replace(tokens, (token) => {
    if (token === '"') inside = !inside;
    return inside || token === '"' ? token : by(token);
  });
}

/** JSON that is passed on unchanged, except for white space between its tokens. */
export class RawJson {
  readonly text: string;

  constructor(text: string) { this.text = rewrite(text, SPACES, () => ""); }

  /** For callers of `JSON.stringify`. */
  toJSON(): unknown { return JSON.parse(this.text); }
}

export function parse(text: string): unknown {
  const plain: unknown = JSON.parse(text); // throws before the slower steps below
  if (!/\d{16}/.test(text)) return plain;
  const isSafe = (token: string): boolean => Number.isSafeInteger(Number(token));
  const marked = rewrite(text, INTEGERS, (token) => (isSafe(token) ? token : `"${MARK}${token}"`));
  const isMarked = (item: unknown): item is string => typeof item === "string" && item.startsWith(MARK);
  return JSON.parse(marked, (_key, item: unknown) => (isMarked(item) ? BigInt(item.slice(MARK.length)) : item));
}

export function stringify(value: unknown): string {
  const kept: string[] = [];
  const text = JSON.stringify(value ?? null, function (this: JsonObject, key: string, item: unknown) {
    const own = this[key]; // `item` is the result of `toJSON`
    if (typeof own !== "bigint" && !(own instanceof RawJson)) return item;
    return `${MARK}${kept.push(typeof own === "bigint" ? String(own) : own.text) - 1}`;
  });
  return kept.length === 0 ? text : text.replace(MARKED, (_match, at: string) => kept[Number(at)] ?? "");
}

/** The value at a path inside data; the text of JSON stays as it was written. */
export function select(data: unknown, path: readonly string[]): unknown {
  const isRaw = data instanceof RawJson;
  const tree: unknown = isRaw ? JSON.parse(rewrite(data.text, NUMBERS, (token) => `"${MARK}${token}"`)) : data;
  const found = path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return /^\+?\d+$/.test(part) ? (value as unknown[])[Number(part)] : undefined;
    return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }, tree);
  return isRaw && found !== undefined ? new RawJson(JSON.stringify(found).replace(MARKED, "$1")) : found;
}

/** Reads JSON; `undefined` for any other text. */
export function tryParse(text: string): unknown { try { return parse(text); } catch { return undefined; } }
export const isJson = (text: string): boolean => tryParse(text) !== undefined;

/** Joins lines of JSON to an array; empty if a line is no JSON. */
export function arrayOf(lines: string): string {
  const filled = lines.split("\n").filter((line) => !/^\p{White_Space}*$/u.test(line));
  return filled.every(isJson) ? `[${filled.join(",")}]` : "";
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** The text of a value outside JSON; `undefined` for null. */
export const scalar = (value: unknown): string | undefined =>
  value === null || value === undefined || typeof value === "string" ? (value ?? undefined) : stringify(value);

/** Every text and number inside a value, as text. */
export function scalars(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(scalars);
  return typeof value === "boolean" ? [] : [scalar(value) ?? []].flat();
}

/** Some members of an object: `pick(issue, "id", "title")`. */
export function pick<T extends object, K extends keyof T>(value: T, ...keys: K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => key in value).map((key) => [key, value[key]])) as Pick<T, K>;
}
