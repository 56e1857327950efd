// The client behind a call: what an upstream asks is put to it, and what an upstream logs is passed on as far as it wants to hear it.

import { type JsonObject, own } from "./values.js";

/** What a client may be asked for: a question to the user, or one to the user's model. */
export type Ability = "elicitation/create" | "sampling/createMessage";

/** What that method asks for. */
export function abilityOf(method: unknown): Ability | undefined {
  return method === "elicitation/create" || method === "sampling/createMessage" ? method : undefined;
}

/** An error of JSON-RPC. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What a question came to, as the protocol has it. */
export type Asked = { readonly result: unknown } | { readonly error: RpcError };

/** How severe something is that was logged, the least first. */
export const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type Level = (typeof LEVELS)[number];

/** Where requests without a handshake say the level. */
export const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

/** What a client wants to hear of what is logged: it never said what, or from a level on. */
export type Wish = "nothing" | "everything" | { readonly from: Level };

/** The level of that name. */
export function levelOf(name: unknown): Level | undefined {
  return LEVELS.find((level) => level === name);
}

/** Whether a wish includes what a notification brings. */
export function includes(wish: Wish, params: JsonObject): boolean {
  if (typeof wish === "string") return wish === "everything";
  const level = levelOf(own(params, "level"));
  return level !== undefined && LEVELS.indexOf(level) >= LEVELS.indexOf(wish.from);
}

/** Somebody who can be told and asked. */
export interface Client {
  isAble(ability: Ability): boolean;
  /** Whether both are the same, on the same connection. */
  isSame(other: Client): boolean;
  /** Puts a question; nothing comes back where there is no answer. */
  ask(ability: Ability, params: JsonObject, signal: AbortSignal): Promise<Asked | undefined>;
  /** Passes a notification on. */
  notify(method: string, params: JsonObject): void;
  /** What it wants to hear of what is logged, which may change while a call runs. */
  logWish(): Wish;
}
