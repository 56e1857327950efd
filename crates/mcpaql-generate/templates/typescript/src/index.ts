#!/usr/bin/env node
// Serves the adapter: on standard input and output, or with `--http PORT` on this machine.

import { handlers, tools } from "./handlers.js";
import { defaults, open } from "./operations/index.js";
import { main } from "./runtime/server.js";

main({ defaults: { ...defaults }, handlers: { ...handlers }, tools, open });
