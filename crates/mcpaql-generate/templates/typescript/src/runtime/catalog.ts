// The catalog of the adapter, from `catalog.json`: tools, operations, types and limits.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
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
  Readonly<{ aliases?: readonly string[]; deprecated?: string; tagged?: boolean; takes_input?: boolean }> &
  Readonly<{ params: readonly Param[]; spellings?: Readonly<Record<string, string | null>>; schema: JsonObject }>;

export type CatalogData = Readonly<{
  adapter: { name: string; display_name: string; version: string };
  instructions: string;
  errors: "unrecoverable" | "all";
  limits: Readonly<Record<"request_bytes" | "response_bytes" | "string_bytes" | "array_items" | "depth", number>>;
  protocol: JsonObject;
  target: JsonObject & { alternatives?: Readonly<Record<string, JsonObject>> };
  routes: Readonly<Record<string, Route>>;
  operations: readonly Operation[];
  types: readonly Shown[];
  $defs: JsonObject;
}>;

export class Catalog {
  /** Operations by their names and aliases. */
  readonly operations = new Map<string, Operation>();

  /** `tools` is the text of each tool for `tools/list`, unchanged. */
  constructor(readonly data: CatalogData, readonly tools: readonly RawJson[] = []) {
    for (const operation of data.operations) {
      for (const name of [operation.name, ...(operation.aliases ?? [])]) this.operations.set(name, operation);
    }
  }

  static own(): Catalog {
    const text = readFileSync(createRequire(import.meta.url).resolve("#catalog"), "utf8");
    // Each tool has its own line.
    const lines = /^"tools": \[\n(.+?)\n\]/ms.exec(text)?.[1]?.split(",\n") ?? [];
    return new Catalog(parse(text) as CatalogData, lines.map((line) => new RawJson(line)));
  }
}
