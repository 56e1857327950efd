// Introspection: pure views of the catalog.

import type { Catalog } from "./catalog.js";
import type { Answer } from "./response.js";

/** Answers `introspect` for arguments that are already validated; throws an `OpError` for parameters that make no sense together. */
export function introspect(catalog: Catalog, args: Record<string, unknown>): Answer {
  throw new Error(`not there yet: ${catalog.adapter.name} ${String(args)}`);
}
