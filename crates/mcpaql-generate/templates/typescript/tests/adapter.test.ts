// Runs the built server over stdio, as a client does.

import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { Catalog } from "../src/runtime/catalog.js";
import { type JsonObject, isObject, parse } from "../src/runtime/json.js";

const { data } = Catalog.own();

class Client {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (message: JsonObject) => void>();
  #last = 0;

  constructor() {
    this.#child = spawn(process.execPath, ["build/src/index.js"]);
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const message = parse(line) as JsonObject;
      this.#waiting.get(message["id"] as number)?.(message);
    });
  }

  async ask(method: string, params: JsonObject = {}): Promise<JsonObject> {
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise<JsonObject>((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const { result } = await answer;
    assert(isObject(result), `${method} has a result`);
    return result;
  }

  async call(name: string, args: JsonObject): Promise<JsonObject> {
    const { content } = await this.ask("tools/call", { name, arguments: args });
    return parse((content as { text: string }[])[0]?.text ?? "") as JsonObject;
  }

  end(): void {
    this.#child.stdin.end();
  }
}

const client = new Client();
const clientInfo = { name: "test", version: "1" };
await client.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
after(() => {
  client.end();
});

const own = data.operations.find((operation) => operation.name === "introspect");
/** A document may have no tool for `introspect`. */
const skip = own?.tool === "";
const introspect = (params: JsonObject): Promise<JsonObject> =>
  client.call(own?.tool ?? "", { operation: "introspect", params });

test("the tools of the catalog are listed unchanged", async () => {
  const { tools } = await client.ask("tools/list");
  const listed = Catalog.own().tools.map((tool) => tool.toJSON());
  assert.deepEqual((tools as unknown[]).slice(0, listed.length), listed);
});

test("every operation is found by its name, with its details", { skip }, async () => {
  for (const operation of data.operations) {
    const answer = await introspect({ name: operation.name });
    assert.deepEqual(answer, { success: true, data: { operation: operation.forms["detail"] } });
  }
});

test("every type is found by its name, with its details", { skip }, async () => {
  for (const type of data.types) {
    const answer = await introspect({ query: "types", name: type.name });
    assert.deepEqual(answer, { success: true, data: { type: type.forms["detail"] } });
  }
});

test("a search finds an operation by the words of its name", { skip }, async () => {
  for (const { name } of data.operations.slice(0, 20)) {
    const answer = await introspect({ search: name.replaceAll("_", " "), first: 10 });
    const { operations } = answer["data"] as { operations: { name: string }[] };
    assert(operations.some((hit) => hit.name === name), name);
  }
});

const isAlone = data.routes[own?.tool ?? ""]?.operation !== undefined;
test("a call without arguments has no operation", { skip: skip || isAlone }, async () => {
  const params = { name: own?.tool ?? "", arguments: null };
  const { content, isError } = await client.ask("tools/call", params);
  const { error } = parse((content as { text: string }[])[0]?.text ?? "") as { error: JsonObject };
  assert.deepEqual([error["code"], isError], ["VALIDATION_MISSING_PARAM", true]);
});

test("a wrong call is rejected before anything is sent", async () => {
  for (const operation of data.operations.filter(({ tool }) => tool !== "")) {
    const params = { no_such_parameter: 1 };
    const answer = await client.call(operation.tool, { operation: operation.name, params });
    assert.equal((answer["error"] as JsonObject)["code"], "VALIDATION_UNKNOWN_PARAM", operation.name);
  }
});
