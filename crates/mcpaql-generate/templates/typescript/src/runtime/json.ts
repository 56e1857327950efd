// JSON whose whole numbers stay whole: an identifier of 64 bits is a `bigint` where a `number` would round it.
//
// What always holds: values are compared and named by their JSON meaning; a key such as `__proto__` is a key like any other.

import { randomUUID } from "node:crypto";

/** A JSON object. */
export type Fields = Record<string, unknown>;

const NUMBER_OR_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\s*:)/g;
/** Most texts have none, and are read at full speed. */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d{16,20}\s*(?:[,\]}]|$)/;
const MARK = `${randomUUID()}:`;
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 64n - 1n];

/** Reads JSON text; throws a `SyntaxError` where it is none. */
export function parse(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  const marked = text.replace(NUMBER_OR_STRING, (token) => (isRounded(token) ? `"${MARK}${token}"` : token));
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

function isRounded(token: string): boolean {
  if (!/^-?\d{16,20}$/.test(token) || Number.isSafeInteger(Number(token))) return false;
  const exact = BigInt(token);
  return exact >= LEAST && exact <= MOST;
}

/** Writes a value as minified JSON. */
export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value ?? null);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return written(value);
  }
}

/** For values that hold a `bigint`. */
function written(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (isFields(value)) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${written(field)}`).join(",")}}`;
  }
  return stringify(value);
}

/** Whether it is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object for keys of a caller's choosing. */
export function noFields(): Fields {
  return Object.create(null) as Fields;
}

/** What stands under a key of the object itself. */
export function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

/** The JSON type of a value, as schemas call it. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "bigint":
      return "integer";
    case "number":
      return Number.isInteger(value) ? "integer" : "number";
    case "string":
    case "boolean":
      return typeof value;
    default:
      return "object";
  }
}

/** Whether two values mean the same: the order of fields means nothing. */
export function same(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** A text that values with the same meaning share. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isFields(value)) return stringify(value);
  const fields = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${fields.join(",")}}`;
}
