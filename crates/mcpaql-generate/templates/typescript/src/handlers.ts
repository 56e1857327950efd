// Answers of your own, in place of what the document describes. This file is yours: it is written once and then left alone.
//
// A handler gets parameters that are validated and completed with defaults. It answers with data of its own, as `answer` wraps it, or
// throws an `OpError`, and may send the document's own request itself:
//
//   import { getThing } from "./operations/read.js";
//   import { OpError } from "./runtime/errors.js";
//   import { answer } from "./runtime/response.js";
//
//   export const handlers: Partial<Handlers> = {
//     list_things: () => answer([{ id: "first" }, { id: "second" }]),
//     get_thing: async (params, call) => {
//       if (params.id === "secret") throw new OpError("PERMISSION_DENIED", "That thing is not for everybody; ask for another one.");
//       return await getThing(params, call);
//     },
//   };

import type { Handlers } from "./operations/index.js";

export const handlers: Partial<Handlers> = {};
