// Why an upstream did not answer, and what the caller is told.
//
// What always holds: nothing in it shows a secret.

import { OpError, copyOf } from "../errors.js";
import type { Mask } from "../secrets.js";

/** What happened. */
export type Fault =
  /** It could not be started or reached, or it went away; `retryAfterMs` is how long it is left alone. */
  | { readonly kind: "unavailable"; readonly server: string; readonly reason: string; readonly retryAfterMs?: number }
  /** It did not answer in time. */
  | { readonly kind: "timeout"; readonly server: string; readonly afterMs: number }
  /** The answer was larger than may be. */
  | { readonly kind: "too large"; readonly server: string; readonly limit: number }
  /** The answer was not one; `reason` is the rest of a sentence. */
  | { readonly kind: "unreadable"; readonly server: string; readonly reason: string }
  /** It answered with an error of the protocol. */
  | { readonly kind: "refused"; readonly server: string; readonly code: number; readonly message: string; readonly data?: unknown }
  /** Credentials are missing, or the way to it refused the request. */
  | { readonly kind: "refusal"; readonly error: OpError };

/** Why there is no answer. */
export class UpstreamError extends Error {
  constructor(
    readonly fault: Fault,
    /** The server cannot have seen the call. */
    readonly unseen = false,
  ) {
    super(sentenceOf(fault));
    this.name = "UpstreamError";
  }

  /** The same without secrets in the server's own words. */
  masked(mask: Mask): UpstreamError {
    const { fault } = this;
    if (fault.kind !== "refused") return this;
    return new UpstreamError({ ...fault, message: mask.apply(fault.message), data: mask.applyValue(fault.data) });
  }

  /** What a caller is told. An error of the protocol is not here: whoever made the request knows what it means. */
  told(): OpError {
    const { fault } = this;
    const sentence = `${this.message.charAt(0).toUpperCase()}${this.message.slice(1)}`;
    switch (fault.kind) {
      case "unavailable":
        if (fault.retryAfterMs !== undefined) {
          const seconds = Math.ceil(fault.retryAfterMs / 1000);
          const message = `${sentence}; it is tried again later.`;
          return new OpError("TRANSPORT_CONNECTION_FAILED", message).with("retry_after_seconds", seconds);
        }
        return new OpError(
          "TRANSPORT_CONNECTION_FAILED",
          `${sentence}; try again, and after a write first read whether it took effect.`,
        );
      case "timeout":
        return new OpError(
          "TRANSPORT_TIMEOUT",
          `${sentence}; try later or ask for less, and after a write first read whether it took effect.`,
        );
      case "too large":
        return new OpError("VALIDATION_PAYLOAD_TOO_LARGE", `${sentence}; ask for less with a page, a filter or fewer fields.`)
          .with("limit", "max_response_bytes")
          .with("max_bytes", fault.limit);
      case "unreadable":
      case "refused":
        return new OpError("INTERNAL_ERROR", `${sentence}; tell the user.`);
      case "refusal":
        return copyOf(fault.error);
    }
  }
}

/** It could not be started or reached, or it went away. */
export function unavailable(server: string, reason: string, unseen = false): UpstreamError {
  return new UpstreamError({ kind: "unavailable", server, reason }, unseen);
}

/** What a call is told while an upstream is left alone. */
export function resting({ fault }: UpstreamError, retryAfterMs: number): UpstreamError {
  switch (fault.kind) {
    case "unavailable":
      return new UpstreamError({ ...fault, retryAfterMs });
    case "timeout": {
      const reason = `did not answer the handshake within ${fault.afterMs} ms`;
      return new UpstreamError({ kind: "unavailable", server: fault.server, reason, retryAfterMs });
    }
    default:
      return new UpstreamError(fault);
  }
}

function sentenceOf(fault: Fault): string {
  switch (fault.kind) {
    case "unavailable":
      return `the MCP server '${fault.server}' ${fault.reason}`;
    case "timeout":
      return `the MCP server '${fault.server}' did not answer within ${fault.afterMs} ms`;
    case "too large":
      return `the answer of the MCP server '${fault.server}' has more than ${fault.limit} bytes`;
    case "unreadable":
      return `the answer of the MCP server '${fault.server}' ${fault.reason}`;
    case "refused":
      return `the MCP server '${fault.server}' answered with error ${fault.code}: ${fault.message}`;
    case "refusal":
      return fault.error.message;
  }
}
