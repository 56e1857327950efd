// Addresses that a document names, with their variables filled in and checked.
//
// What always holds: an address is `https`, or `http` to this machine, or `http` where the document allows it; it holds neither
// credentials nor a fragment, and a query only where it is whole. Variables are read on every call, like those of headers.

import type { Environment } from "../environment.js";
import { fillTemplate, parseTemplate, variablesOf } from "../environment.js";
import { OpError } from "../errors.js";
import { trim } from "../text.js";
import { isLoopback } from "./redirect.js";

/** Why an address, or what goes with it, cannot be used. Written for the operator. */
export class SetupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SetupError";
  }
}

/** The variable's value where it is no secret, such as a part of an address. */
function plain(env: Environment, name: string): string | undefined {
  const value = trim(env[name] ?? "");
  return value === "" ? undefined : value;
}

/** The address behind a text of the document now; the name of a variable where that is not set. Throws a `SetupError`. */
function filled(text: string, allowHttp: boolean, env: Environment, isWhole: boolean): URL | { readonly unset: string } {
  const template = parseTemplate(text);
  if (template === undefined) throw new SetupError("the base URL holds a ${env:NAME} that is not closed");
  const full = fillTemplate(template, (name) => plain(env, name));
  return "unset" in full ? full : checked(full.text, allowHttp, isWhole);
}

/** Throws a `SetupError` where the address is wrong already; one whose variables are not set is checked by the calls. */
export function checkBase(text: string, allowHttp: boolean, env: Environment, isWhole = false): void {
  filled(text, allowHttp, env, isWhole);
}

/** The address behind a text of the document, for this call; a whole one is not the beginning of others. */
export function resolve(text: string, allowHttp: boolean, env: Environment, isWhole = false): URL {
  let found: URL | { readonly unset: string };
  try {
    found = filled(text, allowHttp, env, isWhole);
  } catch (error) {
    throw wrong(text, error);
  }
  if (found instanceof URL) return found;
  throw new OpError(
    "INTERNAL_ERROR",
    `The address of this API is not set up; tell the user to set the environment variable ${found.unset} for this server and to start it again.`,
  ).with("variable", found.unset);
}

function checked(text: string, allowHttp: boolean, isWhole: boolean): URL {
  if (!URL.canParse(text)) throw new SetupError("the base URL is not an absolute URL; write https://host/path");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw new SetupError("the base URL holds credentials; put them into environment variables and name those in auth");
  }
  // An empty query or fragment leaves nothing behind but its mark.
  if ((isWhole ? /#/ : /[?#]/).test(url.href)) {
    throw new SetupError("the base URL holds a query or a fragment; declare parameters instead");
  }
  if (url.protocol === "https:") return url;
  if (url.protocol !== "http:") throw new SetupError("the base URL is neither https nor http");
  if (allowHttp || isLoopback(url)) return url;
  throw new SetupError("the base URL uses plain http to another machine; use https, or set allow_http in the target");
}

function wrong(text: string, cause: unknown): OpError {
  const names = variablesOf(parseTemplate(text) ?? []);
  const whom =
    names.length === 0
      ? "tell the operator to correct it in the document"
      : `tell the user to correct the environment variables it is made of: ${names.join(", ")}`;
  return new OpError("INTERNAL_ERROR", `The address of this API cannot be used; ${whom}.`).because(cause);
}
