#!/usr/bin/env node
// Serves the adapter on standard input and output.

import { handlers } from "./handlers.js";
import { defaults } from "./operations/index.js";
import { main } from "./runtime/server.js";

await main({ handlers: { ...defaults, ...handlers }, userAgent: "mcpaql/__GENERATOR_VERSION__" });
