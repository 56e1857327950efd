// Answers and tools of your own. This file is yours: it is written once and then left alone.
//
// A handler takes the place of an operation's own. It gets parameters that are checked and completed with defaults, and
// gives the data, or throws an `OpError`. The operation's own function sends the document's request:
//
//   import { getThing } from "./operations/read.js";
//   import { pick } from "./runtime/json.js";
//
//   export const handlers: Partial<Handlers> = {
//     get_thing: async (params, call) => pick(await getThing(params, call), "id", "name"),
//   };
//
// A tool of your own stands beside those of the document:
//
//   export const tools: OwnTool[] = [
//     { name: "ping", description: "Answers pong.", inputSchema: { type: "object" }, run: () => "pong" },
//   ];

import type { Handlers } from "./operations/index.js";
import type { OwnTool } from "./runtime/call.js";

export const handlers: Partial<Handlers> = {};

export const tools: OwnTool[] = [];
