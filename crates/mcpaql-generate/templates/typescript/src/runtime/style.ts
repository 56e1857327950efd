// Writes values outside a JSON body with OpenAPI's `style`, `explode` and `allowReserved`.
//
// What always holds: a value never adds a pair, a fragment or, except with the style `segments`, a path segment. `null`
// and empty lists and objects are left out.

import { isObject, scalar, stringify } from "./json.js";

type Delimited = "spaceDelimited" | "pipeDelimited";
export type StyleForm = "form" | "simple" | Delimited | "deepObject" | "label" | "matrix" | "json" | "segments";

/** `explode`: one `name=value` per element. `reserved`: keep reserved characters that have no meaning there. */
export type Style = Readonly<{ form: StyleForm; explode: boolean; reserved: boolean }>;

/** Reserved characters without a meaning: in a path segment, in an element of a list, in a query. */
const KEPT = { path: ":@!$'()*", element: ":@!$'()*/?[]=", query: ":@!$'()*/?[]=,;" };

/** Percent-encodes all characters except unreserved ones and those in `kept`. */
export const encode = (text: string, kept = ""): string =>
  text.replace(/[^A-Za-z0-9._~-]/gu, (char) => (kept.includes(char) ? char : percent(char)));

export const percent = (char: string): string =>
  Buffer.from(char, "utf8").toString("hex").toUpperCase().replace(/../g, "%$&");

/** The fields of an object, or the items of anything else without keys. */
function entries(value: unknown): [key: string | undefined, text: string][] {
  const all = isObject(value) ? Object.entries(value) : [value].flat().map((item) => [undefined, item] as const);
  return all.flatMap(([key, item]) => (item === null || item === undefined ? [] : [[key, scalar(item) ?? ""]]));
}

/** Joins a value with a separator: `1,2` for a list, `a,1,b,2` or `a=1,b=2` for an object. */
function joined(value: unknown, explode: boolean, between: string, spell: typeof encode): string | undefined {
  const spelled = entries(value).map(([key, text]) =>
    key === undefined ? spell(text) : `${spell(key)}${explode ? "=" : between}${spell(text)}`,
  );
  return spelled.length === 0 ? undefined : spelled.join(between);
}

export function pathText(name: string, value: unknown, { form, explode, reserved }: Style): string | undefined {
  if (value === null || value === undefined) return undefined;
  const spell = (text: string): string => encode(text, reserved ? KEPT.path : "");
  if (form === "json") return spell(stringify(value));
  if (form === "segments" && typeof value === "string") return value.split("/").map(spell).join("/");
  const between = form === "segments" ? "/" : form === "label" && explode ? "." : ",";
  const text = joined(value, explode && form !== "segments" && form !== "matrix", between, spell);
  if (text === undefined || (form !== "label" && form !== "matrix")) return text;
  const pair = (key: string, spelled: string): string => `;${spell(key)}${spelled === "" ? "" : `=${spelled}`}`;
  if (form === "label") return `.${text}`;
  return explode ? entries(value).map(([key = name, one]) => pair(key, spell(one))).join("") : pair(name, text);
}

/** The value of a header, without percent-encoding. */
export function headerText(value: unknown, { form, explode }: Style): string | undefined {
  return form === "json" && value !== null ? stringify(value) : joined(value, explode, ",", (text) => text);
}

/** One parameter of a query, a form or a cookie header as encoded `name=value` pairs. */
export function pairs(name: string, value: unknown, { form, explode, reserved }: Style, isCookie = false): string[] {
  const key = encode(name);
  if (form === "deepObject") return deep(key, value);
  if (value === null || value === undefined) return [];
  const isList = typeof value === "object" && !explode;
  const kept = !reserved ? "" : isList || isCookie ? KEPT.element : KEPT.query;
  const spell = (text: string): string => encode(text, kept);
  if (form === "json") return [`${key}=${spell(stringify(value))}`];
  if (explode) return entries(value).map(([own = name, text]) => `${encode(own)}=${spell(text)}`);
  const between = { spaceDelimited: "%20", pipeDelimited: "%7C" }[form as string] ?? ",";
  const text = joined(value, false, between, spell);
  return text === undefined ? [] : [`${key}=${text}`];
}

/** One field of a form body; nested values are written as `deepObject`. */
export function formPairs(name: string, value: unknown, style: Style): string[] {
  const isNested = [value].flat().some((item) => typeof item === "object");
  return style.form !== "json" && isNested ? deep(encode(name), value) : pairs(name, value, style);
}

/** `a[b][c]=1`, `a[]=1` for lists of scalars, `a[0][b]=1` for lists of objects. */
function deep(name: string, value: unknown): string[] {
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => deep(`${name}%5B${encode(key)}%5D`, item));
  if (Array.isArray(value)) {
    const isNested = value.some((item) => typeof item === "object" && item !== null);
    return value.flatMap((item, index) => deep(`${name}%5B${isNested ? index : ""}%5D`, item));
  }
  return entries(value).map(([, text]) => `${name}=${encode(text)}`);
}
