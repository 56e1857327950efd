// What a document says about local programs: the target, and the one process that an operation is.

import type { Code } from "../errors.js";

/** Local programs, as `catalog.json` describes them. */
export interface CommandTarget {
  readonly protocol: "command";
  /** Working directory of every process; may hold `${env:NAME}`. */
  readonly cwd: string | null;
  /** Names of environment variables that are passed on besides the usual ones. */
  readonly env: readonly string[];
  /** Variables set to fixed values. */
  readonly set_env: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
  /** Of standard output. */
  readonly max_output_bytes: number;
}

/**
 * One entry of an argv template.
 *
 * A text is one argument, whose `{placeholders}` are parameters; a missing optional parameter drops it. A list stands or falls
 * together. `when` adds its arguments where that boolean parameter is true.
 */
export type Arg = string | readonly string[] | { readonly when: string; readonly args: readonly string[] };

/** How a program gets a parameter. */
export interface CommandParam {
  /** The name that the program knows, where it is another one. */
  readonly as?: string;
  /** Never echoed. */
  readonly sensitive?: boolean;
}

/** One process: an argv template, never a shell line. */
export interface CommandLine {
  /** The program and its arguments. */
  readonly argv: readonly Arg[];
  /** Parameters of which there is something to say. */
  readonly params: Readonly<Record<string, CommandParam>>;
  /** The parameter that chooses among several upstreams. */
  readonly target?: string;
  /** What goes to standard input: all parameters as one JSON object, or one of them; nothing where it is left out. */
  readonly stdin?: "params" | { readonly param: string };
  /** How standard output is read. */
  readonly output: "json" | "jsonlines" | "lines" | "text";
  /** In place of the target's. */
  readonly timeoutMs?: number;
  /** Exit codes that mean success besides 0, or an error of their own. */
  readonly exit?: Readonly<Record<number, "success" | Code>>;
}
