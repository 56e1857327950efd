// Argv template + arguments → argv. Never a shell: a value fills arguments, and nothing in it is ever split or interpreted.
//
// What always holds: the program is literal, and no value becomes an option. An argument whose first character would come from a
// value must not start with `-` unless a literal `--` stands before it. Negative numbers are no exception, because a program that
// reads `-1` as an option reads it so whatever the parameter's type; `--opt={param}` or `--` in the template take them.
//
// An array in an argument with a single placeholder gives one argument per element (`{paths}` → `a` `b`, `--label={labels}` →
// `--label=a` `--label=b`). A missing optional parameter, null and an empty array drop the argument or its group.

import { OpError } from "../errors.js";
import type { Segment } from "../http/binding.js";
import { segmentsOf } from "../http/binding.js";
import type { JsonObject } from "../values.js";
import { isArray, own, scalar } from "../values.js";
import type { Arg } from "./binding.js";

/** The program and its arguments. */
export function argvOf(template: readonly Arg[], args: JsonObject): { program: string; argv: string[] } {
  const [program, ...rest] = template;
  if (typeof program !== "string" || program === "" || segmentsOf(program).some((piece) => "param" in piece)) {
    throw new OpError("INTERNAL_ERROR", "The operation's command is not usable; tell the user.").because(
      "the first entry of argv must be a literal program",
    );
  }
  const line = new Line(args);
  for (const entry of rest) {
    if (typeof entry === "string") line.push(segmentsOf(entry));
    else if ("when" in entry) {
      if (own(args, entry.when) === true) line.pushAll(entry.args.map(segmentsOf));
    } else {
      const group = entry.map(segmentsOf);
      if (group.every((pieces) => line.isFilled(pieces))) line.pushAll(group);
    }
  }
  return { program, argv: line.argv };
}

class Line {
  readonly argv: string[] = [];
  readonly #args: JsonObject;
  /** A literal `--` has been written: what follows cannot be an option. */
  #pastOptions = false;

  constructor(args: JsonObject) {
    this.#args = args;
  }

  pushAll(group: readonly (readonly Segment[])[]): void {
    for (const pieces of group) this.push(pieces);
  }

  isFilled(pieces: readonly Segment[]): boolean {
    return pieces.every((piece) => "literal" in piece || this.#value(piece.param) !== undefined);
  }

  push(pieces: readonly Segment[]): void {
    if (!this.isFilled(pieces)) return;
    const params = pieces.flatMap((piece) => ("param" in piece ? [piece.param] : []));
    const [only] = params;
    const value = only !== undefined && params.length === 1 ? this.#value(only) : undefined;
    if (!isArray(value)) {
      this.#pushOne(pieces, undefined);
      return;
    }
    for (const item of value) if (item !== null) this.#pushOne(pieces, item);
  }

  #value(param: string): unknown {
    const value = own(this.#args, param);
    return value === null || (isArray(value) && value.length === 0) ? undefined : value;
  }

  /** One argument; `element` stands in for the only placeholder's value. */
  #pushOne(pieces: readonly Segment[], element: unknown): void {
    let argument = "";
    let leading: string | undefined;
    for (const piece of pieces) {
      if ("literal" in piece) {
        argument += piece.literal;
        continue;
      }
      const text = scalar(element ?? this.#value(piece.param)) ?? "";
      if (text.includes("\0")) throw nul(piece.param);
      if (argument === "" && text !== "") leading = piece.param;
      argument += text;
    }
    if (leading !== undefined && argument.startsWith("-") && !this.#pastOptions) throw optionLike(leading);
    this.#pastOptions ||= argument === "--" && pieces.every((piece) => "literal" in piece);
    this.argv.push(argument);
  }
}

function optionLike(param: string): OpError {
  return new OpError(
    "VALIDATION_INVALID_VALUE",
    `Parameter '${param}' must not start with '-': the program would read it as an option.`,
  ).with("param_name", param);
}

function nul(param: string): OpError {
  return new OpError(
    "VALIDATION_INVALID_ENCODING",
    `Parameter '${param}' holds a NUL character, which no program argument can; remove it.`,
  ).with("param_name", param);
}
