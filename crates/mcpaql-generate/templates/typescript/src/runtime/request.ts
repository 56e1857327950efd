// An operation and its arguments → one request, without credentials.
//
// What always holds: the URL has the origin and the path prefix of the base and never leads upwards; a placeholder is
// never sent unfilled; no parameter sets a header that belongs to the connection.

import { randomUUID } from "node:crypto";
import type { Auth } from "./auth.js";
import { OpError } from "./errors.js";
import { type JsonObject, isObject, scalar, stringify } from "./json.js";
import { type Style, type StyleForm, formPairs, headerText, pairs, pathText, percent } from "./style.js";

/** How a request carries a parameter. */
export type HttpParam = Readonly<{
  in: "path" | "query" | "header" | "cookie" | "body";
  as?: string; // the name that the API knows, where it is another one
  style?: StyleForm; // OpenAPI's `style`, `explode` and `allowReserved`, where they are not the usual ones
  explode?: boolean;
  reserved?: boolean;
  sensitive?: boolean; // never echoed
  file?: boolean | readonly string[]; // base64 that becomes a file; by name where the parameter is the whole body
}>;

/** The one request that an operation is. */
export type HttpRequest = Readonly<{
  method: string;
  path: string; // `/repos/{owner}/{repo}`: placeholders are parameters
  params: Readonly<Record<string, HttpParam>>;
  body?: "form" | "multipart" | "text" | "binary"; // JSON where it is left out
  body_param?: string; // the parameter that is the whole body
  content_type?: string; // what the body is called
  base_url?: string; // in place of the target's, as is `auth`
  auth?: Auth;
  target?: string; // the parameter that chooses among several targets
  repeatable?: boolean; // repeating it does no harm
  removes?: boolean; // what it names is gone afterwards
}>;

/** A request before credentials are added; names of headers are in lower case. */
export type Outgoing = Readonly<{ method: string; url: URL; headers: Map<string, string>; body?: Buffer | undefined }>;

const MAX_URL_BYTES = 32 * 1024; // longest address that is sent
/** Headers that no document and no parameter sets: they frame the message, name its receiver or carry a credential. */
const FRAMING = "accept-encoding connection content-length expect host keep-alive proxy-connection te trailer upgrade";
const OWNED = new Set([...FRAMING.split(" "), "transfer-encoding", "authorization", "cookie", "proxy-authorization"]);
/** What literals of a path may not hold as they are. */
const LITERAL = /[\x00-\x20"#<>\\^`{|}\x7f]|[^\x00-\x7f]/gu;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function styleOf({ in: place, style, explode, reserved }: HttpParam): Style {
  const simple = place === "path" || place === "header";
  return { form: style ?? (simple ? "simple" : "form"), explode: explode ?? !simple, reserved: reserved ?? false };
}

export const invalid = (param: string, message: string): OpError =>
  new OpError("VALIDATION_INVALID_VALUE", `Parameter '${param}' ${message}`, { param_name: param });

/** The operation cannot be sent, whoever calls it. */
export function unusable(cause: string): OpError {
  const message = "This operation cannot be sent as its document describes it; tell the operator to check it.";
  return new OpError("INTERNAL_ERROR", message, {}, cause);
}

/** The parameters of that place that were given, in the order of the document: name, name on the wire, how, value. */
function given(request: HttpRequest, args: JsonObject, place: HttpParam["in"]) {
  const there = Object.entries(request.params).filter(([name, how]) => how.in === place && args[name] !== undefined);
  return there.map(([name, how]) => [name, how.as ?? name, how, args[name]] as const);
}

/** Builds the request of a call. */
export function build(base: URL, own: ReadonlyMap<string, string>, request: HttpRequest, args: JsonObject): Outgoing {
  const url = urlOf(base, request, args);
  const headers = new Map(own);
  if (!headers.has("accept")) headers.set("accept", "application/json, text/*;q=0.8, */*;q=0.5");
  if (request.content_type !== undefined) headers.set("content-type", request.content_type);
  else if (request.body !== undefined) headers.delete("content-type");
  for (const [name, wire, param, value] of given(request, args, "header")) {
    const text = headerText(value, styleOf(param));
    const header = wire.toLowerCase();
    if (!TOKEN.test(header)) throw unusable(`${stringify(wire)} is no header name`);
    if (text === undefined) continue;
    if (OWNED.has(header)) throw invalid(name, "is set by the server alone; leave it out.");
    headers.set(header, text);
  }
  const spelled = given(request, args, "cookie").map(([, wire, how, value]) => pairs(wire, value, styleOf(how), true));
  const cookies = spelled.flat();
  if (cookies.length > 0) headers.set("cookie", [headers.get("cookie") ?? [], cookies].flat(2).join("; "));
  const body = bodyOf(request, args);
  const named = headers.get("content-type") ?? "";
  // What a form or a multipart body is called tells how it is read.
  const isOther = request.body === "form" && !named.startsWith("application/x-www-form-urlencoded");
  if (body === undefined) headers.delete("content-type");
  else if (named === "" || isOther || request.body === "multipart") headers.set("content-type", body.type);
  return { method: request.method, url, headers, body: body?.bytes };
}

function urlOf(base: URL, request: HttpRequest, args: JsonObject): URL {
  const filled = request.path.replace(/\{([a-z][a-z0-9_]*)\}|[^{]+|\{/g, (piece, name: string | undefined) =>
    // What literals may not hold as they are is encoded; `%` stays, since authors write `%2F` themselves.
    name === undefined ? piece.replace(LITERAL, percent) : pathValue(request, name, args),
  );
  const [path = "", query = ""] = filled.split(/\?(.*)/s);
  const isUpwards = path.split("/").some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
  if (isUpwards) throw new OpError("VALIDATION_INVALID_VALUE", "The path parameters would spell '.' or '..'.");
  const full = `${base.pathname.replace(/\/+$/, "")}${path === "" || path.startsWith("/") ? "" : "/"}${path}`;
  const url = new URL(base);
  url.pathname = full;
  // Setting a path normalises it. Whatever it would change is a way out of the template.
  if (url.pathname !== full && !(full === "" && url.pathname === "/")) throw unusable("the path is not normal");
  const all = given(request, args, "query").flatMap(([, wire, param, value]) => pairs(wire, value, styleOf(param)));
  url.search = [...(query === "" ? [] : [query]), ...all].join("&");
  if (url.origin !== base.origin) throw unusable("the request leaves the origin of the base URL");
  const details = { limit: "max_url_size", actual: Buffer.byteLength(url.href), maximum: MAX_URL_BYTES };
  if (details.actual <= MAX_URL_BYTES) return url;
  throw new OpError("VALIDATION_PAYLOAD_TOO_LARGE", "The address of the request is too long.", details);
}

function pathValue(request: HttpRequest, name: string, args: JsonObject): string {
  const param = request.params[name] ?? { in: "path" };
  const style = styleOf(param);
  const text = pathText(param.as ?? name, args[name], style);
  const message = `Missing required parameter '${name}'; it is part of the path of this operation.`;
  if (text === undefined) throw new OpError("VALIDATION_MISSING_PARAM", message, { param_name: name });
  const isStep = (part: string): boolean => part === "" || part === "." || part === "..";
  if (style.form === "segments") {
    const inner = text.replace(/^\//, "").replace(/\/$/, "");
    if (text !== "/" && inner.split("/").some(isStep)) throw invalid(name, "is a path without '.' and '..'.");
    return inner;
  }
  if (isStep(text)) throw invalid(name, "is part of a path and cannot be empty, '.' or '..'.");
  return text;
}

type Body = Readonly<{ bytes: Buffer; type: string }>;

/** A field of a body, and the parameter that it came in. */
type Field = Readonly<{ name: string; param: string; file: boolean; style: Style; value: unknown }>;

function bodyOf(request: HttpRequest, args: JsonObject): Body | undefined {
  const declared = Object.keys(request.params).filter((name) => request.params[name]?.in === "body");
  const form = request.body;
  const only = (form === "text" || form === "binary") && declared.length === 1 ? declared[0] : undefined;
  const whole = request.body_param ?? only;
  if (whole !== undefined && args[whole] === undefined) return undefined;
  const value = whole === undefined ? undefined : args[whole];
  const named = given(request, args, "body").map(([param, name, how, item]): Field => {
    return { name, param, file: how.file === true, style: styleOf(how), value: item };
  });
  const fields = whole === undefined ? named : partsOf(request, whole, value);
  // A method that expects a body gets an empty one; any other gets none.
  const isExpected = declared.length > 0 && ["POST", "PUT", "PATCH"].includes(request.method);
  if (whole === undefined && named.length === 0 && !isExpected) return undefined;
  const typed = (text: string, type: string): Body => ({ bytes: Buffer.from(text, "utf8"), type });
  switch (form) {
    case undefined: {
      const object = Object.fromEntries((fields ?? []).map((field) => [field.name, field.value]));
      return typed(stringify(whole === undefined ? object : value), "application/json");
    }
    case "form": {
      const text = fields?.flatMap((field) => formPairs(field.name, field.value, field.style)).join("&");
      return typed(text ?? scalar(value) ?? "", "application/x-www-form-urlencoded");
    }
    case "multipart":
      if (fields === undefined) throw unusable("the parameter that is the whole multipart body is no object");
      return multipart(fields, request.content_type);
    case "text":
      return typed(scalar(value) ?? "", "text/plain; charset=utf-8");
    default:
      return { bytes: fileOf(whole ?? "", value), type: "application/octet-stream" };
  }
}

/** The fields of the object that is the whole body; `undefined` where it is no object. */
function partsOf(request: HttpRequest, param: string, value: unknown): Field[] | undefined {
  if (!isObject(value)) return undefined;
  const [files, style] = [request.params[param]?.file, styleOf({ in: "body" })];
  const isFile = (name: string): boolean => Array.isArray(files) && files.includes(name);
  return Object.entries(value).map(([name, item]) => ({ name, param, file: isFile(name), style, value: item }));
}

/** The bytes behind base64: either alphabet, with or without padding and line breaks. */
function fileOf(param: string, value: unknown): Buffer {
  const text = typeof value === "string" ? value.replace(/[ \t\n\f\r]/g, "") : "-_+";
  const bytes = Buffer.from(text, "base64");
  const plain = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  const mixed = /[-_]/.test(text) && /[+/]/.test(text);
  const isSame = bytes.toString("base64").replace(/=+$/, "") === plain && /^[^=]*={0,2}$/.test(text);
  if (isSame && !mixed) return bytes;
  const message = `Parameter '${param}' holds a file and must be base64 text; encode its bytes and send that.`;
  throw new OpError("VALIDATION_INVALID_ENCODING", message, { param_name: param });
}

/** `multipart/form-data`: lists become repeated parts, objects parts of JSON, anything else plain text. */
function multipart(fields: readonly Field[], named: string | undefined): Body {
  const boundary = `mcpaql-${randomUUID()}`;
  const parts = fields.flatMap((field) => {
    const isJson = field.style.form === "json" && !field.file;
    const items = Array.isArray(field.value) && !isJson ? (field.value as unknown[]) : [field.value];
    const sent = items.filter((item) => item !== null);
    return sent.flatMap((item) => [...part(boundary, field, item), Buffer.from("\r\n")]);
  });
  const kind = named?.startsWith("multipart/") === true ? named : "multipart/form-data";
  const bytes = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return { bytes, type: `${kind}; boundary=${boundary}` };
}

function part(boundary: string, field: Field, value: unknown): Buffer[] {
  // What would end the quotes or the line is written as browsers write it.
  const quote = (name: string): string => name.replace(/["\\\x00-\x1f\x7f]/g, percent);
  const head = (rest: string): Buffer =>
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${quote(field.name)}"${rest}\r\n\r\n`, "utf8");
  if (!field.file) {
    const isJson = typeof value === "object" || field.style.form === "json";
    const text = isJson ? stringify(value) : (scalar(value) ?? "");
    return [head(isJson ? "\r\nContent-Type: application/json" : ""), Buffer.from(text, "utf8")];
  }
  const file = isObject(value) ? value : { data: value };
  const bytes = fileOf(field.param, file["data"]);
  const type = typeof file["content_type"] === "string" ? file["content_type"] : "application/octet-stream";
  if (!/^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+ *(?:;[\x20-\x7e]*)?$/.test(type)) {
    throw invalid(field.param, "has a content_type that is none; send one such as 'image/png' or leave it out.");
  }
  // A sender's folders are nobody's business, and a receiver might follow `..`.
  const named = typeof file["filename"] === "string" ? (file["filename"].split(/[/\\]/).at(-1) ?? "") : "";
  const filename = ["", ".", ".."].includes(named) ? field.name : named;
  return [head(`; filename="${quote(filename)}"\r\nContent-Type: ${type}`), bytes];
}
