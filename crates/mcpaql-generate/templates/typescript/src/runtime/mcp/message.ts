// JSON-RPC on the wire: what came in, told apart without being read, and what goes out, each one line.

import { stringify } from "../json.js";
import type { Asked, RpcError } from "../client.js";
import { type JsonObject, isObject, own, parseValue } from "../values.js";
import { type Raw, chosenOf, itemsOf, rawOf, textOf } from "./raw.js";

/** The revision that is asked for first; whatever the server answers is accepted. */
export const REVISION = "2025-11-25";
/** The first revision without a handshake. */
export const STATELESS = "2026-07-28";

/** JSON-RPC's code for a method that is not there. */
export const METHOD_NOT_FOUND = -32601;
/** MCP's code for a revision that a server does not speak. */
export const UNSUPPORTED_REVISION = -32022;

/** What we can be asked for: questions go on to whoever called. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {} };

/** What is said in the handshake by a program of that version. */
export function hello(version: string): JsonObject {
  return { protocolVersion: REVISION, capabilities: CAPABILITIES, clientInfo: clientInfo(version) };
}

/** What each request of the revisions without a handshake carries. */
export function statelessMeta(version: string): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientInfo": clientInfo(version),
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
  };
}

/** Who we are, as every revision writes it. */
function clientInfo(version: string): JsonObject {
  return { name: "mcpaql", title: "MCP-AQL", version };
}

/** What a server sent: an answer to a request of ours, a request of its own, or news. */
export type Message =
  | { readonly kind: "answer"; readonly id: number; readonly result: Raw }
  | { readonly kind: "refusal"; readonly id: number; readonly error: Raw }
  | { readonly kind: "request"; readonly id: Raw; readonly method: string; readonly params: Raw | undefined }
  | { readonly kind: "notification"; readonly method: string; readonly params: Raw | undefined };

/** The messages in a text: one, or those of a batch. What is none is left out; nothing comes back where the text is no JSON. */
export function readMessages(text: string): Message[] | undefined {
  const json = rawOf(text);
  if (json === undefined) return undefined;
  return itemsOf(json)?.flatMap((one) => readMessage(one) ?? []) ?? readMessage(json);
}

/** None or one; `undefined` where it is no object that has each member once. */
function readMessage(text: Raw): Message[] | undefined {
  const members = chosenOf(text, ["id", "method", "params", "result", "error"]);
  if (members === undefined) return undefined;
  const id = members.id === "null" ? undefined : members.id;
  const error = members.error === "null" ? undefined : members.error;
  const { params, result } = members;
  const named = members.method === undefined || members.method === "null" ? undefined : textOf(members.method);
  if (named === undefined && members.method !== undefined && members.method !== "null") return undefined;
  if (named !== undefined) {
    return [id === undefined ? { kind: "notification", method: named, params } : { kind: "request", id, method: named, params }];
  }
  // Some servers answer with the number as a text; what is no number of ours is a line of a log that happens to be JSON.
  const number = id === undefined ? undefined : /^"*(\+?\d{1,16})"*$/.exec(id)?.[1];
  if (number === undefined) return [];
  if (error !== undefined) return [{ kind: "refusal", id: Number(number), error }];
  return result === undefined ? [] : [{ kind: "answer", id: Number(number), result }];
}

/** A JSON-RPC error as its sender wrote it; `undefined` where it has no known form. */
export function errorOf(value: unknown): RpcError | undefined {
  if (!isObject(value)) return undefined;
  const { code = 0, message = "", data } = { code: own(value, "code"), message: own(value, "message"), data: own(value, "data") };
  if (!Number.isSafeInteger(code) || typeof message !== "string") return undefined;
  return { code: code as number, message, ...(data === null || data === undefined ? {} : { data }) };
}

/** Parameters as a value; none where they cannot be held. */
export function paramsOf(params: Raw | undefined): JsonObject {
  const value = params === undefined ? undefined : parseValue(params);
  return isObject(value) ? value : {};
}

/** A request of ours; `meta` is joined with what the parameters have there. */
export function request(id: number, method: string, params: JsonObject, meta: JsonObject): string {
  const { _meta: own, ...others } = params;
  const joined = { ...(isObject(own) ? own : {}), ...meta };
  const all = Object.keys(joined).length === 0 ? others : { ...others, _meta: joined };
  return line({ jsonrpc: "2.0", id, method, params: all });
}

/** A notification of ours. */
export function notification(method: string, params?: JsonObject): string {
  return line({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
}

/** The answer to a request of the server. */
export function answer(id: Raw, outcome: Asked): string {
  const said = "error" in outcome ? `"error":${stringify(outcome.error)}` : `"result":${stringify(outcome.result)}`;
  return `{"jsonrpc":"2.0","id":${id},${said}}\n`;
}

function line(message: object): string {
  return `${stringify(message)}\n`;
}
