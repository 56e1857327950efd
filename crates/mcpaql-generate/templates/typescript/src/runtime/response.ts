// Outcome → envelope: `{"success":true,"data":…}` or `{"success":false,"error":{…}}`, minified, nothing echoed.
//
// What always holds: success may carry warnings, a failure is bare; JSON text of an upstream passes through unparsed.

import { OpError, remedy } from "./errors.js";
import { stringify } from "./json.js";
import { heldBlock } from "./mcp/shapes.js";

/** The data of an answer: a value that was built here, or JSON text from elsewhere that is known to be one valid value. */
export type Data = { readonly value: unknown } | { readonly raw: string };

/** The data as JSON text. */
export function dataText(data: Data): string {
  return "raw" in data ? data.raw : stringify(data.value);
}

/** Something the agent should know although the call succeeded. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** What a target answered. */
export interface Answer {
  readonly data: Data;
  readonly warnings: Warning[];
  /** MCP content blocks beside the data: images, sounds, resources. */
  readonly blocks: unknown[];
}

/** An answer without warnings. */
export function answer(value: unknown, warnings: Warning[] = []): Answer {
  return { data: { value }, warnings, blocks: [] };
}

/** Which failures carry MCP's `isError`: those that no agent can mend, or all. */
export type ErrorPolicy = "unrecoverable" | "all";

/** What goes back to the client. */
export interface Reply {
  /** Minified JSON, the first text block of the result. */
  readonly text: string;
  /** MCP content blocks behind it, as they came. */
  readonly blocks: unknown[];
  readonly isError: boolean;
  /** The execution that the call goes on as. */
  readonly execution?: string;
}

/** The envelope of an outcome. */
export function envelope(outcome: Answer | OpError, policy: ErrorPolicy): Reply {
  if (outcome instanceof OpError) {
    const { code, message, details } = outcome;
    const error = Object.keys(details).length === 0 ? { code, message } : { code, message, details };
    const isError = policy === "all" || outcome.undispatched || remedy(code) !== "agent";
    return { text: stringify({ success: false, error }), blocks: [], isError };
  }
  const warnings = outcome.warnings.length === 0 ? "" : `,"warnings":${stringify(outcome.warnings)}`;
  return { text: `{"success":true,"data":${dataText(outcome.data)}${warnings}}`, blocks: outcome.blocks, isError: false };
}

/** A reply as the result of a call. */
export function resultOf({ text, blocks, isError }: Reply): Record<string, unknown> {
  return { content: [{ type: "text", text }, ...blocks.map(heldBlock)], isError };
}
