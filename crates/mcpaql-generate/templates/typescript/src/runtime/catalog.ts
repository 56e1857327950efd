// What the adapter offers, from `catalog.json`: tools, operations, types, limits.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type JsonObject, RawJson, parse } from "./json.js";

/** What a tool covers: the operations of an endpoint, all of them, or one; under its present name. */
type Route = Readonly<{ endpoint?: string; whole?: boolean; operation?: string; renamed_to?: string }>;

/** An `identifier` says what is changed; `text` says which characters its texts may not hold. */
export type Param = Readonly<{ name: string; text?: "no_nul" | "no_control"; default?: unknown }> &
  Readonly<{ required?: boolean; identifier?: boolean }>;

/** `listed`, `brief` and `signature` are its signature in lists, in search hits and in errors. */
type Texts = "name" | "category" | "endpoint" | "tool" | "group" | "summary" | "listed" | "brief" | "signature";
export type Operation = Readonly<Record<Texts, string>> &
  Readonly<{
    aliases?: readonly string[];
    deprecated?: string;
    tagged?: boolean; // its group is a tag
    detail: Readonly<{ signature: string; parameters: readonly { name: string; from?: string[] }[]; tags?: string[] }>;
    params: readonly Param[];
    spellings?: Readonly<Record<string, string | null>>;
    takes_input?: boolean;
    schema: JsonObject;
  }>;

export type TypeInfo = Readonly<{ detail: { name: string; kind: string; description?: string }; signature?: string }>;

export type CatalogData = Readonly<{
  adapter: { name: string; display_name: string; version: string };
  instructions: string;
  mode: string;
  errors: "unrecoverable" | "all";
  limits: Readonly<Record<"request_bytes" | "response_bytes" | "string_bytes" | "array_items" | "depth", number>>;
  protocol: JsonObject;
  target: JsonObject & { alternatives?: Readonly<Record<string, JsonObject>> };
  tools: readonly JsonObject[];
  routes: Readonly<Record<string, Route>>;
  operations: readonly Operation[];
  types: readonly TypeInfo[];
  $defs: JsonObject;
}>;

export class Catalog {
  readonly #byName = new Map<string, Operation>();

  /** `tools` is what `tools/list` says, as it is written. */
  constructor(
    readonly data: CatalogData,
    readonly tools: readonly RawJson[] = [],
  ) {
    for (const operation of data.operations) {
      for (const name of [operation.name, ...(operation.aliases ?? [])]) this.#byName.set(name, operation);
    }
  }

  static own(): Catalog {
    const text = readFileSync(createRequire(import.meta.url).resolve("#catalog"), "utf8");
    // Each tool stands on a line of its own.
    const lines = /^"tools": \[\n(.+?)\n\]/ms.exec(text)?.[1]?.split(",\n") ?? [];
    return new Catalog(parse(text) as CatalogData, lines.map((line) => new RawJson(line)));
  }

  /** The operation of that name or alias. */
  get(name: string): Operation | undefined {
    return this.#byName.get(name);
  }
}
