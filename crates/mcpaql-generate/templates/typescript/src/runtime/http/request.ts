// An operation and its arguments → one request, without credentials.
//
// What always holds: the URL has the origin and the path prefix of the base and as many segments as the template, or more where a
// parameter's style is `segments`, but never one that leads upwards; a placeholder is never sent unfilled; no parameter sets a
// header, a query parameter or a cookie that belongs to the connection or to the credentials.

import type { Reserved } from "../auth.js";
import { OpError } from "../errors.js";
import type { JsonObject } from "../values.js";
import { own } from "../values.js";
import { splitOnce } from "../lines.js";
import { byteLength } from "../text.js";
import type { HttpRequest } from "./binding.js";
import { segmentsOf, styleOf, wireOf } from "./binding.js";
import { bodyOf } from "./body.js";
import type { Headers } from "./headers.js";
import { declareType, decoded, given, notYours, setCookies, setHeader, unusableDocument } from "./headers.js";
import { Pairs, hexOf, pathText } from "./style.js";

/** A request before credentials are added. */
export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  /** The cookies of parameters among them. */
  readonly headers: Headers;
  readonly body: Buffer | undefined;
}

/** What the request of a call starts from. */
export interface Frame {
  /** Without query, fragment and user information. */
  readonly base: URL;
  /** The target's headers that hold no secret. */
  readonly headers: Headers;
  /** What only the server sets. */
  readonly reserved: Reserved;
  /** Separates the parts of a multipart body. */
  readonly boundary: () => string;
}

/** Longest address that is sent; servers and proxies refuse far shorter ones. */
const MAX_URL_BYTES = 32 * 1024;

/** Builds the request of a call. */
export function build(frame: Frame, request: HttpRequest, args: JsonObject): Outgoing {
  const url = urlOf(frame, request, args);
  const headers = new Map(frame.headers);
  if (!headers.has("accept")) headers.set("accept", "application/json, text/*;q=0.8, */*;q=0.5");
  declareType(headers, request);
  for (const param of given(request, args, "header")) setHeader(frame.reserved, headers, param);
  setCookies(frame.reserved, headers, request, args);
  const body = bodyOf(request, args, frame.boundary);
  if (body === undefined) {
    headers.delete("content-type");
  } else {
    const named = headers.get("content-type");
    // What a form or a multipart body is called tells how it is read.
    const fixed = request.body === "multipart" || (request.body === "form" && !isForm(named));
    if (fixed || named === undefined) headers.set("content-type", body.contentType);
  }
  return { method: request.method, url, headers, body: body?.bytes };
}

function isForm(contentType: string | undefined): boolean {
  return contentType?.startsWith("application/x-www-form-urlencoded") === true;
}

function urlOf(frame: Frame, request: HttpRequest, args: JsonObject): URL {
  const filled = fill(request, args);
  const prefix = frame.base.pathname.replace(/\/+$/, "");
  const slash = filled.path === "" || filled.path.startsWith("/") ? "" : "/";
  const full = `${prefix}${slash}${filled.path}`;
  const url = new URL(frame.base);
  url.pathname = full;
  // Setting a path normalises it. Whatever it would change is a way out of the template, so nothing may change.
  if (url.pathname !== full && !(full === "" && url.pathname === "/")) {
    throw unusableDocument("the path does not survive normalisation");
  }
  const query = Pairs.query(filled.query);
  for (const [name, param, value] of given(request, args, "query")) query.append(wireOf(name, param), value, styleOf(param));
  url.search = query.text() === "" ? "" : `?${query.text()}`;
  const taken = [...frame.reserved.query].find((key) => url.searchParams.has(key));
  if (taken !== undefined) throw notYours("query parameter", taken, taken);
  if (url.origin !== frame.base.origin) throw unusableDocument("the request leaves the origin of the base URL");
  const length = byteLength(url.href);
  if (length > MAX_URL_BYTES) {
    throw new OpError(
      "VALIDATION_PAYLOAD_TOO_LARGE",
      `The address of the request would have ${length} bytes, more than the ${MAX_URL_BYTES} that can be sent. Use shorter values.`,
    )
      .with("limit", "max_url_size")
      .with("actual", length)
      .with("maximum", MAX_URL_BYTES);
  }
  return url;
}

/** What literals of a template may not hold as they are is encoded; `%` stays, since authors write `%2F` themselves. */
function literal(text: string): string {
  return text.replace(/[\x00-\x20"#<>?\\^`{|}\x7f]|[^\x00-\x7f]/gu, hexOf);
}

/** The filled path, and the query that the template itself holds. */
function fill(request: HttpRequest, args: JsonObject): { path: string; query: string } {
  let path = "";
  let query: string | undefined;
  for (const segment of segmentsOf(request.path)) {
    if ("param" in segment) {
      const value = pathValue(request, segment.param, args);
      if (query === undefined) path += value;
      else query += value;
      continue;
    }
    if (query !== undefined) {
      query += literal(segment.literal);
      continue;
    }
    const [before, after] = splitOnce(segment.literal, "?") ?? [segment.literal, undefined];
    path += literal(before);
    if (after !== undefined) query = literal(after);
  }
  // A literal and a value together may still spell a dot segment: `.{x}` with `.`.
  if (path.split("/").map(decoded).some((part) => part === "." || part === "..")) {
    throw new OpError(
      "VALIDATION_INVALID_VALUE",
      "The path parameters would spell '.' or '..', which is no identifier; send the real identifiers.",
    );
  }
  return { path, query: query ?? "" };
}

function pathValue(request: HttpRequest, name: string, args: JsonObject): string {
  const param = request.params[name] ?? { in: "path" };
  const style = styleOf(param);
  const text = pathText(wireOf(name, param), own(args, name), style);
  if (text === undefined) {
    throw new OpError(
      "VALIDATION_MISSING_PARAM",
      `Missing required parameter '${name}'; it is part of the path of this operation.`,
    ).with("param_name", name);
  }
  if (style.form === "segments") return innerPath(name, text);
  if (["", ".", ".."].includes(text)) {
    throw new OpError(
      "VALIDATION_INVALID_VALUE",
      `Parameter '${name}' is part of a path and cannot be empty, '.' or '..'; send a real identifier.`,
    ).with("param_name", name);
  }
  return text;
}

/** A path inside the template's. `/` alone is the folder that the template names; an empty text is a mistake. */
function innerPath(name: string, text: string): string {
  const inner = text.replace(/^\//, "").replace(/\/$/, "");
  if (text === "/" || inner.split("/").every((part) => !["", ".", ".."].includes(part))) return inner;
  throw new OpError(
    "VALIDATION_INVALID_VALUE",
    `Parameter '${name}' is a path without empty parts, '.' and '..'; send it as 'folder/file'.`,
  ).with("param_name", name);
}
