// Stands where the operations of an adapter are generated, so that the tools of the language read all files in place.

import type { Handler } from "../runtime/pipeline.js";

/** What answers each operation. */
export interface Handlers {
  get_thing: Handler<{ id: string }>;
}

/** Every operation as the document describes it. */
export const defaults: Handlers = {
  get_thing: (params, call) => call.http({ method: "GET", path: "/things/{id}", params: { id: { in: "path" } } }, params),
};
