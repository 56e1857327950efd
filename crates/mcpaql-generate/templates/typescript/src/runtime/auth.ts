// Credentials of an HTTP target. They are read from the environment on every call, so that a rotated variable works at once.

import { Secrets, fill } from "./environment.js";
import { OpError } from "./errors.js";
import { isObject } from "./json.js";

export interface OAuth2 {
  readonly type: "oauth2";
  readonly token_url: string;
  readonly client_id_env: string;
  readonly client_secret_env: string | null;
  readonly refresh_token_env: string | null;
  readonly scopes: readonly string[];
}

/** How calls are authenticated. Only names of variables are here, never values. */
export type Auth =
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
  /** All of them together, or the first whose variables are set. */
  | { readonly type: "all" | "any"; readonly of: readonly Auth[] };

/** What only the server sets: a parameter of that name is refused. */
export interface Reserved {
  readonly headers: Set<string>;
  readonly query: Set<string>;
  readonly cookies: Set<string>;
}

/** Adds what these credentials use, alternatives included. */
export function reserve(auth: Auth, reserved: Reserved): void {
  if (auth === null) return;
  if (auth.type === "all" || auth.type === "any") auth.of.forEach((one) => { reserve(one, reserved); });
  else if (auth.type === "bearer") reserved.headers.add(auth.header.toLowerCase());
  else if (auth.type !== "api_key") reserved.headers.add("authorization");
  else if (auth.in === "header") reserved.headers.add(auth.name.toLowerCase());
  else (auth.in === "query" ? reserved.query : reserved.cookies).add(auth.name);
}

/** The credentials of one call. */
export class Credentials {
  readonly headers = new Map<string, string>();
  readonly query: [string, string][] = [];
  readonly cookies: string[] = [];
  readonly secrets = new Secrets();
  readonly #grants: Grant[] = [];

  /** Reads what the way of authentication and the secret headers of the target need. */
  static async read(auth: Auth, headers: ReadonlyMap<string, string>, tokens: Tokens): Promise<Credentials> {
    const credentials = new Credentials();
    for (const [name, text] of headers) {
      credentials.#header(name, fill(text, missing, credentials.secrets), "a header of the target");
    }
    for (const one of chosen(auth)) await credentials.#add(one, tokens);
    return credentials;
  }

  /** Gives up the fetched tokens, because the API refused them; `false` where there are none. */
  giveUp(): boolean {
    for (const grant of this.#grants) grant.token = undefined;
    return this.#grants.length > 0;
  }

  async #add(auth: Auth, tokens: Tokens): Promise<void> {
    switch (auth?.type) {
      case "bearer":
        this.#header(auth.header, auth.prefix + this.#secret(auth.token_env), auth.token_env);
        return;
      case "api_key": {
        const value = auth.prefix + this.#secret(auth.key_env);
        if (auth.in === "header") this.#header(auth.name, value, auth.key_env);
        else if (auth.in === "query") this.query.push([auth.name, value]);
        else if (/^[!#-+\--:<-[\]-~]*$/.test(value)) this.cookies.push(`${auth.name}=${value}`);
        else throw unsendable(auth.key_env);
        return;
      }
      case "basic": {
        const user = required(auth.username_env);
        const word = process.env[auth.password_env]?.trim();
        if (word === undefined) throw missing(auth.password_env);
        if (user.includes(":")) throw unsendable(auth.username_env);
        this.secrets.add(word === "" ? user : word);
        this.secrets.add(`${user}:${word}`);
        this.#header("authorization", `Basic ${Buffer.from(`${user}:${word}`).toString("base64")}`, auth.username_env);
        return;
      }
      case "oauth2": {
        const { token, grant } = await tokens.issue(auth, this.secrets);
        this.#header("authorization", `Bearer ${token}`, auth.client_id_env);
        this.#grants.push(grant);
      }
    }
  }

  #secret(variable: string): string {
    const value = required(variable);
    this.secrets.add(value);
    return value;
  }

  #header(name: string, value: string, variable: string): void {
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) throw unsendable(variable);
    this.headers.set(name.toLowerCase(), value);
  }
}

function required(name: string): string {
  const value = process.env[name]?.trim() ?? "";
  if (value === "") throw missing(name);
  return value;
}

function missing(...names: string[]): OpError {
  const message =
    `The credentials for this API are not set up; tell the user to set the environment variable ` +
    `${names.join(", or ")} for this server and to start it again.`;
  return new OpError("PERMISSION_DENIED", message, names.length === 1 ? { variable: names[0] } : { variables: names });
}

function unsendable(name: string): OpError {
  const message = `The environment variable ${name} holds characters that cannot be sent; tell the user to correct it.`;
  return new OpError("PERMISSION_DENIED", message, { variable: name });
}

/** The simple ways that stand for this one now. */
function chosen(auth: Auth): Auth[] {
  if (auth?.type !== "all" && auth?.type !== "any") return [auth];
  if (auth.type === "all") return auth.of.flatMap(chosen);
  const first = auth.of.find(isSet);
  if (first === undefined && auth.of.length > 0) throw missing(...auth.of.map((one) => variables(one).join(" and ")));
  return first === undefined ? [] : chosen(first);
}

function isSet(auth: Auth): boolean {
  const isFilled = (name: string): boolean => (process.env[name]?.trim() ?? "") !== "";
  if (auth?.type === "all") return auth.of.every(isSet);
  if (auth?.type === "any") return auth.of.some(isSet);
  // A password may be empty where the user name is the secret.
  if (auth?.type === "basic") return isFilled(auth.username_env) && process.env[auth.password_env] !== undefined;
  return variables(auth).every(isFilled);
}

function variables(auth: Auth): string[] {
  if (auth === null) return [];
  if ("of" in auth) return auth.of.flatMap(variables);
  return Object.entries(auth).flatMap(([key, name]) => (key.endsWith("_env") && typeof name === "string" ? [name] : []));
}

/** One way to get a token, with what it was fetched with. */
interface Grant {
  readonly key: string;
  token: { readonly value: string; readonly until: number } | undefined;
  /** The refresh token that replaced the one in the environment. */
  rotated: string | undefined;
  /** This service takes the client's secret in the body alone. */
  inBody: boolean;
  fetching: Promise<string> | undefined;
}

/** What a token endpoint said. */
export interface TokenReply {
  readonly status: number;
  readonly body: unknown;
}

/** Sends one form to a token endpoint; throws where it cannot be reached. */
export type PostForm = (url: string, headers: Record<string, string>, form: string) => Promise<TokenReply>;

const LONGEST_MS = 24 * 3_600_000;

/** The tokens of a target: calls that need one meanwhile share one fetch and its outcome. */
export class Tokens {
  readonly #grants = new Map<string, Grant>();

  constructor(readonly post: PostForm) {}

  async issue(oauth: OAuth2, secrets: Secrets): Promise<{ token: string; grant: Grant }> {
    const optional = (name: string | null): string | undefined => (name === null ? undefined : required(name));
    const keys = {
      id: required(oauth.client_id_env),
      secret: optional(oauth.client_secret_env),
      refresh: optional(oauth.refresh_token_env),
    };
    for (const secret of [keys.secret, keys.refresh]) secrets.add(secret ?? "");
    const key = JSON.stringify([oauth, keys]);
    const grant = this.#grants.get(key) ?? { key, token: undefined, rotated: undefined, inBody: false, fetching: undefined };
    this.#grants.set(key, grant);
    let token = grant.token !== undefined && Date.now() < grant.token.until ? grant.token.value : undefined;
    if (token === undefined) {
      grant.fetching ??= this.#fetch(oauth, grant, keys).finally(() => (grant.fetching = undefined));
      token = await grant.fetching;
    }
    secrets.add(token);
    return { token, grant };
  }

  async #fetch(
    oauth: OAuth2,
    grant: Grant,
    keys: { id: string; secret: string | undefined; refresh: string | undefined },
  ): Promise<string> {
    const refresh = grant.rotated ?? keys.refresh;
    const ask = (inBody: boolean): Promise<TokenReply> => {
      const form = new URLSearchParams(
        refresh === undefined ? { grant_type: "client_credentials" } : { grant_type: "refresh_token", refresh_token: refresh },
      );
      if (oauth.scopes.length > 0) form.append("scope", oauth.scopes.join(" "));
      if (!inBody) {
        // RFC 6749, 2.3.1: both halves are form-encoded first.
        const [id, secret] = [keys.id, keys.secret ?? ""].map((text) => new URLSearchParams({ x: text }).toString().slice(2));
        const basic = Buffer.from(`${id ?? ""}:${secret ?? ""}`).toString("base64");
        return this.post(oauth.token_url, { authorization: `Basic ${basic}` }, form.toString());
      }
      form.append("client_id", keys.id);
      if (keys.secret !== undefined) form.append("client_secret", keys.secret);
      return this.post(oauth.token_url, {}, form.toString());
    };
    const started = Date.now();
    let inBody = grant.inBody || keys.secret === undefined;
    let reply = await ask(inBody);
    if ((reply.status === 400 || reply.status === 401) && !inBody) {
      inBody = true;
      reply = await ask(inBody);
    }
    const said = isObject(reply.body) ? reply.body : {};
    const token = said["access_token"];
    if (typeof token !== "string" || reply.status < 200 || reply.status > 299) throw refused(oauth, reply.status, said["error"]);
    grant.inBody = inBody;
    if (refresh !== undefined && typeof said["refresh_token"] === "string") grant.rotated = said["refresh_token"];
    const seconds = Number(said["expires_in"] ?? Number.NaN);
    const life = seconds >= 0 ? Math.min(seconds * 1000, LONGEST_MS) : LONGEST_MS;
    grant.token = { value: token, until: started + life - Math.min(60_000, life / 10) };
    return token;
  }
}

/** The service that issues tokens is not there. */
export function noTokens(cause: unknown): OpError {
  const message = "The service that issues tokens for this API could not be reached; try later or tell the user.";
  return new OpError("TRANSPORT_CONNECTION_FAILED", message, {}, { cause });
}

function refused(oauth: OAuth2, status: number, word: unknown): OpError {
  if (status >= 500 || status === 429) return noTokens(`status ${status}`);
  // OAuth's own words have this shape; anything else might repeat what was sent.
  const said = typeof word === "string" && /^[a-z_]{1,40}$/.test(word) ? word : `status ${status}`;
  const names = variables(oauth);
  const message =
    `The service that issues tokens for this API refused the credentials (${said}); ` +
    `tell the user to check the environment variables ${names.join(", ")} of this server.`;
  return new OpError("PERMISSION_DENIED", message, { variables: names });
}
