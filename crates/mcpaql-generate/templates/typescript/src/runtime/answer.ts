// Turns the answer of an API into data, or into an error that an agent can act on.

import { isUtf8 } from "node:buffer";
import type { Secrets } from "./auth.js";
import { type Code, type Job, OpError, blocks } from "./errors.js";
import { type JsonObject, RawJson, arrayOf, isJson, isObject, parse, select, stringify, tryParse } from "./json.js";
import type { ErrorRule, HttpRequest } from "./request.js";

type Work = Job<HttpRequest>;
/** An answer. `cut` means that the body is not complete. */
export type Received = Readonly<{ status: number; body: Buffer; cut: boolean }> &
  Readonly<{ header: (name: string) => string | undefined }>;

/** The codes of failures by number (a status, or that of JSON-RPC) or by words, and what an agent can do about them. */
export type Failures = Readonly<{ codes: Record<string, Code>; value_words: readonly string[] }> &
  Readonly<{ words: readonly (readonly [Code, readonly string[]])[]; advice: Record<string, string> }>;

const SHOWN_BYTES = 4096; // maximum of an error's body in `details.upstream`
const HEAD_HEADERS = "accept-ranges allow content-length content-type etag last-modified x-total-count".split(" ");
const LINES = /^application\/(?:x-ndjson|ndjson|jsonl|json-lines|x-jsonlines)$/;
const TEXT =
  /^text\/|\+xml$|\+yaml$|^application\/(?:xml|javascript|yaml|x-yaml|toml|graphql|x-www-form-urlencoded|sql|x-sh)$/;
const LATIN = /;\s*charset\s*=\s*"*(?:iso-8859-1|latin-?1)"*\s*(?:;|$)/i;
/** The start of a whole HTML page, and the types under which servers send one in place of data. */
const PAGE = /^[\ufeff \t\r\n]*(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype html|html)/is;
const PAGE_TYPES = /^(?:|text\/html|application\/xhtml\+xml|text\/plain|.*json)$/;
const plainOf = (data: unknown): unknown => (data instanceof RawJson ? parse(data.text) : data);

/** The data of a successful answer, with secrets masked. */
export function answerOf(job: Work, method: string, received: Received, failures: Failures, secrets: Secrets): unknown {
  const { status, header } = received;
  if (status === 304) job.warn("NOT_MODIFIED", "Nothing changed since the given version.");
  if (method === "HEAD" && status !== 304) {
    const told = HEAD_HEADERS.map((name) => [name, secrets.mask(header(name) ?? "")]);
    return { status, headers: Object.fromEntries(told.filter(([, value]) => value !== "")) as JsonObject };
  }
  if ([204, 205, 304].includes(status)) return null;
  const { error, result } = job.binding;
  const data = decode(job, received, secrets);
  if (error !== undefined) refuseFailure(job, error, data, failures, secrets);
  const found = result === undefined ? data : select(data, result);
  if (found === undefined) job.warn("RESULT_NOT_FOUND", "The answer has no result; `data` is the whole answer.");
  const part = found ?? data;
  return part instanceof RawJson ? job.read(part) : part;
}

function decode(job: Work, received: Received, secrets: Secrets): unknown {
  const { status, body } = received;
  if (body.length === 0) return null;
  const [label = ""] = /^[\t -~]*$/.exec(received.header("content-type") ?? "") ?? [];
  const type = label.replace(/;.*/s, "").trim().toLowerCase();
  if (job.binding.page !== true && PAGE_TYPES.test(type) && PAGE.test(body.toString("utf8", 0, 1024))) {
    const upstream = { status, body: shown(received, secrets) };
    throw new OpError("INTERNAL_ERROR", `The API answered ${status} with an HTML page; it may be down.`, { upstream });
  }
  const isText = isUtf8(body);
  const text = body.toString("utf8");
  const plain = isText ? text.replace(/^\ufeff+/, "") : text;
  const isLines = LINES.test(type);
  const saysJson = isLines || /^(?:application|text)\/json$|\+json$/.test(type);
  const json = isLines ? arrayOf(text) : plain;
  if ((saysJson || type === "") && isText && isJson(json)) return new RawJson(secrets.maskJson(json));
  const isFile = !saysJson && !TEXT.test(type) && (type !== "" || !isText);
  if (isFile) return fileOf(job.operation, type === "" ? "application/octet-stream" : type, body);
  if (saysJson) job.warn("UPSTREAM_NOT_JSON", "The answer should be JSON, but is not; `data` contains its text.");
  else if (LATIN.test(label)) return secrets.mask(body.toString("latin1"));
  else if (!isText) job.warn("TEXT_LOSSY", "The answer is not UTF-8; U+FFFD replaces unreadable characters.");
  return secrets.mask(saysJson ? text : plain);
}

/** The type and the size of a file. Its content is a block beside the data, so that clients can show it. */
function fileOf(operation: string, mimeType: string, content: Buffer): JsonObject {
  const file = { media_type: mimeType, bytes: content.length };
  const [type, data] = [mimeType.replace(/\/.*/, ""), content.toString("base64")];
  const resource = { uri: `mcpaql:///${operation}`, mimeType, blob: data };
  const isShown = type === "image" || type === "audio";
  blocks.set(file, isShown ? { type, data, mimeType } : { type: "resource", resource });
  return file;
}

/** Throws the failure that an answer reports although its status says success. */
function refuseFailure(job: Work, rule: ErrorRule, data: unknown, failures: Failures, secrets: Secrets): void {
  const at = (path: readonly string[]): unknown => plainOf(select(data, path));
  const [value, message] = [at(rule.path), rule.message === undefined ? undefined : at(rule.message)];
  const isSame = (other: unknown): boolean => value !== undefined && stringify(value) === stringify(other);
  const isFilled = typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
  if (!("equals" in rule ? isSame(rule.equals) : "not" in rule ? !isSame(rule.not) : isFilled)) return;
  hideSensitive(job, secrets);
  // A flag says nothing, but the rest of the answer may.
  const said = typeof value === "string" || (typeof value === "object" && value !== null) ? value : plainOf(data);
  const beside = isObject(value) ? value : typeof message === "string" && value !== undefined ? { value } : {};
  const content = message === undefined ? said : { ...beside, message };
  const text = secrets.maskJson(stringify(content)).toLowerCase();
  const fields = isObject(content) ? [content["code"], content["status"], content["statusCode"]] : [];
  const number = fields.find((field) => Number.isInteger(field)) as number | undefined;
  const isKnown = number !== undefined && ((number >= 400 && number < 600) || (number >= -32768 && number <= -32000));
  const [guess] = failures.words.find(([, words]) => words.some((word) => text.includes(word))) ?? [];
  const code = isKnown ? codeOf(number, text, failures) : (guess ?? "INTERNAL_ERROR");
  const upstream = shown({ body: Buffer.from(stringify(content)), cut: false, header: () => undefined }, secrets);
  throw new OpError(code, `The API reported a failure, see details; ${failures.advice[code] ?? ""}.`, { upstream });
}

/** The code of a status or of a JSON-RPC error. `text` is the body in lower case. */
function codeOf(number: number, text: string, { codes, value_words: words }: Failures): Code {
  const isValue = (number === 400 || number === 422) && words.some((word) => text.includes(word));
  if (isValue) return "VALIDATION_INVALID_VALUE";
  return codes[number] ?? (number >= 400 && number < 500 ? "VALIDATION_INVALID_TYPE" : "INTERNAL_ERROR");
}

/** Errors do not show the values of sensitive parameters. */
function hideSensitive({ binding: { params }, args }: Work, secrets: Secrets): void {
  for (const [name, { sensitive }] of Object.entries(params)) if (sensitive === true) secrets.addValue(args[name]);
}

/** The error for a failed request, with the answer in `details.upstream`. */
export function failureOf(job: Work, received: Received, failures: Failures, secrets: Secrets): OpError {
  const { status } = received;
  hideSensitive(job, secrets);
  const body = shown(received, secrets);
  const code = codeOf(status, stringify(body).toLowerCase(), failures);
  const wait = retryAfter(received.header("retry-after"));
  const retry_after_seconds = wait === undefined ? undefined : Math.ceil(wait / 1000);
  const limits = code === "RATE_LIMIT_EXCEEDED" ? rateLimit(received, retry_after_seconds) : { retry_after_seconds };
  const details = { ...limits, http_status: status, upstream: { status, body } };
  return new OpError(code, `The API answered ${status}, see details; ${failures.advice[code] ?? ""}.`, details);
}

/** What the headers of a 429 say about the limit. Without `Retry-After`, the wait ends when the limit resets. */
function rateLimit({ header }: Received, retry_after_seconds: number | undefined): JsonObject {
  const number = (name: string): number | undefined => {
    const text = header(`x-ratelimit-${name}`) ?? header(`ratelimit-${name}`) ?? header(`x-rate-limit-${name}`) ?? "";
    // A list of limits starts with the one that applies: `100, 100;w=60`.
    return /^\s*\+?\d{1,15}\s*(?:[,;]|$)/.test(text) ? Number.parseInt(text, 10) : undefined;
  };
  const [limit, remaining, reset = Number.NaN] = ["limit", "remaining", "reset"].map(number);
  const now = Math.floor(Date.now() / 1000);
  // A large number is a time since 1970, in seconds or milliseconds. A small one is a wait.
  const seconds = reset < 1e9 ? now + reset : reset < 1e12 ? reset : Math.floor(reset / 1000);
  if (Number.isNaN(seconds)) return { limit, remaining, retry_after_seconds };
  const resets_at = new Date(seconds * 1000).toISOString().replace(".000", "");
  return { limit, remaining, resets_at, retry_after_seconds: retry_after_seconds ?? Math.max(0, seconds - now) };
}

/** The body for an error: JSON if it is short, otherwise the start of its text. */
function shown({ body, cut, header }: Omit<Received, "status">, secrets: Secrets): unknown {
  const text = body.toString("utf8").trim();
  const isShort = !cut && text.length <= SHOWN_BYTES && isJson(text);
  if (isShort || text === "") return tryParse(secrets.maskJson(text)) ?? undefined;
  // Masked before it is cut, so that no part of a secret remains.
  const masked = Buffer.from(secrets.mask(text), "utf8");
  const start = masked.subarray(0, SHOWN_BYTES).toString("utf8").replace(/\ufffd+$/, "");
  const said = masked.length <= SHOWN_BYTES ? masked.toString("utf8") : `${start}…`;
  const isHtml = header("content-type")?.startsWith("text/html") === true;
  return isHtml ? said.replace(/<[^<>]*>/g, " ").replace(/\s+/g, " ").trim() : said;
}

/** The milliseconds of a `Retry-After` header, which has seconds or a date. */
export function retryAfter(text = ""): number | undefined {
  if (/^\s*\+?\d{1,19}\s*$/.test(text)) return Number(text) * 1000;
  const date = /GMT\s*$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
