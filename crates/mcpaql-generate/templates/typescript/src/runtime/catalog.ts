// The catalog: the adapter compiled into everything that calls need, as `catalog.json` holds it.
//
// What always holds: it never changes after loading; tools, introspection, validation and errors are views of this one value, so
// what introspection says is what validation does.

import { readFileSync } from "node:fs";
import type { Environment } from "./environment.js";
import type { ExecutionAction, Lifecycle } from "./executions/status.js";
import { parse } from "./json.js";
import { LONG_PREFIX, renamed } from "./naming.js";
import type { ErrorPolicy } from "./response.js";
import { type Node, type NodeId, Schemas } from "./schema/types.js";
import type { IndexData } from "./search/index.js";
import { type Mode, surface } from "./surfaces.js";

/** The version of `catalog.json` that this runtime reads. */
const FORMAT = 1;
/** The variable that holds a prefix of tool names. */
const PREFIX = "MCP_AQL_TOOL_PREFIX";
/** The one operation every adapter has. */
export const INTROSPECT = "introspect";
/** What an operation does to the world, in the order of search's bits. */
export const CATEGORIES = ["CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"] as const;
export type Category = (typeof CATEGORIES)[number];

/** How large a call and its answer may be. */
export interface Limits {
  readonly request_bytes: number;
  readonly response_bytes: number;
  readonly string_bytes: number;
  readonly array_items: number;
  readonly depth: number;
}

/** A parameter as validation needs it. */
export interface Param {
  readonly name: string;
  /** Its node in `schemas`. */
  readonly check: NodeId;
  /** `string (repository owner)`. */
  readonly expected: string;
  /** Nobody fills it in. */
  readonly required?: boolean;
  readonly sensitive?: boolean;
  /** Names the thing that is changed, so it never stands inside `input`. */
  readonly identifier?: boolean;
  /** Which characters its texts may not hold. */
  readonly text?: "no_nul" | "no_control";
  readonly default?: unknown;
  /** What introspection says about it. */
  readonly view: Readonly<Record<string, unknown>>;
  /** Operations that have values for it, as the author says. */
  readonly from?: readonly string[];
}

/** One operation. */
export interface Operation {
  readonly name: string;
  readonly category: Category;
  readonly endpoint: string;
  /** The tool that reaches it; empty where none does. */
  readonly tool: string;
  readonly aliases?: readonly string[];
  readonly tags?: readonly string[];
  /** What to use instead; perhaps empty. */
  readonly deprecated?: string;
  /** The counted group that it is in, and whether that is a tag. */
  readonly group: string;
  readonly tagged?: boolean;
  readonly summary: string;
  /** What a search says, where that is not the summary. */
  readonly hit_summary?: string;
  /** The summary only says the name again. */
  readonly repeats?: boolean;
  /** Signatures in the sizes of `brief_sizes`; null is the one before. */
  readonly brief: readonly (string | null)[];
  /** `name(a: string, b?: Size)`, with `type Size = …` on lines of its own. */
  readonly signature: string;
  /** The signature in a list, where that is another one. */
  readonly listed?: string;
  /** What introspection says beyond the head and the parameters. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly params: readonly Param[];
  /** Wire name → parameter. */
  readonly wire?: Readonly<Record<string, number>>;
  /** Spelling in snake_case → parameter, or none, where that is not the parameter of that name. */
  readonly spelled?: Readonly<Record<string, number | null>>;
  /** Fields may stand in `input`. */
  readonly takes_input?: boolean;
  /** It runs in the background, where it does. */
  readonly lifecycle?: Lifecycle;
  /** It asks about what runs in the background. */
  readonly execution?: ExecutionAction;
  /** The description of the API does not say how it is called. */
  readonly unreadable?: boolean;
}

/** Where a tool name leads. */
export interface Route {
  readonly endpoint?: string;
  readonly whole?: true;
  readonly operation?: number;
  /** The present name, where this one is an alias. */
  readonly renamed_to?: string;
}

/** A tool as `tools/list` shows it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** A type as introspection shows it. */
export interface TypeView {
  readonly details: Readonly<Record<string, unknown>> & { readonly name: string };
  readonly signature?: string;
}

/** An operation as `catalog.json` holds it: its parameters are numbers in a table that all share. */
type OperationData = Partial<Omit<Operation, "params">> & { readonly params?: readonly number[] };

/** What an operation has besides its head where nothing else is known of it. */
const UNREADABLE = { summary: "", brief: [], signature: "", details: {} };

/** `catalog.json`. */
type CatalogFile = Omit<CatalogData, "operations"> & {
  readonly params: readonly Param[];
  readonly operations: readonly OperationData[];
};

/** The catalog, put together. */
export interface CatalogData {
  readonly format: number;
  readonly adapter: { readonly name: string; readonly display_name: string; readonly version: string; readonly description: string };
  readonly instructions: string;
  readonly mode: Mode;
  /** `crude` or the name of the document's own. */
  readonly profile: string;
  readonly errors: ErrorPolicy;
  readonly limits: Limits;
  /** `_protocol`. */
  readonly protocol: unknown;
  /** What `tools/list` shows, in order. */
  readonly tools: readonly Tool[];
  readonly routes: Readonly<Record<string, Route>>;
  /** Names that a prefix changes, with `{prefix}` in them. */
  readonly names: Readonly<Record<string, string | null>>;
  /** Where calls go. */
  readonly target: Readonly<Record<string, unknown>>;
  readonly brief_sizes: readonly number[];
  /** `introspect` is the last. */
  readonly operations: readonly Operation[];
  readonly schemas: readonly Node[];
  readonly patterns: readonly (readonly [text: string, portable: string | null])[];
  /** All types, of which the first `listed` stand in lists. */
  readonly types: { readonly listed: number; readonly all: readonly TypeView[] };
  readonly search: IndexData;
  readonly links: LinksData;
}

/** Where identifiers come from: parameters with the operations that return them, and which of these each operation needs. */
export interface LinksData {
  readonly sources: readonly (readonly [param: string, producers: readonly number[], everywhere?: boolean])[];
  readonly wanted: readonly (readonly number[])[];
}

/** The adapter, ready to serve. */
export class Catalog {
  readonly schemas: Schemas;
  readonly #byName = new Map<string, number>();
  readonly #routes: ReadonlyMap<string, Route>;

  constructor(readonly data: CatalogData) {
    this.schemas = new Schemas(data.schemas, data.patterns);
    this.#routes = new Map(Object.entries(data.routes));
    for (const [index, operation] of data.operations.entries()) {
      for (const name of [operation.name, ...(operation.aliases ?? [])]) this.#byName.set(name, index);
    }
  }

  get operations(): readonly Operation[] {
    return this.data.operations;
  }

  get limits(): Limits {
    return this.data.limits;
  }

  /** The operation of that name or alias. */
  get(name: string): Operation | undefined {
    return this.operations[this.#byName.get(name) ?? -1];
  }

  /** The place of an operation. */
  position(operation: Operation): number {
    return this.#byName.get(operation.name) ?? -1;
  }

  /** Where a tool name leads. */
  route(tool: string): Route | undefined {
    return this.#routes.get(tool);
  }
}

/**
 * Reads the text of a catalog, and that of the other surfaces where `MCP_AQL_ENDPOINT_MODE` or `MCP_AQL_ENDPOINT_PROFILE` ask for one; a
 * prefix of tool names comes from `MCP_AQL_TOOL_PREFIX`. Throws where one of them cannot be used.
 */
export function load(text: string, surfaces: () => string, env: Environment): Catalog {
  const file = parse(text) as CatalogFile;
  if (file.format !== FORMAT) throw new Error(`catalog.json has format ${file.format}, this runtime reads ${FORMAT}; generate the project again`);
  const { params, operations, ...rest } = surface(file, env, surfaces);
  const whole = ({ params: numbers = [], ...operation }: OperationData) =>
    ({ ...UNREADABLE, ...operation, params: numbers.flatMap((number) => params[number] ?? []) }) as Operation;
  const data: CatalogData = { ...rest, operations: operations.map(whole) };
  const prefix = env[PREFIX] ?? "";
  return new Catalog(prefix === "" ? data : renamed(data, prefix));
}

/** The catalog of this project. */
export function ownCatalog(env: Environment): Catalog {
  const prefix = env[PREFIX] ?? "";
  if (prefix.length >= LONG_PREFIX) process.stderr.write(`warning: The prefix '${prefix}' is long; clients add their own to it\n`);
  const place = new URL(import.meta.resolve("#catalog"));
  return load(readFileSync(place, "utf8"), () => readFileSync(new URL("surfaces.json", place), "utf8"), env);
}
