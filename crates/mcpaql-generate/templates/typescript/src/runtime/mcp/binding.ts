// What a document says about another MCP server: the target, and the one tool call that an operation is.

import type { Auth } from "../auth.js";

/** A program that is started and spoken to over its standard streams. Its texts may hold `${env:NAME}`. */
export interface ProgramLink {
  readonly command: readonly string[];
  readonly cwd: string | null;
  /** Names of environment variables that are passed on besides the usual ones. */
  readonly env: readonly string[];
  /** Variables set to these values. */
  readonly set_env: Readonly<Record<string, string>>;
}

/** An address that speaks streamable HTTP. Address and headers may hold `${env:NAME}`. */
export interface AddressLink {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Plain `http://` to other machines. */
  readonly allow_http: boolean;
}

/** Another MCP server, as `catalog.json` describes it. */
export interface McpTarget {
  readonly protocol: "mcp";
  readonly link: ProgramLink | AddressLink;
  /** Headers of the caller's own request that are passed on. */
  readonly caller_headers: readonly string[];
  /** Started before somebody calls, and again when it ends. */
  readonly eager: boolean;
  /** Until it has answered the handshake. */
  readonly start_timeout_ms: number;
  /** For each call; news of its progress begin it anew. */
  readonly timeout_ms: number;
  readonly max_response_bytes: number;
  readonly auth: Auth;
}

/** One call of a tool. */
export interface ToolCall {
  readonly tool: string;
  /** The names that the tool knows, where they are others. */
  readonly names?: Readonly<Record<string, string>>;
  /** Arguments that are the same in every call. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** Parameters that are never echoed. */
  readonly sensitive?: readonly string[];
  /** The parameter that chooses among several upstreams. */
  readonly target?: string;
}
