// A successful answer → data.
//
// What always holds: no more than the limit is ever held, whatever the upstream declares and however well it compresses; JSON is
// passed on as text, without insignificant white space.
//
// | the upstream says | the caller gets |
// |---|---|
// | JSON (`application/json`, `text/json`, `+json`) | the value; where it is not valid, the text and a warning |
// | lines of JSON (`application/x-ndjson`, `jsonl`) | an array; where a line is not valid, the text and a warning |
// | text (`text/*`, XML, YAML, JavaScript, form data) | a string; UTF-8 and ISO-8859-1 exactly, others with a warning |
// | nothing | JSON if it is, else a string if it is UTF-8, else base64 |
// | anything else | `{"media_type", "encoding": "base64", "data"}` |
// | 204, 205, 304 or an empty body | null |

import { isUtf8 } from "node:buffer";
import { OpError } from "../errors.js";
import { isJson, minified, parseValue } from "../values.js";
import type { Answer } from "../response.js";
import { answer } from "../response.js";
import type { Mask } from "../secrets.js";
import { lines, splitOnce } from "../lines.js";
import { trim } from "../text.js";
import type { Received } from "./connection.js";

/** Headers that answer a `HEAD`. */
const HEAD_HEADERS = ["accept-ranges", "allow", "content-length", "content-type", "etag", "last-modified", "x-total-count"];

const JSON_TYPES = ["application/json", "text/json"];

const JSON_LINES_TYPES = [
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/json-lines",
  "application/x-jsonlines",
];

const TEXT_TYPES = [
  "application/xml",
  "application/javascript",
  "application/yaml",
  "application/x-yaml",
  "application/toml",
  "application/graphql",
  "application/x-www-form-urlencoded",
  "application/sql",
  "application/x-sh",
  "application/xhtml+xml",
];

type Kind = "json" | "lines" | "text" | "unlabelled" | "binary";

/** The error for an answer past the limit. */
export function tooLarge(limit: number): OpError {
  return new OpError(
    "VALIDATION_PAYLOAD_TOO_LARGE",
    `The answer is larger than the limit of ${limit} bytes; ask for less with a page, a filter or fewer fields.`,
  )
    .with("limit", "max_response_bytes")
    .with("max_bytes", limit);
}

/** The answer to a `HEAD`. */
export function head(response: Received, mask: Mask): Answer {
  const headers = Object.fromEntries(
    HEAD_HEADERS.flatMap((name) => {
      const value = response.text(name);
      return value === undefined ? [] : [[name, mask.apply(value)]];
    }),
  );
  return answer({ status: response.status, headers });
}

/** The data of a successful answer. */
export function decode(contentType: string, body: Buffer, mask: Mask): Answer {
  if (body.length === 0) return answer(null);
  const [said, parameters] = splitOnce(contentType, ";") ?? [contentType, ""];
  const mediaType = trim(said).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  switch (kindOf(mediaType)) {
    case "json":
      return jsonData(body, mask) ?? notJson(body, mask);
    case "lines":
      return jsonLines(body, mask) ?? notJson(body, mask);
    case "text":
      return textData(body, charsetOf(parameters), mask);
    case "unlabelled":
      return unlabelled(body, mask);
    case "binary":
      return binary(mediaType, body);
  }
}

function kindOf(mediaType: string): Kind {
  if (mediaType === "") return "unlabelled";
  if (JSON_TYPES.includes(mediaType)) return "json";
  if (JSON_LINES_TYPES.includes(mediaType)) return "lines";
  if (TEXT_TYPES.includes(mediaType)) return "text";
  if (mediaType.endsWith("+json")) return "json";
  const isText = mediaType.startsWith("text/") || mediaType.endsWith("+xml") || mediaType.endsWith("+yaml");
  return isText ? "text" : "binary";
}

function charsetOf(parameters: string): string {
  const found = parameters
    .split(";")
    .map((parameter) => splitOnce(parameter, "="))
    .find((pair) => trim(pair?.[0] ?? "").toLowerCase() === "charset");
  return trim(found?.[1] ?? "utf-8")
    .replace(/^"+|"+$/g, "")
    .toLowerCase();
}

function withoutMark(text: string): string {
  return text.replace(/^\ufeff+/, "");
}

/** The body as one valid JSON value; `undefined` where it is none. */
function jsonData(body: Buffer, mask: Mask): Answer | undefined {
  if (!isUtf8(body)) return undefined;
  const text = body.toString("utf8");
  const bare = withoutMark(text);
  if (!isJson(bare)) return undefined;
  const json = minified(bare);
  if (!mask.finds(text)) return raw(json);
  const masked = mask.apply(json);
  if (isJson(masked)) return raw(masked);
  // The secret is a bare number, so what replaces it needs quotes.
  const value = parseValue(json);
  return value === undefined ? undefined : answer(mask.applyValue(value));
}

function raw(json: string): Answer {
  return { data: { raw: json }, warnings: [], blocks: [] };
}

function notJson(body: Buffer, mask: Mask): Answer {
  return answer(mask.apply(body.toString("utf8")), [
    { code: "UPSTREAM_NOT_JSON", message: "The API labelled its answer as JSON, but it is not; data is its text." },
  ]);
}

function jsonLines(body: Buffer, mask: Mask): Answer | undefined {
  if (!isUtf8(body)) return undefined;
  const items = lines(body.toString("utf8"))
    .map(trim)
    .filter((line) => line !== "");
  if (!items.every(isJson)) return undefined;
  return jsonData(Buffer.from(`[${items.join(",")}]`, "utf8"), mask);
}

function textData(body: Buffer, charset: string, mask: Mask): Answer {
  if (["iso-8859-1", "latin1", "latin-1"].includes(charset)) return answer(mask.apply(withoutMark(body.toString("latin1"))));
  const text = body.toString("utf8");
  if (isUtf8(body)) return answer(mask.apply(withoutMark(text)));
  return answer(mask.apply(text), [
    { code: "TEXT_LOSSY", message: "The answer is not UTF-8; characters that could not be read stand as U+FFFD." },
  ]);
}

function unlabelled(body: Buffer, mask: Mask): Answer {
  const json = jsonData(body, mask);
  if (json !== undefined) return json;
  return isUtf8(body) ? textData(body, "utf-8", mask) : binary("application/octet-stream", body);
}

function binary(mediaType: string, body: Buffer): Answer {
  return answer({ media_type: mediaType, encoding: "base64", data: body.toString("base64") });
}
