// The result of a tool → data, and what stands beside it.
//
// | the tool answered | data | blocks beside it |
// |---|---|---|
// | structured content | it | texts that say something else, and whatever is no text |
// | one text that is JSON | that JSON, unparsed | whatever is no text |
// | one text | a string | whatever is no text |
// | several texts | an array of the above | whatever is no text |
// | no text | `{"blocks": […]}`: what each block is, by media type or address | all of them |
// | nothing | null | |
// | an envelope like ours, as any of these | what is in it | |
// | `isError` | a failure | |
//
// What always holds: nothing is wrapped twice and nothing is said twice; blocks pass as they came; JSON is passed on as text, without
// white space between its tokens.

import { OpError } from "../errors.js";
import { type Answer, type Data, type Warning, dataText } from "../response.js";
import type { Mask } from "../secrets.js";
import { trim, trimEnd, trimStart } from "../text.js";
import { isArray, isObject, isSame, minified, own, parseValue } from "../values.js";
import { passedOn, toolError } from "./failed.js";
import { type Raw, chosenOf, exactly, itemsOf, membersOf, rawOf } from "./raw.js";

/** Numbers with more digits would not survive every reader. */
const DIGITS = 15;
/** What an envelope like ours may hold. */
const ENVELOPE = ["success", "data", "warnings", "_meta"];

/** What may stand around JSON. */
const AROUND = /[ \t\r\n\ufeff]/;

/** What of a result is text and what is not. */
interface Content {
  readonly texts: string[];
  readonly blocks: unknown[];
}

/** The answer that a result is; `mask` is asked for where something may have to be hidden. */
export function answerOf(result: Raw, mask: () => Mask): Answer {
  const [said, structured, isError, meta] = partsOf(result).map(filled);
  // Not what the protocol says, but it is what the tool said.
  if (said === undefined && structured === undefined && isError === undefined) return bare(raw(result));
  const { texts, blocks } = contentOf(said);
  if (isError === "true") throw failure(texts, structured, mask());
  if (structured === undefined) return { ...unwrapped(textData(texts, blocks), mask), blocks };
  const kept = withoutTwins(texts, structured).map((text) => ({ type: "text", text }));
  return { ...unwrapped(structuredData(structured, meta), mask), blocks: [...kept, ...blocks] };
}

/** Content, structured content, flag and meta; a list is taken for these in their order. */
function partsOf(result: Raw): readonly (Raw | undefined)[] {
  const parts = chosenOf(result, ["content", "structuredContent", "isError", "_meta"]);
  if (parts !== undefined) return [parts.content, parts.structuredContent, parts.isError, parts._meta];
  const items = itemsOf(result) ?? [];
  if (items.length > 0 && items.length <= 4) return items;
  throw new OpError("INTERNAL_ERROR", "The MCP server answered with something that is no result; tell the user.");
}

/** A member that is there and not null. */
function filled(member: Raw | undefined): Raw | undefined {
  return member === "null" ? undefined : member;
}

function bare(data: Data): Answer {
  return { data, warnings: [], blocks: [] };
}

function contentOf(said: Raw | undefined): Content {
  const content: Content = { texts: [], blocks: [] };
  for (const item of (said === undefined ? undefined : itemsOf(said)) ?? []) {
    const block = parseValue(item);
    // What no tree can hold is still text.
    if (block === undefined) content.texts.push(item);
    else if (isObject(block) && own(block, "type") === "text" && typeof block["text"] === "string") content.texts.push(block["text"]);
    else content.blocks.push(block);
  }
  return content;
}

function raw(json: Raw): Data {
  return { raw: minified(json) };
}

/** What a text means: JSON where it is that, else itself. A number that only looks like one, such as a hash, stays text. */
function meaning(text: string): Data {
  const bare = trimEnd(trimStart(text, AROUND), AROUND);
  const isNumber = bare.length <= DIGITS && /^[0-9-][0-9.-]*$/.test(bare);
  const json = /^[{["]/.test(bare) || isNumber || ["true", "false", "null"].includes(bare) ? rawOf(bare) : undefined;
  return json === undefined ? { value: text } : raw(json);
}

function textData(texts: readonly string[], blocks: readonly unknown[]): Data {
  const [first, ...others] = texts;
  if (first === undefined) return { value: blocks.length === 0 ? null : { blocks: blocks.map(label) } };
  if (others.length === 0) return meaning(first);
  return { raw: `[${texts.map((text) => dataText(meaning(text))).join(",")}]` };
}

/** What a block is, in a word. */
function label(block: unknown): string {
  const text = (value: unknown, key: string): string | undefined => {
    const found = isObject(value) ? own(value, key) : undefined;
    return typeof found === "string" ? found : undefined;
  };
  const kind = text(block, "type") ?? "unknown";
  const inner = isObject(block) && Object.hasOwn(block, "resource") ? block["resource"] : block;
  if (kind === "resource" || kind === "resource_link") return text(inner, "uri") ?? kind;
  return text(block, "mimeType") ?? text(block, "uri") ?? kind;
}

/** Structured content; a wrapping that its maker says is only there because the protocol wants an object falls away. */
function structuredData(structured: Raw, meta: Raw | undefined): Data {
  const said = meta === undefined ? undefined : parseValue(meta);
  const fastmcp = isObject(said) ? own(said, "fastmcp") : undefined;
  const wraps = isObject(fastmcp) && own(fastmcp, "wrap_result") === true;
  return raw((wraps ? chosenOf(structured, ["result"])?.result : undefined) ?? structured);
}

/** The texts that do not only repeat the structured content, whole or spread over several of them. */
function withoutTwins(texts: readonly string[], structured: Raw): string[] {
  const plain = minified(structured);
  const kept = texts.filter((text) => trim(text) !== structured && minified(trim(text)) !== plain);
  const value = kept.length === 0 ? undefined : exactly(plain);
  if (value === undefined) return kept;
  const isWrapping = isObject(value) && Object.keys(value).length === 1;
  const inner = isWrapping ? own(value, "result") : undefined;
  const isTwin = (said: unknown): boolean => isSame(said, value) || (inner !== undefined && isSame(said, inner));
  const read = (text: string): unknown => exactly(text) ?? text;
  if (isTwin(kept.map(read))) return [];
  return kept.filter((text) => !isTwin(read(text)) && inner !== text);
}

/** Takes the data, or the error, out of an envelope like ours. */
function unwrapped(data: Data, mask: () => Mask): Answer {
  // Cheap to see for most of what is no envelope.
  if (!("raw" in data) || !data.raw.startsWith("{") || !data.raw.includes('"success":')) return bare(data);
  const envelope = chosenOf(data.raw, ["success", "data", "error", "warnings"]);
  const [success, inside, error] = [envelope?.success, filled(envelope?.data), filled(envelope?.error)];
  if (success === "false" && error !== undefined) {
    const said = parseValue(error);
    const passed = isObject(said) ? passedOn(said, mask()) : undefined;
    if (passed !== undefined) throw passed;
  }
  const isOurs = success === "true" && membersOf(data.raw)?.every(([key]) => ENVELOPE.includes(key)) === true;
  if (!isOurs || inside === undefined || parseValue(data.raw) === undefined) return bare(data);
  return { data: { raw: inside }, warnings: warningsOf(envelope?.warnings), blocks: [] };
}

function warningsOf(said: Raw | undefined): Warning[] {
  const warnings = said === undefined ? undefined : parseValue(said);
  if (!isArray(warnings)) return [];
  return warnings.flatMap((warning) => {
    const message = isObject(warning) ? own(warning, "message") : warning;
    return typeof message === "string" ? [{ code: "UPSTREAM_WARNING", message }] : [];
  });
}

function failure(texts: readonly string[], structured: Raw | undefined, mask: Mask): OpError {
  const said = saidBy(texts, structured);
  if (isObject(said) && own(said, "success") === false && isObject(said["error"])) {
    const passed = passedOn(said["error"], mask);
    if (passed !== undefined) return passed;
  }
  return toolError(said, mask);
}

function saidBy(texts: readonly string[], structured: Raw | undefined): unknown {
  const [first, ...others] = texts;
  if (first === undefined) return (structured === undefined ? undefined : parseValue(structured)) ?? "";
  if (others.length > 0) return texts.join("\n");
  const text = trim(first);
  return (text.startsWith("{") ? parseValue(text) : undefined) ?? text;
}
