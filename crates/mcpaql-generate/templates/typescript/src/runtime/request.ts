// Builds the request of an operation from its arguments, without credentials.
//
// What always holds: the URL keeps the origin and the path prefix of the base URL, without `.` and `..` segments; every
// placeholder is filled; no parameter sets a header of the connection or of the credentials. A value never adds a pair,
// a fragment or, except with the style `segments`, a path segment. `null` and empty lists and objects are left out.

import { randomUUID } from "node:crypto";
import type { Auth } from "./auth.js";
import { OpError, invalid, tooLarge } from "./errors.js";
import { type JsonObject, isObject, scalar, stringify } from "./json.js";

type Delimited = "spaceDelimited" | "pipeDelimited";
export type StyleForm = "form" | "simple" | Delimited | "deepObject" | "label" | "matrix" | "json" | "segments";

/** `explode`: one `name=value` per element. `reserved`: keep reserved characters that have no meaning there. */
export type Style = Readonly<{ form: StyleForm; explode: boolean; reserved: boolean }>;

/** How a request carries a parameter. */
export type HttpParam = Readonly<{
  in: "path" | "query" | "header" | "cookie" | "body";
  as?: string; // the name in the API, if it differs
  style?: StyleForm; // OpenAPI's `style`, `explode` and `allowReserved`, if they are not the defaults
  explode?: boolean;
  reserved?: boolean;
  sensitive?: boolean; // masked in errors
  file?: boolean | readonly string[]; // base64 of a file; the names of such properties if this is the whole body
}>;

export type HttpRequest = Readonly<{
  method: string;
  path: string; // percent-encoded, with placeholders for parameters: `/repos/{owner}`
  params: Readonly<Record<string, HttpParam>>;
  body?: "form" | "multipart" | "text" | "binary"; // JSON by default
  body_param?: string; // the parameter that is the whole body
  body_template?: unknown; // the whole body; a text `{name}` in it stands for the parameter
  fixed?: Readonly<Partial<Record<HttpParam["in"], JsonObject>>>; // values of every request, by place and name
  error?: ErrorRule; result?: readonly string[]; // `result` is the path of the result in the answer
  page?: boolean; content_type?: string; // the answer may be an HTML page; overrides the content type of the body
  base_url?: string; auth?: Auth; // override those of the target
  target?: string; // the parameter that selects one of several targets
  repeatable?: boolean; removes?: boolean; idempotency?: string; // may be sent again; deletes; header of a new key
}>;

/** An answer is a failure if the value at `path` is `equals`, is another one than `not`, or else is not empty. */
export type ErrorRule = Readonly<{ path: string[]; message?: string[]; equals?: unknown; not?: unknown }>;

/** A request without credentials. Header names are in lower case. */
export type Outgoing = Readonly<{ method: string; url: URL; headers: Map<string, string>; body?: Buffer | undefined }>;

const MAX_URL_BYTES = 32 * 1024;
/** Headers that no parameter sets: they belong to the connection or carry credentials. */
const FRAMING = "accept-encoding connection content-length expect host keep-alive proxy-connection te trailer upgrade";
const OWNED = new Set([...FRAMING.split(" "), "transfer-encoding", "authorization", "cookie", "proxy-authorization"]);
const PLACEHOLDER = /\{([a-z][a-z0-9_]*)\}/g;

export function styleOf({ in: place, style, explode, reserved }: HttpParam): Style {
  const simple = place === "path" || place === "header";
  return { form: style ?? (simple ? "simple" : "form"), explode: explode ?? !simple, reserved: reserved ?? false };
}

/** An error in the document, which no caller can fix. */
export const unusable = (cause: string): OpError =>
  new OpError("INTERNAL_ERROR", "This operation cannot be sent as described; tell the operator.", {}, cause);

/** A value with its name in the API, and the parameter that it is from. */
type Field = Readonly<{ param: string; name: string; file: boolean; style: Style; value: unknown }>;
type Body = Readonly<{ bytes: Buffer; type: string }>;

/** The given parameters of one place, in the order of the document. */
function given({ params, fixed }: HttpRequest, args: JsonObject, place: HttpParam["in"]): Field[] {
  const there = Object.entries(params).filter(([name, how]) => how.in === place && args[name] !== undefined);
  const field = (param: string, how: HttpParam, value: unknown): Field =>
    ({ param, name: how.as ?? param, file: how.file === true, style: styleOf(how), value });
  const constants = Object.entries(fixed?.[place] ?? {}).map(([name, value]) => field(name, { in: place }, value));
  return [...there.map(([name, how]) => field(name, how, args[name])), ...constants];
}

export function build(base: URL, own: ReadonlyMap<string, string>, request: HttpRequest, args: JsonObject): Outgoing {
  const url = urlOf(base, request, args);
  const headers = new Map(own);
  if (request.idempotency !== undefined) headers.set(request.idempotency, randomUUID());
  if (!headers.has("accept")) headers.set("accept", "application/json, text/*;q=0.8, */*;q=0.5");
  if (request.content_type !== undefined) headers.set("content-type", request.content_type);
  else if (request.body !== undefined) headers.delete("content-type");
  for (const { param, name, style, value } of given(request, args, "header")) {
    const text = headerText(value, style);
    const header = name.toLowerCase();
    if (text === undefined) continue;
    if (/(?!\t)\p{Cc}/u.test(text)) throw invalid(param, "has control characters.", "VALIDATION_INVALID_ENCODING");
    if (OWNED.has(header)) throw invalid(param, "is set by the server alone; leave it out.");
    headers.set(header, text);
  }
  const cookies = given(request, args, "cookie").flatMap(({ name, value, style }) => pairs(name, value, style, true));
  if (cookies.length > 0) headers.set("cookie", [headers.get("cookie") ?? [], cookies].flat().join("; "));
  const body = bodyOf(request, args);
  const named = headers.get("content-type") ?? "";
  // The receiver needs the right content type to read a form or a multipart body.
  const isOther = request.body === "form" && !named.startsWith("application/x-www-form-urlencoded");
  if (body === undefined) headers.delete("content-type");
  else if (named === "" || isOther || request.body === "multipart") headers.set("content-type", body.type);
  return { method: request.method, url, headers, body: body?.bytes };
}

function urlOf(base: URL, request: HttpRequest, args: JsonObject): URL {
  const filled = request.path.replace(PLACEHOLDER, (_match, name: string) => pathValue(request, name, args));
  const [path = "", query = ""] = filled.split(/\?(.*)/s);
  const isUpwards = path.split("/").some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
  if (isUpwards) throw new OpError("VALIDATION_INVALID_VALUE", "The path parameters would spell '.' or '..'.");
  const full = `${base.pathname.replace(/\/+$/, "")}${path === "" || path.startsWith("/") ? "" : "/"}${path}`;
  const url = Object.assign(new URL(base), { pathname: full });
  // Setting the path normalises it. A changed path would be another resource.
  if (url.pathname !== full && !(full === "" && url.pathname === "/")) throw unusable("the path is not normal");
  const all = given(request, args, "query").flatMap(({ name, value, style }) => pairs(name, value, style));
  url.search = [...(query === "" ? [] : [query]), ...all].join("&");
  const size = Buffer.byteLength(url.href);
  if (size > MAX_URL_BYTES) throw tooLarge("The address would be too long.", "request_size", MAX_URL_BYTES, size);
  return url;
}

function pathValue(request: HttpRequest, name: string, args: JsonObject): string {
  const param = request.params[name] ?? { in: "path" };
  const style = styleOf(param);
  const text = pathText(param.as ?? name, args[name], style);
  if (text === undefined) throw invalid(name, "is missing; it is part of the path.", "VALIDATION_MISSING_PARAM");
  const isPath = style.form === "segments";
  const inner = isPath ? text.replace(/^\/|\/$/g, "") : text;
  const isWrong = (isPath ? inner.split("/") : [inner]).some((part) => ["", ".", ".."].includes(part));
  if (isWrong && !(isPath && text === "/")) throw invalid(name, "cannot be empty, '.' or '..' in a path.");
  return inner;
}

function bodyOf(request: HttpRequest, args: JsonObject): Body | undefined {
  const { body: form, body_param: param = "", body_template: template, method, params } = request;
  const isWhole = request.body_param !== undefined || template !== undefined;
  const value = template === undefined ? args[param] : (filled(template, args) ?? null);
  const fields = isWhole ? partsOf(request, param, value) : given(request, args, "body");
  // A method that expects a body gets an empty one; any other gets none.
  const hasBody = ["POST", "PUT", "PATCH"].includes(method) && Object.values(params).some((one) => one.in === "body");
  if (isWhole ? value === undefined : fields?.length === 0 && !hasBody) return undefined;
  const typed = (text: string, type: string): Body => ({ bytes: Buffer.from(text, "utf8"), type });
  if (form === "binary") return { bytes: fileOf(param, value), type: "application/octet-stream" };
  if (form === "text") return typed(scalar(value) ?? "", "text/plain; charset=utf-8");
  if (form === "form") {
    const text = fields?.flatMap((field) => formPairs(field.name, field.value, field.style)).join("&");
    return typed(text ?? scalar(value) ?? "", "application/x-www-form-urlencoded");
  }
  if (form === "multipart" && fields !== undefined) return multipart(fields, request.content_type);
  if (form === "multipart") throw unusable("the parameter that is the whole multipart body is no object");
  const object = Object.fromEntries((fields ?? []).map((field) => [field.name, field.value]));
  return typed(stringify(isWhole ? value : object), "application/json");
}

/** A template with its parameters. Members without an argument are left out, as are items at the end; other items are null. */
function filled(template: unknown, args: JsonObject): unknown {
  const [, name] = typeof template === "string" ? (/^\{([a-z][a-z0-9_]*)\}$/.exec(template) ?? []) : [];
  if (name !== undefined) return args[name];
  const items = Array.isArray(template) ? template.map((item) => filled(item, args)) : undefined;
  if (items) return items.slice(0, items.findLastIndex((item) => item !== undefined) + 1).map((item) => item ?? null);
  if (!isObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([key, item]) => [key, filled(item, args)]));
}

/** The fields of a parameter that is the whole body; `undefined` if it is no object. */
function partsOf(request: HttpRequest, param: string, value: unknown): Field[] | undefined {
  if (!isObject(value)) return undefined;
  const [files, style] = [request.params[param]?.file, styleOf({ in: "body" })];
  const isFile = (name: string): boolean => Array.isArray(files) && files.includes(name);
  return Object.entries(value).map(([name, item]) => ({ name, param, file: isFile(name), style, value: item }));
}

/** Decodes base64 of either alphabet, with or without padding and line breaks. */
function fileOf(param: string, value: unknown): Buffer {
  const text = typeof value === "string" ? value.replace(/[ \t\n\f\r]/g, "").replace(/={1,2}$/, "") : "?";
  const bytes = Buffer.from(text, "base64");
  // Buffer skips what is no base64, so the bytes must give the same text.
  if ([bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")].includes(text)) return bytes;
  throw invalid(param, "is a file and must be base64 text; encode its bytes.", "VALIDATION_INVALID_ENCODING");
}

/** A multipart body: one part for each item of a list, JSON for objects, plain text for other values. */
function multipart(fields: readonly Field[], named: string | undefined): Body {
  const boundary = `mcpaql-${randomUUID()}`;
  const parts = fields.flatMap((field) => {
    const isJson = field.style.form === "json" && !field.file;
    const items = (isJson ? [field.value] : [field.value].flat()).filter((item) => item !== null);
    return items.flatMap((item) => [...part(boundary, field, item), Buffer.from("\r\n")]);
  });
  const kind = named?.startsWith("multipart/") === true ? named : "multipart/form-data";
  const bytes = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return { bytes, type: `${kind}; boundary=${boundary}` };
}

function part(boundary: string, field: Field, value: unknown): Buffer[] {
  // Characters that would end the quotes or the line are percent-encoded, as browsers do.
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
    throw invalid(field.param, "has a content_type of the wrong form; send one such as 'image/png' or leave it out.");
  }
  // Folders of the sender are private, and a receiver might follow `..`.
  const named = typeof file["filename"] === "string" ? (file["filename"].split(/[/\\]/).at(-1) ?? "") : "";
  const filename = ["", ".", ".."].includes(named) ? field.name : named;
  return [head(`; filename="${quote(filename)}"\r\nContent-Type: ${type}`), bytes];
}

// ---- Values outside a JSON body: OpenAPI's `style`, `explode` and `allowReserved`

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
