// How values are spelled outside a JSON body: OpenAPI's `style`, `explode` and `allowReserved`.
//
// What always holds: a value never adds a pair, a fragment or, unless its style is `segments`, a segment, and who decodes what
// was sent has the value back; every character that is not unreserved (RFC 3986) is percent-encoded, unless the document allows
// reserved ones, and then those that separate something in that place still are. `null` and empty arrays and objects are left out.
//
// Where OpenAPI is silent: objects inside an array of a query are sent as JSON text; `deepObject` goes as deep as the value does
// (`a[b][c]=1`), with `a[]=1` for arrays of scalars and `a[0][b]=1` for arrays of objects. Form bodies spell objects that way
// too, because that is what form APIs read. The pairs of a cookie are separated as cookies are.

import { isArray, isObject, jsonText, scalar } from "../values.js";

/** The spelling's name. */
export type StyleForm =
  | "form"
  | "simple"
  | "spaceDelimited"
  | "pipeDelimited"
  | "deepObject"
  | "label"
  | "matrix"
  | "json"
  | "segments";

/** How arrays and objects are spelled outside a JSON body. */
export interface Style {
  readonly form: StyleForm;
  /** One `name=value` per element. */
  readonly explode: boolean;
  /** Reserved characters (`/`, `?`, `,` …) are sent as they are. */
  readonly reserved: boolean;
}

type Encode = (text: string) => string;

const UNRESERVED = "-._~";
/** Reserved characters that mean nothing inside a segment of a path, a value of a query or a cookie. */
const HARMLESS = `${UNRESERVED}:@!$'()*`;
/** In a list, where a comma separates the elements. */
const ELEMENT = `${HARMLESS}/?[]=`;
/** `&` begins a pair, `+` is a space to most servers, and `#` ends the query. */
const QUERY = `${ELEMENT},;`;

/** Percent-encodes everything but letters, digits and what is kept. */
export function percentEncode(text: string, kept: string): string {
  return text.replace(/[^A-Za-z0-9]/gu, (char) => (kept.includes(char) ? char : hexOf(char)));
}

/** The bytes of a character, percent-encoded. */
export function hexOf(char: string): string {
  return [...Buffer.from(char, "utf8")].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

/** Percent-encodes everything but unreserved characters. */
export function encode(text: string): string {
  return percentEncode(text, UNRESERVED);
}

/** A value as JSON text. `null` stands for nothing here too. */
function json(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : jsonText(value);
}

/** What fills a placeholder of a path. */
export function pathText(name: string, value: unknown, style: Style): string | undefined {
  const spell: Encode = style.reserved ? (text) => percentEncode(text, HARMLESS) : encode;
  switch (style.form) {
    case "json": {
      const text = json(value);
      return text === undefined ? undefined : spell(text);
    }
    case "label": {
      const text = joined(value, style.explode, style.explode ? "." : ",", spell);
      return text === undefined ? undefined : `.${text}`;
    }
    case "matrix":
      return matrix(name, value, style.explode, spell);
    case "segments":
      return typeof value === "string" ? value.split("/").map(spell).join("/") : joined(value, false, "/", spell);
    default:
      return joined(value, style.explode, ",", spell);
  }
}

/** The value of a header, which no percent-encoding applies to. */
export function headerText(value: unknown, style: Style): string | undefined {
  return style.form === "json" ? json(value) : joined(value, style.explode, ",", (text) => text);
}

/** `1,2`, and `a,1,b,2` or `a=1,b=2` for objects, with that separator. */
function joined(value: unknown, explode: boolean, between: string, spell: Encode): string | undefined {
  if (isArray(value)) {
    const items = texts(value).map(spell);
    return items.length === 0 ? undefined : items.join(between);
  }
  if (isObject(value)) {
    const within = explode ? "=" : between;
    const items = fields(value).map(([key, text]) => `${spell(key)}${within}${spell(text)}`);
    return items.length === 0 ? undefined : items.join(between);
  }
  const text = scalar(value);
  return text === undefined ? undefined : spell(text);
}

/** `;name=value`, or `;name` alone for a text that is empty. */
function matrix(name: string, value: unknown, explode: boolean, spell: Encode): string | undefined {
  const pair = (key: string, text: string): string => (text === "" ? `;${spell(key)}` : `;${spell(key)}=${text}`);
  const together = (pairs: string[]): string | undefined => (pairs.length === 0 ? undefined : pairs.join(""));
  if (explode && isArray(value)) return together(texts(value).map((text) => pair(name, spell(text))));
  if (explode && isObject(value)) return together(fields(value).map(([key, text]) => pair(key, spell(text))));
  const text = joined(value, false, ",", spell);
  return text === undefined ? undefined : pair(name, text);
}

function texts(items: readonly unknown[]): string[] {
  return items.map(scalar).filter((text) => text !== undefined);
}

function fields(object: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(object).flatMap(([key, field]): [string, string][] => {
    const text = scalar(field);
    return text === undefined ? [] : [[key, text]];
  });
}

function isNested(items: readonly unknown[]): boolean {
  return items.some((item) => typeof item === "object" && item !== null);
}

/** `name=value` pairs: a query, a form body or a cookie header. */
export class Pairs {
  #text: string;
  readonly #between: "&" | "; ";

  private constructor(text: string, between: "&" | "; ") {
    this.#text = text;
    this.#between = between;
  }

  /** A query or a form, behind what is there already. */
  static query(text = ""): Pairs {
    return new Pairs(text, "&");
  }

  static cookies(): Pairs {
    return new Pairs("", "; ");
  }

  text(): string {
    return this.#text;
  }

  /** Appends `name=value`, both encoded already. */
  push(name: string, value: string): void {
    if (this.#text !== "") this.#text += this.#between;
    this.#text += `${name}=${value}`;
  }

  /** Appends one parameter. */
  append(name: string, value: unknown, style: Style): void {
    const key = encode(name);
    if (style.form === "deepObject") {
      this.#appendDeep(key, value);
      return;
    }
    const spell = this.#speller(value, style);
    if (style.form === "json") this.#pushText(key, json(value), spell);
    else if (style.explode && isArray(value)) texts(value).forEach((text) => { this.push(key, spell(text)); });
    else if (style.explode && isObject(value)) fields(value).forEach(([own, text]) => { this.push(encode(own), spell(text)); });
    else if (isArray(value) || isObject(value)) this.#pushText(key, joined(value, false, separator(style.form), spell), (text) => text);
    else this.#pushText(key, scalar(value), spell);
  }

  /** Appends one field of a form body. */
  appendField(name: string, value: unknown, style: Style): void {
    const nested = style.form !== "json" && (isObject(value) || (isArray(value) && isNested(value)));
    this.append(name, value, nested ? { ...style, form: "deepObject", explode: true } : style);
  }

  #speller(value: unknown, style: Style): Encode {
    if (!style.reserved) return encode;
    const joins = !style.explode && typeof value === "object" && value !== null;
    const kept = joins || this.#between !== "&" ? ELEMENT : QUERY;
    return (text) => percentEncode(text, kept);
  }

  #pushText(key: string, text: string | undefined, spell: Encode): void {
    if (text !== undefined) this.push(key, spell(text));
  }

  /** `name` is encoded already. The depth of a value is bounded by the limit on requests. */
  #appendDeep(name: string, value: unknown): void {
    if (isObject(value)) {
      for (const [key, field] of Object.entries(value)) this.#appendDeep(`${name}%5B${encode(key)}%5D`, field);
    } else if (isArray(value) && isNested(value)) {
      value.forEach((item, index) => { this.#appendDeep(`${name}%5B${index}%5D`, item); });
    } else if (isArray(value)) {
      texts(value).forEach((text) => { this.push(`${name}%5B%5D`, encode(text)); });
    } else {
      this.#pushText(name, scalar(value), encode);
    }
  }
}

function separator(form: StyleForm): string {
  if (form === "spaceDelimited") return "%20";
  return form === "pipeDelimited" ? "%7C" : ",";
}
