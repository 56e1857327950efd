// Prints the number of tokens (o200k) of each line of standard input.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.argv[2]}/`);
const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");
for await (const line of createInterface({ input: process.stdin })) console.log(countTokens(line));
