// The headers of a request: the target's, those of parameters, the cookies among them, and what the body is called.
//
// What always holds: names are in lower case; no value adds a header or a cookie; no parameter sets one that belongs to the
// connection or to the credentials; there is one `cookie` header at most.

import type { Reserved } from "../auth.js";
import { type Template, parseTemplate, variablesOf } from "../environment.js";
import { OpError } from "../errors.js";
import type { JsonObject } from "../values.js";
import { own } from "../values.js";
import { hasControl, splitOnce } from "../lines.js";
import { SetupError } from "./address.js";
import type { HttpParam, HttpRequest } from "./binding.js";
import { styleOf, wireOf } from "./binding.js";
import { Pairs, headerText } from "./style.js";

/** Headers of a message, by their names in lower case. */
export type Headers = Map<string, string>;

/** Headers that no document and no parameter sets: they frame the message or name its receiver. */
const FRAMING: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that carry a credential, which a caller must not choose. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

/** The header's name in lower case; `undefined` where it is none. */
export function headerName(name: string): string | undefined {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) ? name.toLowerCase() : undefined;
}

/** Whether a header can carry the text. */
export function isSendable(text: string): boolean {
  return !/[\x00-\x08\x0a-\x1f\x7f]/.test(text);
}

/** Whether a header belongs to the connection. */
export function isFraming(name: string): boolean {
  return FRAMING.has(name);
}

/** A target's headers, plain or secret; what they keep for the server is added to `reserved`. Throws a `SetupError`. */
export function targetHeaders(
  headers: Readonly<Record<string, string>>,
  reserved: Reserved,
): { readonly plain: Headers; readonly secret: [string, Template][] } {
  const plain: Headers = new Map();
  const secret: [string, Template][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const wrong = (reason: string): SetupError => new SetupError(`the header '${name}' ${reason}`);
    const header = headerName(name);
    if (header === undefined) throw wrong("is not a header name; correct it");
    if (isFraming(header)) throw wrong("is set by the connection itself; remove it from the target");
    if (header === "cookie") {
      for (const pair of value.split(";")) reserved.cookies.add((pair.split("=")[0] ?? "").trim());
    }
    const template = parseTemplate(value);
    if (template === undefined) throw wrong("holds a ${env:NAME} that is not closed");
    if (variablesOf(template).length > 0) {
      reserved.headers.add(header);
      secret.push([header, template]);
    } else {
      if (!isSendable(value)) throw wrong("holds characters that cannot be sent; correct its value");
      plain.set(header, value);
    }
  }
  return { plain, secret };
}

/** The operation cannot be sent, whoever calls it. */
export function unusableDocument(cause: string): OpError {
  return new OpError(
    "INTERNAL_ERROR",
    "This operation cannot be sent as its document describes it; tell the operator to check the document.",
  ).because(cause);
}

/** The name belongs to the credentials or to the connection. */
export function notYours(what: string, param: string, wire: string): OpError {
  return new OpError(
    "VALIDATION_INVALID_VALUE",
    `Leave out parameter '${param}': the ${what} '${wire}' is set by the server alone.`,
  ).with("param_name", param);
}

/** The parameters of that place that were given, in the order of the document. */
export function given(request: HttpRequest, args: JsonObject, place: HttpParam["in"]): [string, HttpParam, unknown][] {
  return Object.entries(request.params).flatMap(([name, param]): [string, HttpParam, unknown][] => {
    const value = own(args, name);
    return param.in === place && value !== undefined ? [[name, param, value]] : [];
  });
}

/** The document's own name for the body stands before the target's, which is meant for its usual bodies. */
export function declareType(headers: Headers, request: HttpRequest): void {
  if (request.contentType !== undefined) {
    if (!/^[\t\x20-\x7e]*$/.test(request.contentType)) throw unusableDocument("the content type cannot be sent");
    headers.set("content-type", request.contentType);
  } else if ((request.body ?? "json") !== "json") {
    headers.delete("content-type");
  }
}

/** The header of a parameter. */
export function setHeader(reserved: Reserved, headers: Headers, [name, param, value]: [string, HttpParam, unknown]): void {
  const wire = wireOf(name, param);
  const header = headerName(wire);
  if (header === undefined) throw unusableDocument(`${JSON.stringify(wire)} is no header name`);
  const text = headerText(value, styleOf(param));
  if (text === undefined) return;
  if (isFraming(header) || CREDENTIALS.has(header) || reserved.headers.has(header)) throw notYours("header", name, wire);
  if (hasControl(text, "\t")) {
    throw new OpError(
      "VALIDATION_INVALID_ENCODING",
      `Parameter '${name}' travels in a header; send it without line breaks and control characters.`,
    ).with("param_name", name);
  }
  headers.set(header, text);
}

/** The cookies of parameters join those of the target in its one header. */
export function setCookies(reserved: Reserved, headers: Headers, request: HttpRequest, args: JsonObject): void {
  let all = "";
  for (const [name, param, value] of given(request, args, "cookie")) {
    const cookies = Pairs.cookies();
    cookies.append(wireOf(name, param), value, styleOf(param));
    const text = cookies.text();
    const names = text.split("; ").flatMap((pair) => splitOnce(pair, "=")?.[0] ?? []);
    // Servers differ in whether they decode a name, so it is compared both ways.
    const taken = names.find((cookie) => reserved.cookies.has(cookie) || reserved.cookies.has(decoded(cookie)));
    if (taken !== undefined) throw notYours("cookie", name, taken);
    all = joinCookies(all, text);
  }
  if (all !== "") headers.set("cookie", joinCookies(headers.get("cookie") ?? "", all));
}

/** The text behind a percent-encoding, as far as it is one. */
export function decoded(text: string): string {
  const bytes = text.replace(/%([0-9A-Fa-f]{2})|[^\x00-\x7f]/gu, (found, hex: string | undefined) =>
    hex === undefined ? Buffer.from(found, "utf8").toString("latin1") : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** Cookies, and more behind those that are there. */
export function joinCookies(cookies: string, more: string): string {
  return cookies !== "" && more !== "" ? `${cookies}; ${more}` : cookies + more;
}
