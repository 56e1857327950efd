// Resources and prompts of the server behind the adapter, under names that lead back to it.
//
// A prompt is called `{adapter}_{prompt}`; a resource has the address `mcpaql://{adapter}/{address}`, where the server's own address, or
// its template, stands as it is. What always holds: they are offered once the server has said that it has them. Of several servers to
// choose from nothing is passed on but logs: no name would lead back to one of them.

import { ProtocolError } from "@modelcontextprotocol/server";
import { log } from "../log.js";
import type { Caller } from "../pipeline.js";
import { snakeCase } from "../suggest.js";
import { type JsonObject, isArray, isObject, own } from "../values.js";
import { UpstreamError } from "./error.js";
import { heldEntries, heldResult } from "./shapes.js";
import type { Upstream } from "./upstream.js";

/** How long a list waits for the server. */
const PATIENCE_MS = 10_000;
const SCHEME = "mcpaql://";
const [NOT_FOUND, INVALID, INTERNAL] = [-32002, -32602, -32603];

/** What each list calls its entries, and what is renamed in them. */
const LISTS: Readonly<Record<string, readonly [key: string, name: string]>> = {
  "resources/list": ["resources", "uri"],
  "resources/templates/list": ["resourceTemplates", "uriTemplate"],
  "prompts/list": ["prompts", "name"],
};
/** What names the one thing that is asked for. */
const THINGS: Readonly<Record<string, string>> = { "resources/read": "uri", "prompts/get": "name" };

/** What a server offers besides its tools. */
export class Passing {
  readonly #only: Upstream | undefined;
  readonly #prefix: string;

  constructor(adapter: string, upstreams: readonly Upstream[]) {
    this.#only = upstreams.length === 1 ? upstreams[0] : undefined;
    this.#prefix = snakeCase(adapter);
  }

  /** What is known to be offered, as capabilities; that a server logs is known too late, and a level for one that does not hurts nobody. */
  get capabilities(): { logging: object; resources?: object; prompts?: object } {
    const offered = { ...(this.#has("resources") ? { resources: {} } : {}), ...(this.#has("prompts") ? { prompts: {} } : {}) };
    return { logging: {}, ...offered };
  }

  /** Whether that method is offered now. */
  offers(method: string): boolean {
    if (!Object.hasOwn(LISTS, method) && !Object.hasOwn(THINGS, method)) return false;
    return this.#has(method.startsWith("prompts/") ? "prompts" : "resources");
  }

  #has(what: string): boolean {
    const all = own(this.#only?.greeting ?? {}, "capabilities");
    return isObject(all) && isObject(own(all, what));
  }

  get #upstream(): Upstream {
    if (this.#only === undefined) throw new ProtocolError(INTERNAL, "Several servers stand behind this one; tell the user.");
    return this.#only;
  }

  /** What one of these methods is answered with. */
  async answer(method: string, params: JsonObject, caller: Caller): Promise<JsonObject> {
    const list = LISTS[method];
    if (list !== undefined) return { [list[0]]: await this.#list(method, list, caller) };
    const name = THINGS[method] ?? "";
    const asked = own(params, name);
    if (typeof asked !== "string") {
      throw new ProtocolError(INVALID, `The params of ${method} do not have the shape the protocol defines.`);
    }
    try {
      const result = name === "uri" ? await this.#read(asked, caller) : await this.#prompt(asked, params, caller);
      const held = heldResult(method, result);
      if (held !== undefined) return held;
    } catch (error) {
      throw declined(error);
    }
    throw new ProtocolError(INTERNAL, "The server behind answered in a form that cannot be passed on.");
  }

  /** The entries of a list, under their names here. A server that does not answer has none. */
  async #list(method: string, [key, name]: readonly [string, string], caller: Caller): Promise<unknown[]> {
    const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(PATIENCE_MS)]);
    try {
      const listed = await this.#upstream.list(method, key, { ...caller, signal, progress: () => undefined });
      const entries = heldEntries(method, listed.map((entry) => this.#renamed(entry, name)));
      const names = entries.map((entry) => own(entry as JsonObject, "name"));
      return name === "name" ? entries.filter((_, at) => names.indexOf(names[at]) === at) : entries;
    } catch (error) {
      log.warn("nothing is listed", { method, reason: error instanceof UpstreamError ? error.message : "it did not answer in time" });
      return [];
    }
  }

  #renamed(entry: unknown, name: string): unknown {
    const own = isObject(entry) ? entry[name] : undefined;
    if (!isObject(entry) || typeof own !== "string") return entry;
    return { ...entry, [name]: name === "name" ? `${this.#prefix}_${own}` : `${SCHEME}${this.#prefix}/${own}` };
  }

  async #prompt(asked: string, params: JsonObject, caller: Caller): Promise<JsonObject> {
    const start = `${this.#prefix}_`;
    if (!asked.startsWith(start)) {
      throw new ProtocolError(INVALID, `Unknown prompt '${asked}'. List the prompts with prompts/list.`);
    }
    const args = own(params, "arguments");
    const name = asked.slice(start.length);
    return await this.#upstream.request("prompts/get", { name, ...(args === undefined ? {} : { arguments: args }) }, caller);
  }

  async #read(asked: string, caller: Caller): Promise<JsonObject> {
    const [, prefix, inside] = /^mcpaql:\/\/([^/]*)\/(.*)$/s.exec(asked) ?? [];
    // A tool's result may name an address of its server as the server knows it.
    if (prefix === undefined) return await this.#upstream.request("resources/read", { uri: asked }, caller);
    if (prefix !== this.#prefix) {
      throw new ProtocolError(NOT_FOUND, "Unknown resource. List the resources with resources/list.", { uri: asked });
    }
    const result = await this.#upstream.request("resources/read", { uri: inside }, caller);
    const contents = own(result, "contents");
    return isArray(contents) ? { ...result, contents: contents.map((one) => this.#renamed(one, "uri")) } : result;
  }
}

function declined(error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const { fault } = error;
  if (fault.kind === "refused") return new ProtocolError(fault.code, fault.message, fault.data);
  return new ProtocolError(INTERNAL, error.told().message);
}
