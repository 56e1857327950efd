// The catalog of the adapter, from `catalog.json`: tools, operations, types and limits; searches in it, and fills in
// the environment variables that its texts name.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { distance } from "fastest-levenshtein";
import type { Gate } from "./confirmations.js";
import type { ListRules } from "./controls.js";
import { type JsonObject, RawJson, parse } from "./json.js";

/** The operations of a tool: those of an endpoint, all, or one. `renamed_to` is the new name of the tool. */
type Route = Readonly<{ endpoint?: string; whole?: boolean; operation?: string; renamed_to?: string }>;
/** An `identifier` names the thing to change. `text` says which characters are rejected besides U+0000. */
export type Param = Readonly<{ name: string; text?: "no_control"; default?: unknown }> &
  Readonly<{ required?: boolean; identifier?: boolean }>;

/** `brief` and `signature` are the signature in suggestions and in errors. */
type Texts = "name" | "category" | "endpoint" | "tool" | "group" | "summary" | "brief" | "signature";
/** An operation or a type in every form that introspection shows. `extra` is what `full` adds to `detail`. */
export type Shown = Readonly<{ name: string; forms: Readonly<Record<string, Parts>>; extra: Parts }>;
type Parts = JsonObject & { parameters?: readonly JsonObject[]; tags?: readonly string[] };
/** `tagged` means that the group is a tag. `spellings` are other names of parameters, null if ambiguous. */
export type Operation = Readonly<Record<Texts, string>> & Shown & Readonly<{ controls?: ListRules }> &
  Readonly<{ aliases?: readonly string[]; deprecated?: string; tagged?: boolean; takes_input?: boolean; gate?: Gate }> &
  Readonly<{ params: readonly Param[]; spellings?: Readonly<Record<string, string | null>>; schema: JsonObject }>;

export type CatalogData = Readonly<{
  adapter: { name: string; display_name: string; version: string };
  instructions: string; errors: "unrecoverable" | "all"; protocol: JsonObject;
  limits: Readonly<Record<"request_bytes" | "response_bytes" | "string_bytes" | "array_items" | "depth", number>>;
  target: JsonObject & { alternatives?: Readonly<Record<string, JsonObject>> };
  routes: Readonly<Record<string, Route>>;
  operations: readonly Operation[]; types: readonly Shown[]; $defs: JsonObject;
}>;

export class Catalog {
  /** Operations by their names and aliases. */
  readonly operations: ReadonlyMap<string, Operation>;

  /** `tools` is the text of each tool for `tools/list`, unchanged. */
  constructor(readonly data: CatalogData, readonly tools: readonly RawJson[] = []) {
    const named = (one: Operation) => [one.name, ...(one.aliases ?? [])].map((name) => [name, one] as const);
    this.operations = new Map(data.operations.flatMap(named));
  }

  static own(): Catalog {
    const text = readFileSync(createRequire(import.meta.url).resolve("#catalog"), "utf8");
    // Each tool has its own line.
    const lines = /^"tools": \[\n(.+?)\n\]/ms.exec(text)?.[1]?.split(",\n") ?? [];
    return new Catalog(parse(text) as CatalogData, lines.map((line) => new RawJson(line)));
  }
}

const VARIABLE = /\$\{env:([^}:]+)(?::-([^}]*))?\}/g;
const MAX_WORD = 96; // longer words are not misspelt names
const FILLERS = new Set("a an and all are by can do for from how i in is it me my of on or the to with".split(" "));

/** `userID`, `user-id` and `User ID` as `user_id`; `userIDs` as `user_ids`. */
export function snakeCase(text: string): string {
  const apart = text.replace(/(?<=\p{Lu})(?=\p{Lu}(?!s(?!\p{Ll}))\p{Ll})|(?<=\P{Lu})(?=\p{Lu})/gu, "_");
  return (apart.match(/[\p{L}\p{N}]+/gu) ?? []).join("_").toLowerCase();
}

/** The candidates that are most similar to a word, the nearest first. */
export function nearest(word: string, candidates: readonly string[], most = 3): string[] {
  const asked = snakeCase(word.slice(0, MAX_WORD));
  const far = (name: string): number => distance(name, asked) / Math.max(name.length, asked.length, 1);
  // Names that differ more would mislead more often than help.
  const near = candidates.filter((name) => name.length <= MAX_WORD && far(name) <= 0.4);
  return near.sort((a, b) => far(a) - far(b)).slice(0, most);
}

/** The operations for a question, the best first: words of the name count more than tags and the summary. */
export function search(operations: readonly Operation[], question: string): Operation[] {
  const asked = [...new Set(words(question.slice(0, 500)))].filter((word) => !FILLERS.has(word));
  const score = ({ name, summary, extra: { tags = [] } }: Operation): number => {
    const [named, said] = [words(name), words([summary, ...tags].join(" "))];
    const sum = asked.reduce((all, word) => all + (named.includes(word) ? 3 : said.includes(word) ? 1 : 0), 0);
    // Of two names with the same words, the one with fewer other words is better.
    return sum === 0 ? 0 : sum - named.filter((word) => !asked.includes(word)).length * 0.1;
  };
  const scored = operations.map((operation) => ({ operation, score: score(operation) }));
  return scored.filter((one) => one.score > 0).sort((a, b) => b.score - a.score).map((one) => one.operation);
}

/** The words of a text in lower case, without the `s` of a plural. */
const words = (text: string): string[] => snakeCase(text).split("_").map((one) => one.replace(/(?<=...)(?<!s)s$/, ""));

export const valueOf = (name: string): string => process.env[name]?.trim() ?? "";
/** Replaces `${env:NAME}` and `${env:NAME:-fallback}`. `missing` makes the error for a variable that is not set. */
export function fill(text: string, missing: (name: string) => Error, used?: (value: string) => void): string {
  return text.replace(VARIABLE, (_match, name: string, fallback: string | undefined) => {
    const value = valueOf(name);
    if (value === "" && fallback === undefined) throw missing(name);
    used?.(value);
    return value === "" ? (fallback ?? "") : value;
  });
}
