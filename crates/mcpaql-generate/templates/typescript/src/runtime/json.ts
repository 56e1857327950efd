// JSON without loss: integers that a number cannot hold are bigints, and what passes through stays as it is written.

import { randomUUID } from "node:crypto";

export type JsonObject = Record<string, unknown>;

/** Stands before what travels through the platform's own parser as a string. */
const MARK = `kept ${randomUUID()} `;
const MARKED = new RegExp(`"${MARK}(\\d+)"`, "g");
// Both stop at quotes and escapes, because strings are left alone.
const SPACES = /\\.|"|\s+/gs;
const INTEGERS = /\\.|"|(?<![\w.+-])-?\d{16,}(?![\w.])/gs;

/** JSON with some tokens written otherwise; an expression that takes a whole string at once would need a stack. */
export function rewrite(json: string, tokens: RegExp, by: (token: string) => string): string {
  let inside = false;
  return json.replace(tokens, (token) => {
    if (token === '"') inside = !inside;
    return inside || token === '"' ? token : by(token);
  });
}

/** JSON that is passed on as it is written, but for white space between its tokens. */
export class RawJson {
  readonly text: string;

  /** Takes text that is JSON. */
  constructor(text: string) {
    this.text = rewrite(text, SPACES, () => "");
  }

  /** For whoever writes it without `stringify`. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Reads JSON; throws a `SyntaxError` where it is none. With `wide`, other members have numbers, rounded ones too. */
export function parse(text: string, wide?: readonly string[]): unknown {
  const plain: unknown = JSON.parse(text); // what is no JSON never meets the expression below
  if (!/\d{16}/.test(text)) return plain;
  const marked = rewrite(text, INTEGERS, (token) =>
    Number.isSafeInteger(Number(token)) ? token : `"${MARK}${token}"`,
  );
  return JSON.parse(marked, function (this: unknown, key: string, value: unknown) {
    // Items come before the list that they are in, and only the list has a name.
    const isItem = Array.isArray(this) && !Array.isArray(value);
    const isWide = isItem || wide === undefined || wide.includes(key);
    const round = (item: unknown): unknown => (typeof item === "bigint" ? Number(item) : item);
    if (Array.isArray(value) && !isWide) return value.map(round);
    if (typeof value !== "string" || !value.startsWith(MARK)) return value;
    const digits = value.slice(MARK.length);
    return isWide ? BigInt(digits) : Number(digits);
  });
}

/** Writes JSON, bigints as numbers. */
export function stringify(value: unknown): string {
  const kept: string[] = [];
  const text = JSON.stringify(value ?? null, function (this: JsonObject, key: string, item: unknown) {
    const own = this[key]; // `item` is what `toJSON` made of it
    if (typeof own !== "bigint" && !(own instanceof RawJson)) return item;
    return `${MARK}${kept.push(typeof own === "bigint" ? String(own) : own.text) - 1}`;
  });
  return kept.length === 0 ? text : text.replace(MARKED, (_match, at: string) => kept[Number(at)] ?? "");
}

/** The value behind a text; `undefined` where it is no JSON. */
export function tryParse(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

export const isJson = (text: string): boolean => tryParse(text) !== undefined;

/** Lines of JSON as one array; where a line is no JSON, the text is none either. */
export function arrayOf(lines: string): string {
  const filled = lines.split("\n").filter((line) => !/^\p{White_Space}*$/u.test(line));
  return filled.every(isJson) ? `[${filled.join(",")}]` : "";
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The text of a value outside JSON; `undefined` where there is nothing to say. */
export function scalar(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : stringify(value);
}

/** Every text and number inside a value, as text. */
export function scalars(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(scalars);
  return typeof value === "boolean" ? [] : [scalar(value) ?? []].flat();
}

/** Some members of an object: `pick(issue, "id", "title")`. */
export function pick<T extends object, K extends keyof T>(value: T, ...keys: K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => key in value).map((key) => [key, value[key]])) as Pick<T, K>;
}
