// A tool that failed → an `OpError` that an agent can act on, with the upstream's own words.
//
// What always holds: the message is one line without secrets, and quotes the upstream only where it says nothing of its insides;
// what it said stands capped and masked in `details.upstream`.

import { type Code, OpError, codeNamed } from "../errors.js";
import { SHOWN_BYTES, advice, quotable, upstreamMessage } from "../http/failure.js";
import { splitOnce } from "../lines.js";
import type { Mask } from "../secrets.js";
import { byteLength, isAlphanumeric, takeBytes, trim } from "../text.js";
import { type JsonObject, isObject, jsonText, own } from "../values.js";

/** Words by which a tool says what went wrong, in the order they are looked for. A guess, and only about the code. */
const WORDS: readonly (readonly [Code, readonly string[]])[] = [
  ["NOT_FOUND_OPERATION", ["unknown tool", "tool not found", "no such tool"]],
  ["RATE_LIMIT_EXCEEDED", ["rate limit", "too many requests", "quota exceeded"]],
  [
    "PERMISSION_DENIED",
    [
      "permission denied",
      "access denied",
      "unauthorized",
      "not authorized",
      "forbidden",
      "eacces",
      "authentication",
      "not allowed",
    ],
  ],
  ["CONFLICT_ALREADY_EXISTS", ["already exists", "eexist", "conflict"]],
  ["NOT_FOUND_RESOURCE", ["not found", "no such", "does not exist", "doesn't exist", "enoent"]],
  ["TRANSPORT_TIMEOUT", ["timed out", "timeout exceeded", "timeout after", "timeout of"]],
  [
    "VALIDATION_INVALID_VALUE",
    [
      "invalid",
      "validation",
      "required",
      "missing",
      "must be",
      "must not",
      "expected",
      "unexpected",
      "not a valid",
      "out of range",
      "too long",
      "too short",
      "unsupported",
      "unknown",
    ],
  ],
];

/** The error for a result with `isError`: what the tool said is text, or JSON where it is that. */
export function toolError(value: unknown, mask: Mask): OpError {
  const said = mask.applyValue(value);
  const lower = (typeof said === "string" ? said : jsonText(said)).toLowerCase();
  const code = WORDS.find(([, words]) => words.some((word) => lower.includes(word)))?.[0] ?? "INTERNAL_ERROR";
  return failure("The tool failed", code, typeof said === "string" ? said : upstreamMessage(said), said);
}

/** The error for a call that was answered with an error of JSON-RPC. */
export function refused(number: number, message: string, data: unknown, mask: Mask): OpError {
  const words = mask.apply(message);
  const said: Record<string, unknown> = { code: number, message: words };
  if (data !== undefined && data !== null) said["data"] = mask.applyValue(data);
  return failure("The MCP server refused the call", codeOf(number, words.toLowerCase()), words, said);
}

function codeOf(number: number, lower: string): Code {
  switch (number) {
    case -32601:
      return "NOT_FOUND_OPERATION";
    case -32602: {
      const isUnknown = lower.includes("unknown tool") || (lower.includes("tool") && lower.includes("not found"));
      return isUnknown ? "NOT_FOUND_OPERATION" : "VALIDATION_INVALID_VALUE";
    }
    case -32002:
      return "NOT_FOUND_RESOURCE";
    // Somebody has to open an address first; it stands in the data.
    case -32042:
      return "CONFIRMATION_REQUIRED";
    default:
      return "INTERNAL_ERROR";
  }
}

/** The error of an upstream that answers with envelopes like ours; `undefined` where it is none. */
export function passedOn(error: JsonObject, mask: Mask): OpError | undefined {
  const [code, message, details] = [own(error, "code"), own(error, "message"), own(error, "details")];
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  const words = mask.apply(message);
  const known = codeNamed(code);
  const isShown = quotable(words) !== undefined && byteLength(words) <= SHOWN_BYTES;
  const passed = isShown
    ? new OpError(known ?? "INTERNAL_ERROR", words)
    : failure("The tool failed", known ?? "INTERNAL_ERROR", undefined, words);
  const masked = mask.applyValue(details);
  if (isObject(masked) && byteLength(jsonText(masked)) <= SHOWN_BYTES) Object.assign(passed.details, masked);
  return known === undefined ? passed.with("upstream_code", code) : passed;
}

function failure(what: string, code: Code, words: string | undefined, said: unknown): OpError {
  const quote = words === undefined ? undefined : quotable(softened(words));
  const isSilent = said === null || said === "";
  let message = `${what}, see details.upstream; ${adviceOn(code)}.`;
  if (quote !== undefined) message = `${what}: ${quote}; ${adviceOn(code)}.`;
  else if (isSilent) message = `${what} and said nothing; ${adviceOn(code)}.`;
  const error = new OpError(code, message);
  return isSilent ? error : error.with("upstream", capped(said));
}

function adviceOn(code: Code): string {
  switch (code) {
    case "NOT_FOUND_OPERATION":
      return "the server may have changed its tools, so tell the user";
    case "CONFIRMATION_REQUIRED":
      return "ask the user to do what details.upstream says";
    case "PERMISSION_DENIED":
      return "ask for what it allows, or tell the user";
    default:
      return advice(code);
  }
}

/**
 * The words without the library's own introduction, and with the place of a wrong value put so that nobody takes it for a line of a
 * stack trace: `expected number at limit` is how validators of half the servers speak.
 */
export function softened(text: string): string {
  const words = trim(text);
  const introduced = words.startsWith("MCP error ") ? splitOnce(words.slice("MCP error ".length), ": ") : undefined;
  const [number, rest] = introduced ?? ["", ""];
  const [first = "", ...others] = (/^[+-]?\d{1,18}$/.test(number) ? rest : words).split(" at ");
  return first + others.map((piece) => `${isField(piece) ? " for " : " at "}${piece}`).join("");
}

function isField(piece: string): boolean {
  const chars = Array.from(piece);
  const end = chars.findIndex((char) => !(isAlphanumeric(char) || "_.[]$".includes(char)));
  if (end < 0) return chars.length > 0;
  return end > 0 && [";", ",", "\n"].includes(chars[end] ?? "");
}

/** As it is where it is short, else the beginning of its text. It is masked already, so a cut leaves no half of a secret. */
function capped(said: unknown): unknown {
  const text = typeof said === "string" ? said : jsonText(said);
  if (byteLength(text) <= SHOWN_BYTES) return said;
  return `${takeBytes(text, SHOWN_BYTES - byteLength("…"))}…`;
}
