// `multipart/form-data` (RFC 7578): one part for each value.
//
// What always holds: no value ends its part or adds a header to it. Names and file names are escaped as browsers do it, a media
// type that is none is refused, and the boundary cannot be guessed.
//
// A parameter is a file where its schema says base64; its value is the text, or `{data, filename?, content_type?}`. Lists become
// repeated parts, objects parts of JSON, anything else plain text.

import { randomBytes } from "node:crypto";
import { OpError } from "../errors.js";
import { isArray, isObject, jsonText, own, scalar } from "../values.js";
import { trim } from "../text.js";
import type { Body, Field } from "./body.js";
import { fileOf } from "./body.js";
import { unusableDocument } from "./headers.js";

/** A boundary that occurs in no content. */
export function randomBoundary(): string {
  return `mcpaql-${randomBytes(16).toString("hex")}`;
}

/** Writes the fields as parts. */
export function multipart(fields: readonly Field[], contentType: string | undefined, boundary: string): Body {
  const kind = contentType?.startsWith("multipart/") === true ? contentType : "multipart/form-data";
  if (!/^[\t\x20-\x7e]*$/.test(kind)) throw unusableDocument("the media type of the multipart body");
  const parts = new Parts(boundary);
  for (const field of fields) parts.field(field);
  return { bytes: parts.end(), contentType: `${kind}; boundary=${boundary}` };
}

class Parts {
  readonly #pieces: Buffer[] = [];
  readonly #boundary: string;

  constructor(boundary: string) {
    this.#boundary = boundary;
  }

  field(field: Field): void {
    const { value, file, style } = field;
    if (style.form === "json" && !file) {
      if (value !== null) this.#part(field.name, undefined, "application/json", jsonText(value));
    } else if (isArray(value)) {
      for (const item of value) this.#item(field, item);
    } else {
      this.#item(field, value);
    }
  }

  end(): Buffer {
    this.#push(`--${this.#boundary}--\r\n`);
    return Buffer.concat(this.#pieces);
  }

  #item(field: Field, value: unknown): void {
    if (value === null) return;
    if (field.file) {
      this.#file(field, value);
    } else if (typeof value === "object") {
      this.#part(field.name, undefined, "application/json", jsonText(value));
    } else {
      this.#part(field.name, undefined, undefined, scalar(value) ?? "");
    }
  }

  #file(field: Field, value: unknown): void {
    const member = (key: string): unknown => (isObject(value) ? own(value, key) : undefined);
    const said = member("content_type");
    const contentType = typeof said === "string" ? mediaType(field.param, said) : "application/octet-stream";
    const bytes = fileOf(field.param, isObject(value) ? member("data") : value);
    const named = member("filename");
    const filename = typeof named === "string" ? baseName(named) : "";
    this.#part(field.name, filename === "" ? field.name : filename, contentType, bytes);
  }

  #part(name: string, filename: string | undefined, contentType: string | undefined, content: string | Buffer): void {
    let head = `--${this.#boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
    if (filename !== undefined) head += `; filename="${quoted(filename)}"`;
    if (contentType !== undefined) head += `\r\nContent-Type: ${contentType}`;
    this.#push(`${head}\r\n\r\n`);
    this.#push(content);
    this.#push("\r\n");
  }

  #push(content: string | Buffer): void {
    this.#pieces.push(typeof content === "string" ? Buffer.from(content, "utf8") : content);
  }
}

/** A name inside quotes. What would end the quotes or the line is written as browsers write it; everything else stays. */
function quoted(name: string): string {
  return name.replace(
    /["\\\x00-\x1f\x7f]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

/** The last name of a path: a sender's folders are nobody's business, and a receiver might follow `..`. */
function baseName(filename: string): string {
  const name = filename.split(/[/\\]/).at(-1) ?? "";
  return name === "." || name === ".." ? "" : name;
}

function mediaType(param: string, text: string): string {
  const kind = trim(text.split(";")[0] ?? "");
  if (/^[\x20-\x7e]*$/.test(text) && /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/.test(kind)) return text;
  throw new OpError(
    "VALIDATION_INVALID_VALUE",
    `The content_type of parameter '${param}' is no media type; send one such as 'image/png' or leave it out.`,
  ).with("param_name", param);
}
