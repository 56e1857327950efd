// Arguments of a tool call → one validated call of one operation.

import type { Catalog, Operation } from "./catalog.js";
import type { Warning } from "./response.js";

/** A call that may run: an operation and complete, validated arguments. */
export interface Prepared {
  readonly operation: Operation;
  /** By parameter name, defaults filled in. */
  readonly args: Record<string, unknown>;
  /** What to tell the agent besides the answer. */
  readonly warnings: Warning[];
}

/** Prepares a call that came through a tool; throws an `OpError` that says what is wrong. */
export function prepare(catalog: Catalog, tool: string, args: Record<string, unknown>): Prepared {
  throw new Error(`not there yet: ${catalog.adapter.name} ${tool} ${String(args)}`);
}
