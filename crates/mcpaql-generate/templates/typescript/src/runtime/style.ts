// How values are spelled outside a JSON body: OpenAPI's `style`, `explode` and `allowReserved`.
//
// What always holds: a value never adds a pair, a fragment or, unless its style is `segments`, a segment. `null` and
// empty lists and objects are left out.

import { isObject, scalar, stringify } from "./json.js";

type Delimited = "spaceDelimited" | "pipeDelimited";
export type StyleForm = "form" | "simple" | Delimited | "deepObject" | "label" | "matrix" | "json" | "segments";

/** `explode`: one `name=value` per element; `reserved`: reserved characters stay where they mean nothing. */
export type Style = Readonly<{ form: StyleForm; explode: boolean; reserved: boolean }>;

type Encode = (text: string) => string;

/** Reserved characters that mean nothing: inside a segment of a path, inside a list, inside a query. */
const KEPT = { path: ":@!$'()*", element: ":@!$'()*/?[]=", query: ":@!$'()*/?[]=,;" };

/** Percent-encodes everything but unreserved characters and those that are kept. */
export const encode = (text: string, kept = ""): string =>
  text.replace(/[^A-Za-z0-9._~-]/gu, (char) => (kept.includes(char) ? char : percent(char)));

/** The bytes of a character, percent-encoded. */
export function percent(char: string): string {
  return [...Buffer.from(char, "utf8")].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

const texts = (items: readonly unknown[]): string[] => items.map(scalar).filter((text) => text !== undefined);

function fields(object: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(object).flatMap(([key, field]): [string, string][] => {
    const text = scalar(field);
    return text === undefined ? [] : [[key, text]];
  });
}

/** `1,2`, and `a,1,b,2` or `a=1,b=2` for objects, with that separator. */
function joined(value: unknown, explode: boolean, between: string, spell: Encode): string | undefined {
  const items = Array.isArray(value)
    ? texts(value).map(spell)
    : isObject(value)
      ? fields(value).map(([key, text]) => `${spell(key)}${explode ? "=" : between}${spell(text)}`)
      : texts([value]).map(spell);
  return items.length === 0 ? undefined : items.join(between);
}

/** What fills a placeholder of a path. */
export function pathText(name: string, value: unknown, { form, explode, reserved }: Style): string | undefined {
  if (value === null || value === undefined) return undefined;
  const spell: Encode = (text) => encode(text, reserved ? KEPT.path : "");
  switch (form) {
    case "json":
      return spell(stringify(value));
    case "label": {
      const text = joined(value, explode, explode ? "." : ",", spell);
      return text === undefined ? undefined : `.${text}`;
    }
    case "matrix": {
      const pair = (key: string, text: string): string => `;${spell(key)}${text === "" ? "" : `=${text}`}`;
      const several = explode && Array.isArray(value) ? texts(value).map((text) => pair(name, spell(text))) : undefined;
      const named = explode && isObject(value) ? fields(value).map(([key, text]) => pair(key, spell(text))) : several;
      const text = joined(value, false, ",", spell);
      return text === undefined ? undefined : (named?.join("") ?? pair(name, text));
    }
    case "segments":
      return typeof value === "string" ? value.split("/").map(spell).join("/") : joined(value, false, "/", spell);
    default:
      return joined(value, explode, ",", spell);
  }
}

/** The value of a header, which no percent-encoding applies to. */
export function headerText(value: unknown, { form, explode }: Style): string | undefined {
  if (value === null) return undefined;
  return form === "json" ? stringify(value) : joined(value, explode, ",", (text) => text);
}

/** One parameter of a query, a form or a cookie header, as `name=value` pairs that are encoded. */
export function pairs(name: string, value: unknown, { form, explode, reserved }: Style, isCookie = false): string[] {
  const key = encode(name);
  if (form === "deepObject") return deep(key, value);
  const joins = !explode && typeof value === "object";
  const kept = !reserved ? "" : joins || isCookie ? KEPT.element : KEPT.query;
  const spell: Encode = (text) => encode(text, kept);
  if (value === null || value === undefined) return [];
  if (form === "json") return [`${key}=${spell(stringify(value))}`];
  if (explode && Array.isArray(value)) return texts(value).map((text) => `${key}=${spell(text)}`);
  if (explode && isObject(value)) return fields(value).map(([own, text]) => `${encode(own)}=${spell(text)}`);
  const between = { spaceDelimited: "%20", pipeDelimited: "%7C" }[form as string] ?? ",";
  const text = joined(value, false, between, spell);
  return text === undefined ? [] : [`${key}=${text}`];
}

/** One field of a form body; objects are spelled as form APIs read them. */
export function formPairs(name: string, value: unknown, style: Style): string[] {
  const isNested = isObject(value) || (Array.isArray(value) && value.some((item) => typeof item === "object"));
  return style.form !== "json" && isNested ? deep(encode(name), value) : pairs(name, value, style);
}

/** `a[b][c]=1`, `a[]=1` for lists of scalars, `a[0][b]=1` for lists of objects. */
function deep(name: string, value: unknown): string[] {
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => deep(`${name}%5B${encode(key)}%5D`, item));
  if (Array.isArray(value)) {
    const isNested = value.some((item) => typeof item === "object" && item !== null);
    return value.flatMap((item, index) => deep(`${name}%5B${isNested ? index : ""}%5D`, item));
  }
  return texts([value]).map((text) => `${name}=${encode(text)}`);
}
