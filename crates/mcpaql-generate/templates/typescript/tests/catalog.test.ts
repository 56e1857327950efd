// What holds for every adapter: its catalog is served as it is described.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Catalog, INTROSPECT, type Operation, ownCatalog } from "../src/runtime/catalog.js";
import { OpError } from "../src/runtime/errors.js";
import { introspect } from "../src/runtime/introspect.js";
import { type Fields, isFields } from "../src/runtime/json.js";
import { prepare } from "../src/runtime/request.js";
import { envelope } from "../src/runtime/response.js";
import { MODES, SurfaceProblem } from "../src/runtime/surfaces.js";

const catalog = ownCatalog({});
const reachable = catalog.operations.filter(({ tool }) => tool !== "");
/** What takes longer is tried for a hundred of them. */
const some = reachable.filter((_, at) => at % Math.ceil(reachable.length / 100) === 0);

/** The arguments of a call through the operation's tool. */
function call(operation: Operation, params: Fields): Fields {
  const isAlone = catalog.route(operation.tool)?.operation !== undefined;
  return isAlone ? params : { operation: operation.name, params };
}

/** The requests that introspection shows as examples. */
function examples(operation: Operation): Fields[] {
  const shown: unknown = operation.details["examples"];
  const requests = Array.isArray(shown) ? shown.filter(isFields).map((example) => example["request"]) : [];
  return requests.filter(isFields).map((request) => request["params"]).filter(isFields);
}

function failure(run: () => unknown): OpError {
  try {
    run();
  } catch (error) {
    if (error instanceof OpError) return error;
    throw error;
  }
  assert.fail("nothing was wrong with it");
}

/** What introspection answers. */
function asked(args: Fields): Fields {
  const { text } = envelope(introspect(catalog, args), catalog.data.errors);
  const { success, data } = JSON.parse(text) as { success: boolean; data: Fields };
  assert.equal(success, true);
  return data;
}

test("every tool leads somewhere, and every operation has one", () => {
  for (const { name } of catalog.data.tools) assert.notEqual(catalog.route(name), undefined, name);
  const tools = new Set(catalog.data.tools.map(({ name }) => name));
  for (const { name, tool } of reachable) assert.ok(tools.has(tool), name);
});

test("every example is a call that may run", () => {
  for (const operation of reachable) {
    for (const params of examples(operation)) {
      assert.equal(prepare(catalog, operation.tool, call(operation, params)).operation, operation);
    }
  }
});

test("a parameter that is missing is named, with the signature of the call", () => {
  for (const operation of reachable) {
    const missing = operation.params.find(({ required }) => required === true);
    if (missing === undefined) continue;
    const error = failure(() => prepare(catalog, operation.tool, call(operation, {})));
    assert.equal(error.code, "VALIDATION_MISSING_PARAM");
    assert.equal(error.details["param_name"], missing.name);
    assert.equal(error.details["signature"], operation.signature);
  }
});

test("a parameter that nobody declared is refused", () => {
  for (const operation of reachable) {
    const error = failure(() => prepare(catalog, operation.tool, call(operation, { surely_not_declared: 1 })));
    assert.equal(error.code, "VALIDATION_UNKNOWN_PARAM");
    assert.deepEqual(error.details["unknown_params"], ["surely_not_declared"]);
  }
});

test("a misspelt operation is suggested", () => {
  for (const operation of some) {
    if (catalog.route(operation.tool)?.operation !== undefined) continue;
    const misspelt = `${operation.name}_x`;
    if (catalog.get(misspelt) !== undefined) continue;
    const error = failure(() => prepare(catalog, operation.tool, { operation: misspelt }));
    assert.equal(error.code, "NOT_FOUND_OPERATION");
    assert.ok((error.details["suggestions"] as unknown[]).length > 0, misspelt);
  }
});

test("introspection lists every operation once, page by page", () => {
  const names: unknown[] = [];
  for (let after: unknown = undefined; ; ) {
    const { operations, pageInfo } = asked({ detail: "names", first: 7, ...(after === undefined ? {} : { after }) });
    names.push(...(operations as unknown[]));
    const page = pageInfo as { hasNextPage: boolean; endCursor: string | null };
    if (!page.hasNextPage) break;
    after = page.endCursor;
  }
  assert.deepEqual(names, catalog.operations.map(({ name }) => name));
});

test("introspection shows every operation and every type by its name", () => {
  for (const { name } of catalog.operations) {
    assert.equal((asked({ name })["operation"] as Fields)["name"], name);
  }
  for (const { details } of catalog.data.types.all) {
    assert.equal((asked({ query: "types", name: details.name })["type"] as Fields)["name"], details.name);
  }
});

test("search knows operations by their names", () => {
  for (const { name } of some) {
    if (name === INTROSPECT) continue;
    const { operations } = asked({ search: name.replaceAll("_", " "), detail: "names", first: 200 });
    const found = operations as unknown[];
    // Some names hold nothing but words that say nothing, such as `about`.
    if (found.length === 0) continue;
    assert.ok(found.includes(name), name);
  }
});

test("every mode reaches every operation, or says why it cannot be shown", () => {
  for (const mode of MODES) {
    const shown = surfaceOf(mode);
    if (shown === undefined) continue;
    assert.equal(shown.data.mode, mode);
    const tools = new Set(shown.data.tools.map(({ name }) => name));
    for (const name of tools) assert.notEqual(shown.route(name), undefined, name);
    for (const { name, tool } of shown.operations) assert.ok(name === INTROSPECT || tools.has(tool), `${mode}: ${name}`);
  }
});

/** The catalog in another mode, where it has one. */
function surfaceOf(mode: string): Catalog | undefined {
  try {
    return ownCatalog({ MCP_AQL_ENDPOINT_MODE: mode });
  } catch (error) {
    assert.ok(error instanceof SurfaceProblem);
    return undefined;
  }
}
