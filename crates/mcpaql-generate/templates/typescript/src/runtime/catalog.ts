// The compiled catalog of the adapter: `catalog.json`, read once, with the names that tools have under the operator's prefix.

import type { ErrorPolicy } from "./response.js";

/** How large a call and its answer may be. */
export interface Limits {
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly stringBytes: number;
  readonly arrayItems: number;
  readonly depth: number;
}

/** One operation. */
export interface Operation {
  readonly name: string;
  readonly endpoint: string;
  /** The tool that reaches it. */
  readonly tool: string;
  /** `name(a: string, b?: Size)`, with `type Size = …` on lines of its own. */
  readonly signature: string;
}

/** The adapter, ready to serve. */
export interface Catalog {
  readonly adapter: { readonly name: string; readonly display_name: string };
  /** What `tools/list` shows, in order. */
  readonly tools: unknown[];
  readonly operations: Operation[];
  readonly limits: Limits;
  readonly errors: ErrorPolicy;
}

/** Reads a catalog; a prefix of tool names comes from `MCP_AQL_TOOL_PREFIX`. Throws where it cannot be used. */
export function load(text: string, env: Readonly<Record<string, string | undefined>>): Catalog {
  throw new Error(`not there yet: ${text.length} ${String(env["MCP_AQL_TOOL_PREFIX"])}`);
}
