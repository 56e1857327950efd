// An answer that is no success → an `OpError` that an agent can act on.
//
// What always holds: the message is one line without secrets, and quotes the upstream only where it says nothing of its insides;
// the upstream's own words stand capped and masked in `details.upstream`.

import { isUtf8 } from "node:buffer";
import { STATUS_CODES } from "node:http";
import type { Code } from "../errors.js";
import { OpError } from "../errors.js";
import { isArray, isObject, jsonText, own, parseValue } from "../values.js";
import type { Mask } from "../secrets.js";
import { lines } from "../lines.js";
import { byteLength, charCount, splitBlanks, take, takeBytes, trim, trimEnd, trimStart } from "../text.js";
import type { Received } from "./connection.js";
import { retryAfter } from "./retry.js";

/** How much of an upstream's error is passed on. */
export const SHOWN_BYTES = 4096;
/** How much of an upstream's error is read. */
export const READ_BYTES = 64 * 1024;
/** How much of an upstream's message becomes part of ours, in characters. */
const MESSAGE_CHARS = 240;

/** Words by which an upstream says that a value, not a type, was wrong. A guess that decides between two codes only. */
const VALUE_WORDS = [
  "invalid value",
  "invalid_value",
  "must be one of",
  "is not one of",
  "not included in the list",
  "out of range",
  "must be greater",
  "must be less",
  "too long",
  "too short",
];

/** Words that a dump of the upstream's state begins with. */
const TRACE_WORDS = ["traceback", "stack trace", "stacktrace", "panicked", "exception in thread"];

const PUNCTUATION = /[!-.:-@[\]^_`{|}]/;
const SOURCE_KINDS = ["php", "py", "rb", "js", "mjs", "ts", "java", "kt", "go", "rs", "cs", "c", "cpp", "pl"];

/** Where APIs put what they say. */
const MESSAGE_KEYS = ["message", "error_description", "error", "detail", "title", "msg", "errors", "reason"];

/** The error for the caller; `cut` where the body goes on. */
export function failureOf(response: Received, body: Buffer, cut: boolean, mask: Mask): OpError {
  const { status } = response;
  const shown = shownBody(response, body, cut, mask);
  const code = codeOf(status, shown);
  const message = upstreamMessage(shown);
  const quoted = message === undefined ? undefined : quotable(message);
  const said =
    quoted === undefined
      ? `The API answered ${status}${reasonOf(status)}${message === undefined ? "" : ", see details.upstream"}`
      : `The API answered ${status}: ${quoted}`;
  const error = new OpError(code, `${said}; ${advice(code)}.`);
  const wait = retryAfter(response, Date.now());
  if (wait !== undefined) error.with("retry_after_seconds", Math.ceil(wait / 1000));
  return error.with("upstream", shown === null ? { status } : { status, body: shown });
}

function reasonOf(status: number): string {
  const unusual: Readonly<Record<number, string | undefined>> = { 418: "I'm a teapot", 509: undefined };
  const reason = status in unusual ? unusual[status] : STATUS_CODES[status];
  return reason === undefined ? "" : ` (${reason})`;
}

/** Parsed where it is JSON that fits, else text; masked before it is cut, so that no half of a secret remains. */
function shownBody(response: Received, body: Buffer, cut: boolean, mask: Mask): unknown {
  const value = cut || !isUtf8(body) ? undefined : parseValue(body.toString("utf8"));
  if (value !== undefined) {
    const masked = mask.applyValue(value);
    if (byteLength(jsonText(masked)) <= SHOWN_BYTES) return masked;
  }
  let text = mask.apply(trim(body.toString("utf8")));
  if (cut) text = takeBytes(text, byteLength(text) - mask.longest());
  if (text === "") return null;
  if (byteLength(text) > SHOWN_BYTES) text = `${takeBytes(text, SHOWN_BYTES - byteLength("…"))}…`;
  const html = response.bytes("content-type")?.toString("latin1").startsWith("text/html") === true;
  return html ? withoutTags(text) : text;
}

/** Error pages: what a browser would show is all an agent can use. */
function withoutTags(html: string): string {
  return splitBlanks(html.replace(/<[^>]*(>|$)/g, (tag) => (tag.endsWith(">") ? " " : ""))).join(" ");
}

function codeOf(status: number, body: unknown): Code {
  if ((status === 400 || status === 422) && saysValue(body)) return "VALIDATION_INVALID_VALUE";
  switch (status) {
    case 401:
    case 402:
    case 403:
    case 451:
      return "PERMISSION_DENIED";
    case 404:
    case 410:
      return "NOT_FOUND_RESOURCE";
    case 408:
      return "TRANSPORT_TIMEOUT";
    case 409:
    case 423:
      return "CONFLICT_ALREADY_EXISTS";
    case 412:
    case 428:
      return "CONFLICT_VERSION_MISMATCH";
    case 413:
    case 414:
    case 431:
      return "VALIDATION_PAYLOAD_TOO_LARGE";
    case 429:
      return "RATE_LIMIT_EXCEEDED";
    // The method is the document's, so the agent cannot repair it.
    case 405:
      return "INTERNAL_ERROR";
    default:
      return status >= 400 && status < 500 ? "VALIDATION_INVALID_TYPE" : "INTERNAL_ERROR";
  }
}

function saysValue(body: unknown): boolean {
  const text = jsonText(body).toLowerCase();
  return VALUE_WORDS.some((said) => text.includes(said));
}

export function advice(code: Code): string {
  switch (code) {
    case "VALIDATION_INVALID_VALUE":
      return "correct the value and call again";
    case "VALIDATION_INVALID_TYPE":
      return "correct the parameters and call again";
    case "PERMISSION_DENIED":
      return "tell the user that the credentials of this server do not allow it";
    case "NOT_FOUND_RESOURCE":
      return "check the identifiers, or list or search first";
    case "CONFLICT_ALREADY_EXISTS":
      return "read the present state before changing it";
    case "CONFLICT_VERSION_MISMATCH":
      return "read it again and repeat the change with the new version";
    case "VALIDATION_PAYLOAD_TOO_LARGE":
      return "send less in one call";
    case "RATE_LIMIT_EXCEEDED":
      return "wait before calling again";
    default:
      return "try later or tell the user";
  }
}

/** What the upstream itself says, from the places where APIs put it. */
export function upstreamMessage(body: unknown): string | undefined {
  if (typeof body === "string") {
    // A page of text is no message.
    return charCount(body) <= MESSAGE_CHARS && trim(body) !== "" ? body : undefined;
  }
  if (isArray(body)) return upstreamMessage(body[0]);
  if (!isObject(body)) return undefined;
  return MESSAGE_KEYS.map((key) => upstreamMessage(own(body, key))).find((message) => message !== undefined);
}

/** The first line, capped and without a final full stop; `undefined` where the text shows the insides of the upstream. */
export function quotable(text: string): string | undefined {
  if (showsInsides(text)) return undefined;
  const first = lines(text)
    .map(trim)
    .find((line) => line !== "");
  const line = trimEnd(pieces(first ?? "").join(" "), /[.!;,:]/);
  if (charCount(line) > MESSAGE_CHARS) return `${take(line, MESSAGE_CHARS)}…`;
  return line === "" ? undefined : line;
}

function pieces(text: string): string[] {
  return text.split(/[\p{White_Space}\p{Cc}]+/u).filter((piece) => piece !== "");
}

/** Whether a text names a file of the upstream's machine or reads like a stack trace, of which "at <word>" is a frame. */
function showsInsides(text: string): boolean {
  const lower = text.toLowerCase();
  if (TRACE_WORDS.some((trace) => lower.includes(trace))) return true;
  let afterAt = false;
  return pieces(lower).some((piece) => {
    const word = trimEnd(trimStart(piece, PUNCTUATION), PUNCTUATION);
    const framed = afterAt && word !== "";
    afterAt = word === "at";
    return framed || word.split(/[(="'`[<,]/).some(isFilePath);
  });
}

/** An absolute path of at least two parts, one on a Windows drive or share, or a source file with a folder or a line. */
function isFilePath(word: string): boolean {
  const path = word.replace(/^file:\/\//, "");
  if (path.includes("://")) return false;
  const fromRoot = /^~?\/(.*)$/s.exec(path)?.[1];
  const [file = "", line = ""] = path.split(/:(.*)/s);
  const dot = file.lastIndexOf(".");
  const placed = /[/\\]/.test(file.slice(0, Math.max(dot, 0))) || /^[0-9]/.test(line);
  const isSource = dot >= 0 && placed && SOURCE_KINDS.includes(file.slice(dot + 1));
  return (
    (fromRoot !== undefined && trimEnd(fromRoot, /\//).includes("/")) || /^[\x00-\x7f]:\\/.test(path) || path.startsWith("\\\\") || isSource
  );
}
