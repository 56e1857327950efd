// JSON without loss: integers that a number cannot hold are bigints, on the way in and on the way out.

import { randomUUID } from "node:crypto";

export type JsonObject = Record<string, unknown>;

/** Stands before the digits of a bigint while it travels through the platform's own parser as a string. */
const MARK = `bigint ${randomUUID()} `;
const TOKENS = /"(?:[^"\\]|\\.)*"|(?<![\w.+-])-?\d{16,}(?![\w.])/g;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

/** Reads JSON; throws a `SyntaxError` where it is none. */
export function parse(text: string): unknown {
  const plain: unknown = JSON.parse(text); // what is no JSON never meets the expression below
  if (!/\d{16}/.test(text)) return plain;
  const marked = text.replace(TOKENS, (token) =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${MARK}${token}"`,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** Writes JSON, bigints as numbers. */
export function stringify(value: unknown): string {
  let found = false;
  const text = JSON.stringify(value ?? null, (_key, item: unknown) => {
    if (typeof item !== "bigint") return item;
    found = true;
    return `${MARK}${item}`;
  });
  return (found as boolean) ? text.replace(MARKED, "$1") : text;
}

/** The value behind a text; `undefined` where it is no JSON. */
export function tryParse(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The text of a value outside JSON; `undefined` where there is nothing to say. */
export function scalar(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : stringify(value);
}

/** Some members of an object: `pick(issue, "id", "title")`. */
export function pick<T extends object, K extends keyof T>(value: T, ...keys: K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => key in value).map((key) => [key, value[key]])) as Pick<T, K>;
}
