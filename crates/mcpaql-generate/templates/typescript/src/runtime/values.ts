// JSON values as they come and go.
//
// What always holds: a member is one that the object itself has, never one that it inherits.

import { parse, stringify } from "./json.js";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Nested deeper than that, a text is not read as JSON. */
const MAX_DEPTH = 127;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The object's own member of that name. */
export function own(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as JsonObject)[name] : undefined;
}

/** A value as text: strings as they are, anything else as JSON. `null` has no text. */
export function scalar(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : jsonText(value);
}

/** A value as JSON text. */
export function jsonText(value: unknown): string {
  if (typeof value === "number") return numberText(value);
  return stringify(value);
}

/** A number with an exponent where it is very large or very small. */
function numberText(value: number): string {
  const size = Math.abs(value);
  return size >= 1e16 || (size > 0 && size < 1e-5) ? value.toExponential() : JSON.stringify(value);
}

/** Whether the text is one JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The value that the text stands for; `undefined` where it is no JSON that can be held and written again. */
export function parseValue(text: string): unknown {
  try {
    const value = parse(text);
    return isWhole(value, 0) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWhole(value: unknown, depth: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "string") return !/\p{Surrogate}/u.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(([key, item]) => isWhole(key, depth) && isWhole(item, depth + 1));
}

/** Valid JSON without white space outside its strings: an agent pays for every one. */
export function minified(json: string): string {
  let kept = "";
  let from = 0;
  let at = 0;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === 0x22) {
      at = stringEnd(json, at + 1);
    } else if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      kept += json.slice(from, at);
      at += 1;
      from = at;
    } else {
      at += 1;
    }
  }
  return from === 0 ? json : kept + json.slice(from);
}

/** Behind the quote that ends the string whose text begins there. */
function stringEnd(json: string, start: number): number {
  let at = start;
  for (;;) {
    const quote = json.indexOf('"', at);
    if (quote < 0) return json.length;
    let slashes = 0;
    while (json.charCodeAt(quote - 1 - slashes) === 0x5c) slashes += 1;
    at = quote + 1;
    if (slashes % 2 === 0) return at;
  }
}

/** Whether two JSON values are the same, whatever the order of their members. */
export function isSame(one: unknown, other: unknown): boolean {
  if (isArray(one)) {
    return isArray(other) && one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  }
  if (isObject(one)) {
    if (!isObject(other)) return false;
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && isSame(own(one, key), own(other, key)))
    );
  }
  return one === other;
}
