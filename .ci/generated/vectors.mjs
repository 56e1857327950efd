// Runs the test vectors of query controls on the runtime of a generated TypeScript project: vectors.mjs RUNTIME VECTORS
// The format is described in `crates/mcpaql-shape/tests/vectors.rs`.

import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const [runtime, vectors] = process.argv.slice(2).map((path) => resolve(path));
const { shape, takeControls, tokens } = await import(join(runtime, "controls.js"));
const { canonical } = await import(join(runtime, "check.js"));
const { RawJson, parse, stringify } = await import(join(runtime, "json.js"));
const { OpError } = await import(join(runtime, "errors.js"));

function answer(one, { operation: name = "list", params: given }, cursors) {
  const controls = { ...(one.items === undefined ? {} : { items: one.items }), ...(one.more ? { more: true } : {}) };
  const operation = { name, controls, params: (one.own ?? []).map((own) => ({ name: own })), spellings: {} };
  const warnings = [];
  const warn = (code, _message, details = {}) => warnings.push([code, details.param_name ?? details.step ?? null]);
  const asked = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, typeof value === "string" ? (cursors[value] ?? value) : value]));
  try {
    const { params: args, controls: taken } = takeControls(operation, asked, {}, warn);
    const told = shape(new RawJson(stringify(one.data)), { adapter: "vectors", operation, args, controls: taken }, warn);
    const data = parse(stringify(told));
    if (data?.items !== undefined && data.pageInfo?.hasPreviousPage !== undefined) {
      for (const [key, meant] of [["endCursor", "$end"], ["startCursor", "$start"]]) {
        if (data.pageInfo[key] !== undefined) [cursors[meant], data.pageInfo[key]] = [data.pageInfo[key], "#"];
      }
    }
    return { data, ...(warnings.length > 0 ? { warnings } : {}), ...(Object.keys(args).length > 0 ? { args } : {}) };
  } catch (error) {
    if (!(error instanceof OpError)) throw error;
    return { error: [error.code, error.details.param_name ?? null] };
  }
}

let [calls, wrong] = [0, 0];
const same = (about, actual, expected) => {
  calls += 1;
  if (canonical(actual) === canonical(expected)) return;
  wrong += 1;
  console.log(`${about}\n    expected ${stringify(expected)}\n    actual   ${stringify(actual)}`);
};
for (const file of readdirSync(vectors)) {
  for (const one of parse(readFileSync(join(vectors, file), "utf8"))) {
    if (one.text !== undefined) same(`tokens of ${one.text}`, tokens(one.text), one.tokens);
    const cursors = Object.create(null);
    for (const call of one.calls ?? []) same(`${one.name}: ${stringify(call.params)}`, answer(one, call, cursors), call.expect);
  }
}
console.log(`  typescript: ${calls} vectors, ${wrong} different`);
process.exitCode = wrong > 0 ? 1 : 0;
