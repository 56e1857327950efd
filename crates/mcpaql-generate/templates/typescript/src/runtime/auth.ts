// Credentials of an HTTP target: where they go, and their values for one call.
//
// Values are read from the environment on every call, so a rotated variable works without a restart and a missing one fails only
// the calls that need it. Of alternatives the first whose variables are all set is taken. What always holds: whatever was read or
// fetched is in the mask of the call.

import type { Environment, Template } from "./environment.js";
import { OpError } from "./errors.js";
import type { Headers } from "./http/headers.js";
import { headerName, isSendable } from "./http/headers.js";
import type { Issued, OAuth2, Tokens } from "./oauth.js";
import { oauthVariables } from "./oauth.js";
import { Mask } from "./secrets.js";
import { trim } from "./text.js";

/** How calls are authenticated. Only names of environment variables are here, never values. */
export type Auth =
  /** Not at all. */
  | null
  | { readonly type: "bearer"; readonly token_env: string; readonly header: string; readonly prefix: string }
  | {
      readonly type: "api_key";
      readonly key_env: string;
      readonly in: "header" | "query" | "cookie";
      readonly name: string;
      readonly prefix: string;
    }
  | { readonly type: "basic"; readonly username_env: string; readonly password_env: string }
  | OAuth2
  /** All of them together. */
  | { readonly type: "all"; readonly of: readonly Auth[] }
  /** The first whose variables are set. */
  | { readonly type: "any"; readonly of: readonly Auth[] };

/** What only the server itself sets: a parameter of that name is refused. */
export class Reserved {
  readonly headers = new Set<string>();
  readonly query = new Set<string>();
  readonly cookies = new Set<string>();

  copy(): Reserved {
    const copy = new Reserved();
    this.headers.forEach((name) => copy.headers.add(name));
    this.query.forEach((name) => copy.query.add(name));
    this.cookies.forEach((name) => copy.cookies.add(name));
    return copy;
  }

  /** Adds what these credentials use, alternatives included; the name of a header that is none comes back. */
  add(auth: Auth): string | undefined {
    if (auth === null) return undefined;
    switch (auth.type) {
      case "bearer":
        return this.#addHeader(auth.header);
      case "api_key":
        if (auth.in === "header") return this.#addHeader(auth.name);
        (auth.in === "query" ? this.query : this.cookies).add(auth.name);
        return undefined;
      case "basic":
      case "oauth2":
        return this.#addHeader("authorization");
      case "all":
      case "any":
        return auth.of.map((one) => this.add(one)).find((name) => name !== undefined);
    }
  }

  #addHeader(name: string): string | undefined {
    const header = headerName(name);
    if (header === undefined) return name;
    this.headers.add(header);
    return undefined;
  }
}

/** The credentials of one call. */
export class Credentials {
  readonly headers: Headers = new Map();
  readonly query: [string, string][] = [];
  readonly cookies: [string, string][] = [];
  readonly mask = new Mask();
  readonly #env: Environment;
  /** The fetched tokens among them, so that a refused one can be given up. */
  readonly #tokens: Issued[] = [];

  private constructor(env: Environment) {
    this.#env = env;
  }

  /** Of a call that has none yet. */
  static none(): Credentials {
    return new Credentials({});
  }

  /** Reads what the way of authentication and the secret headers of the target need. */
  static async read(
    auth: Auth,
    headers: readonly (readonly [string, Template])[],
    env: Environment,
    tokens: Tokens,
    signal: AbortSignal,
  ): Promise<Credentials> {
    const credentials = new Credentials(env);
    for (const [name, template] of headers) credentials.#fill(name, template);
    for (const simple of chosen(auth, env)) await credentials.#add(simple, tokens, signal);
    return credentials;
  }

  /** Gives up the fetched tokens, because the API refused them; `false` where there are none. */
  giveUp(): boolean {
    for (const issued of this.#tokens) issued.giveUp();
    return this.#tokens.length > 0;
  }

  async #add(auth: Auth, tokens: Tokens, signal: AbortSignal): Promise<void> {
    switch (auth?.type) {
      case undefined:
      case "all":
      case "any":
        return;
      case "bearer":
        this.#header(auth.header, auth.prefix, auth.token_env);
        return;
      case "api_key":
        this.#key(auth.in, auth.name, auth.prefix, auth.key_env);
        return;
      case "basic":
        this.#basic(auth.username_env, auth.password_env);
        return;
      case "oauth2": {
        const issued = await tokens.issue(auth, this.#env, this.mask, signal);
        this.#set("authorization", `Bearer ${issued.token}`, auth.client_id_env);
        this.#tokens.push(issued);
      }
    }
  }

  #key(place: "header" | "query" | "cookie", name: string, prefix: string, variable: string): void {
    if (place === "header") {
      this.#header(name, prefix, variable);
      return;
    }
    const value = this.#prefixed(prefix, variable);
    if (place === "query") {
      this.query.push([name, value]);
      return;
    }
    // What ends a cookie, or is no character of one, would change what is sent.
    if (!/^[!#-+\--:<-[\]-~]*$/.test(value)) throw unsendable(variable);
    this.cookies.push([name, value]);
  }

  #header(name: string, prefix: string, variable: string): void {
    const header = headerName(name);
    if (header === undefined) throw unsendable(variable);
    this.#set(header, this.#prefixed(prefix, variable), variable);
  }

  #prefixed(prefix: string, variable: string): string {
    const secret = required(this.#env, variable);
    this.mask.add(secret);
    return `${prefix}${secret}`;
  }

  #fill(name: string, template: Template): void {
    let value = "";
    let last = "";
    for (const piece of template) {
      if ("text" in piece) {
        value += piece.text;
        continue;
      }
      const secret = set(this.#env, piece.variable);
      if (secret !== undefined && secret !== "") {
        this.mask.add(secret);
        value += secret;
      } else if (piece.fallback === undefined) {
        throw missing(piece.variable);
      } else {
        value += piece.fallback;
      }
      last = piece.variable;
    }
    this.#set(name, value, last);
  }

  /** An API key as user name with an empty password is common; then the user name is the secret. */
  #basic(username: string, password: string): void {
    const user = required(this.#env, username);
    const word = set(this.#env, password);
    if (word === undefined) throw missing(password);
    if (user.includes(":")) throw unsendable(username);
    const pair = `${user}:${word}`;
    this.mask.add(pair);
    this.mask.add(word === "" ? user : word);
    this.#set("authorization", `Basic ${Buffer.from(pair, "utf8").toString("base64")}`, username);
  }

  #set(name: string, value: string, variable: string): void {
    if (!isSendable(value)) throw unsendable(variable);
    this.headers.set(name, value);
  }
}

/** The variable's value without surrounding white space (a trailing line feed is common in secret files). */
function set(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined ? undefined : trim(value);
}

/** The variable's value, which must not be empty. */
export function required(env: Environment, name: string): string {
  const value = set(env, name);
  if (value === undefined || value === "") throw missing(name);
  return value;
}

function missing(name: string): OpError {
  return new OpError(
    "PERMISSION_DENIED",
    `The credentials for this API are not set up; tell the user to set the environment variable ${name} for this server and to start it again.`,
  ).with("variable", name);
}

function unsendable(name: string): OpError {
  return new OpError(
    "PERMISSION_DENIED",
    `The environment variable ${name} holds characters that cannot be sent in a header; tell the user to correct its value.`,
  ).with("variable", name);
}

/** The simple schemes that stand for this one now: all of several, and the first alternative whose variables are set. */
function chosen(auth: Auth, env: Environment): Auth[] {
  if (auth?.type === "all") return auth.of.flatMap((one) => chosen(one, env));
  if (auth?.type !== "any") return [auth];
  const first = auth.of.find((one) => isSet(one, env));
  if (first !== undefined) return chosen(first, env);
  const alternatives = auth.of.map((one) => variables(one).join(" and "));
  if (alternatives.length === 0) return [];
  throw new OpError(
    "PERMISSION_DENIED",
    `The credentials for this API are not set up; tell the user to set the environment variables ${alternatives.join(", or ")} for this server and to start it again.`,
  ).with("variables", alternatives);
}

function isSet(auth: Auth, env: Environment): boolean {
  const filled = (name: string): boolean => (set(env, name) ?? "") !== "";
  switch (auth?.type) {
    case "all":
      return auth.of.every((one) => isSet(one, env));
    case "any":
      return auth.of.some((one) => isSet(one, env));
    case "basic":
      // A password may be empty where the user name is the secret.
      return filled(auth.username_env) && set(env, auth.password_env) !== undefined;
    default:
      return variables(auth).every(filled);
  }
}

/** The variables a scheme needs, for people: alternatives are not told apart. */
function variables(auth: Auth): string[] {
  switch (auth?.type) {
    case undefined:
      return [];
    case "bearer":
      return [auth.token_env];
    case "api_key":
      return [auth.key_env];
    case "basic":
      return [auth.username_env, auth.password_env];
    case "oauth2":
      return oauthVariables(auth);
    case "all":
    case "any":
      return auth.of.flatMap(variables);
  }
}
