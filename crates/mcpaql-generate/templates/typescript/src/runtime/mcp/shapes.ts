// What the protocol defines of what is passed on: members that it does not know are left out, and what lacks one that it needs is none.

import { type JsonObject, isArray, isObject, jsonText, own } from "../values.js";

/** The value as far as the protocol defines it; `undefined` where it is none of the kind. */
type Shape = (value: unknown) => unknown;

const text: Shape = (value) => (typeof value === "string" ? value : undefined);
const number: Shape = (value) => (typeof value === "number" || typeof value === "bigint" ? value : undefined);
const flag: Shape = (value) => (typeof value === "boolean" ? value : undefined);
const object: Shape = (value) => (isObject(value) ? value : undefined);

function word(...words: string[]): Shape {
  return (value) => (words.includes(value as string) ? value : undefined);
}

function list(of: Shape): Shape {
  return (value) => {
    const items = isArray(value) ? value.map(of) : [undefined];
    return items.includes(undefined) ? undefined : items;
  };
}

function members(needed: Readonly<Record<string, Shape>>, others: Readonly<Record<string, Shape>> = {}): Shape {
  return (value) => {
    if (!isObject(value)) return undefined;
    const held: Record<string, unknown> = {};
    for (const [name, shape] of Object.entries({ ...needed, ...others })) {
      const member = own(value, name) ?? undefined;
      if (member === undefined && !(name in needed)) continue;
      const known = shape(member);
      if (known === undefined) return undefined;
      held[name] = known;
    }
    return held;
  };
}

function either(...shapes: Shape[]): Shape {
  return (value) => shapes.map((shape) => shape(value)).find((held) => held !== undefined);
}

const role = word("user", "assistant");
const annotations = members({}, { audience: list(role), priority: number, lastModified: text });
const beside = { _meta: object, annotations };
const icons = list(members({ src: text }, { mimeType: text, sizes: list(text), theme: word("light", "dark") }));
const described = { title: text, description: text, icons };
const linked = members({ uri: text, name: text }, { ...described, mimeType: text, size: number, ...beside });
const contents = either(
  members({ uri: text, text }, { mimeType: text, _meta: object }),
  members({ uri: text, blob: text }, { mimeType: text, _meta: object }),
);
const media = members({ data: text, mimeType: text }, beside);

const BLOCKS: Readonly<Record<string, Shape>> = {
  text: members({ text }, beside),
  image: media,
  audio: media,
  resource: members({ resource: contents }, beside),
  resource_link: linked,
};

const content: Shape = (value) => {
  const kind = isObject(value) ? own(value, "type") : undefined;
  const shape = typeof kind === "string" ? own(BLOCKS, kind) : undefined;
  const held = shape === undefined ? undefined : (shape as Shape)(value);
  return held === undefined ? undefined : { type: kind, ...(held as JsonObject) };
};

const named = members({ name: text }, { title: text, description: text, required: flag });

/** Entries of lists, by the methods that list them. */
const ENTRIES: Readonly<Record<string, Shape>> = {
  "resources/list": linked,
  "resources/templates/list": members({ uriTemplate: text, name: text }, { ...described, mimeType: text, ...beside }),
  "prompts/list": members({ name: text }, { ...described, arguments: list(named), _meta: object }),
};

/** Results, by their methods. */
const RESULTS: Readonly<Record<string, Shape>> = {
  "resources/read": members({ contents: list(contents) }, { _meta: object }),
  "prompts/get": members({ messages: list(members({ role, content })) }, { description: text, _meta: object }),
};

/** The entries of a list that can be passed on. */
export function heldEntries(method: string, entries: readonly unknown[]): unknown[] {
  return entries.map((entry) => ENTRIES[method]?.(entry)).filter((entry) => entry !== undefined);
}

/** A result that can be passed on. */
export function heldResult(method: string, result: JsonObject): JsonObject | undefined {
  return RESULTS[method]?.(result) as JsonObject | undefined;
}

/** A content block; one that the protocol does not know is shown as the JSON that it is. */
export function heldBlock(block: unknown): unknown {
  return content(block) ?? { type: "text", text: jsonText(block) };
}
