// Turns the answer of an API into data, or into an error that an agent can act on.

import { isUtf8 } from "node:buffer";
import type { Secrets } from "./auth.js";
import { type Code, type Job, OpError } from "./errors.js";
import { type JsonObject, arrayOf, isJson, stringify, tryParse } from "./json.js";

/** An answer. `cut` means that the body is not complete. */
export type Received = Readonly<{ status: number; body: Buffer; cut: boolean }> &
  Readonly<{ header: (name: string) => string | undefined }>;

const SHOWN_BYTES = 4096; // maximum of an error's body in `details.upstream`
const HEAD_HEADERS = "accept-ranges allow content-length content-type etag last-modified x-total-count".split(" ");
const LINES = /^application\/(?:x-ndjson|ndjson|jsonl|json-lines|x-jsonlines)$/;
const TEXT =
  /^text\/|\+xml$|\+yaml$|^application\/(?:xml|javascript|yaml|x-yaml|toml|graphql|x-www-form-urlencoded|sql|x-sh)$/;
const LATIN = /;\s*charset\s*=\s*"*(?:iso-8859-1|latin-?1)"*\s*(?:;|$)/i;

/** The data of a successful answer, with secrets masked. */
export function decode(method: string, received: Received, secrets: Secrets, job: Job<unknown>): unknown {
  const { status, body } = received;
  if (status === 304) job.warn({ code: "NOT_MODIFIED", message: "Nothing changed since the given version." });
  if (method === "HEAD" && status !== 304) {
    const told = HEAD_HEADERS.map((name) => [name, secrets.mask(received.header(name) ?? "")]);
    return { status, headers: Object.fromEntries(told.filter(([, value]) => value !== "")) as JsonObject };
  }
  if (body.length === 0 || [204, 205, 304].includes(status)) return null;
  const label = received.header("content-type") ?? "";
  const type = label.replace(/;.*/s, "").trim().toLowerCase();
  const isText = isUtf8(body);
  const text = body.toString("utf8");
  const plain = isText ? text.replace(/^\ufeff+/, "") : text;
  const isLines = LINES.test(type);
  const saysJson = isLines || /^(?:application|text)\/json$|\+json$/.test(type);
  const json = isLines ? arrayOf(text) : plain;
  if ((saysJson || type === "") && isText && isJson(json)) return job.read(secrets.maskJson(json));
  if (saysJson) {
    const message = "The content type is JSON, but the answer is not valid JSON; `data` contains its text.";
    job.warn({ code: "UPSTREAM_NOT_JSON", message });
    return secrets.mask(text);
  }
  if (TEXT.test(type) || (type === "" && isText)) {
    if (LATIN.test(label)) return secrets.mask(body.toString("latin1"));
    const message = "The answer is not UTF-8; U+FFFD replaces unreadable characters.";
    if (!isText) job.warn({ code: "TEXT_LOSSY", message });
    return secrets.mask(plain);
  }
  const media_type = type === "" ? "application/octet-stream" : type;
  return { media_type, encoding: "base64", data: body.toString("base64") };
}

const CODES: readonly (readonly [Code, readonly number[], string])[] = [
  ["PERMISSION_DENIED", [401, 402, 403, 451], "tell the user; the credentials of this server do not allow it"],
  ["NOT_FOUND_RESOURCE", [404, 410], "check the identifiers, or list or search first"],
  ["CONFLICT_ALREADY_EXISTS", [409, 423], "read the present state before changing it"],
  ["CONFLICT_VERSION_MISMATCH", [412, 428], "read it again and send the change with the new version"],
  ["VALIDATION_PAYLOAD_TOO_LARGE", [413, 414, 431], "send less in one call"],
  ["RATE_LIMIT_EXCEEDED", [429], "wait before calling again"],
  ["TRANSPORT_TIMEOUT", [408], "try later or tell the user"],
  ["INTERNAL_ERROR", [405], "tell the user"],
];

/** Phrases in which an API reports a wrong value, not a wrong type. */
const VALUE =
  /invalid[ _]value|(?:must be|is not) one of|not included in the list|out of range|must be (?:gr|less)|too (?:lo|sh)/;

/** The error for a failed request, with the answer in `details.upstream`. */
export function failureOf(received: Received, secrets: Secrets): OpError {
  const { status } = received;
  const body = shown(received, secrets) ?? undefined;
  const saysValue = (status === 400 || status === 422) && VALUE.test(stringify(body).toLowerCase());
  const usual = status >= 400 && status < 500 ? "VALIDATION_INVALID_TYPE" : "INTERNAL_ERROR";
  const [own = usual, , advice = usual === "INTERNAL_ERROR" ? "try later" : "correct the parameters and call again"] =
    CODES.find(([, statuses]) => statuses.includes(status)) ?? [];
  const code = saysValue ? "VALIDATION_INVALID_VALUE" : own;
  const wait = retryAfter(received.header("retry-after"));
  const see = body === undefined ? "" : ", see details.upstream";
  const retry_after_seconds = wait === undefined ? undefined : Math.ceil(wait / 1000);
  const details = { http_status: status, retry_after_seconds, upstream: { status, body } };
  return new OpError(code, `The API answered ${status}${see}; ${advice}.`, details);
}

/** The body for an error: JSON if it is short, otherwise the start of its text. */
function shown(received: Received, secrets: Secrets): unknown {
  const text = received.body.toString("utf8").trim();
  const value = received.cut || !isJson(text) ? undefined : tryParse(secrets.maskJson(text));
  if (text === "" || (value !== undefined && Buffer.byteLength(stringify(value)) <= SHOWN_BYTES)) return value;
  // Masked before it is cut, so that no part of a secret remains.
  const masked = Buffer.from(secrets.mask(text), "utf8");
  const start = masked.subarray(0, SHOWN_BYTES).toString("utf8").replace(/\ufffd+$/, "");
  const said = masked.length <= SHOWN_BYTES ? masked.toString("utf8") : `${start}…`;
  const isHtml = received.header("content-type")?.startsWith("text/html") === true;
  return isHtml ? said.replace(/<[^<>]*>/g, " ").replace(/\s+/g, " ").trim() : said;
}

/** The milliseconds of a `Retry-After` header, which has seconds or a date. */
export function retryAfter(text = ""): number | undefined {
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1000;
  const date = /GMT\s*$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
