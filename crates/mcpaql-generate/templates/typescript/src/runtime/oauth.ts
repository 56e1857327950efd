// OAuth 2.0 without a person: a token is fetched with client credentials or a refresh token, kept and renewed.
//
// What always holds: calls that need a token meanwhile share one fetch and its outcome; a fetch outlives the call that began it,
// so a rotated refresh token is never lost to a cancelled call; what the token endpoint says is read within a limit of size and
// time, and no error repeats it beyond OAuth's own error word; every value is in the call's mask.

import { required } from "./auth.js";
import type { Environment } from "./environment.js";
import { OpError } from "./errors.js";
import { resolve } from "./http/address.js";
import type { Connections } from "./http/connection.js";
import { isObject, isSame, own, parseValue } from "./values.js";
import type { Mask } from "./secrets.js";

/** By client credentials or by a refresh token. */
export interface OAuth2 {
  readonly type: "oauth2";
  /** Where tokens come from. */
  readonly token_url: string;
  readonly client_id_env: string;
  readonly client_secret_env: string | null;
  readonly refresh_token_env: string | null;
  readonly scopes: readonly string[];
}

/** Longest wait for a token. */
const PATIENCE_MS = 30_000;
/** Largest answer of a token endpoint that is read. */
const MAX_BYTES = 64 * 1024;
/** A token is given up this long before it ends, or a tenth of its life where that is less. */
const MARGIN_MS = 60_000;
/** A token that does not say how long it lives, or says forever, is kept no longer than this. */
const LONGEST_MS = 24 * 3_600_000;

/** The variables that the way needs. */
export function oauthVariables(oauth: OAuth2): string[] {
  return [oauth.client_id_env, oauth.client_secret_env, oauth.refresh_token_env].filter((name) => name !== null);
}

/** What the environment says now. */
interface Keys {
  readonly id: string;
  readonly secret: string | undefined;
  readonly refresh: string | undefined;
}

interface Token {
  readonly secret: string;
  readonly until: number;
}

/** One way to get a token, with what it was fetched with: another value in the environment makes another grant. */
interface Grant {
  readonly oauth: OAuth2;
  keys: Keys;
  token: Token | undefined;
  /** The refresh token that replaced the one in the environment. */
  rotated: string | undefined;
  /** This server takes the client's secret in the body alone. */
  inBody: boolean;
  fetching: Promise<string> | undefined;
}

/** A token that a call uses. */
export interface Issued {
  readonly token: string;
  /** The API refused it; unless another call has renewed it already, the next one fetches. */
  giveUp(): void;
}

/** What the endpoint said. */
interface Said {
  readonly status: number;
  readonly body: unknown;
}

/** The tokens of a target, one for each way to get one. */
export class Tokens {
  readonly #connections: Connections;
  readonly #allowHttp: boolean;
  #grants: Grant[] = [];

  constructor(connections: Connections, allowHttp: boolean) {
    this.#connections = connections;
    this.#allowHttp = allowHttp;
  }

  /** A token that is good for a while: the one there is, or a new one. */
  async issue(oauth: OAuth2, env: Environment, mask: Mask, signal: AbortSignal): Promise<Issued> {
    const keys = keysOf(oauth, env);
    for (const secret of [keys.secret, keys.refresh, basicOf(keys)]) mask.add(secret ?? "");
    const grant = this.#grant(oauth, keys);
    let token = grant.token !== undefined && Date.now() < grant.token.until ? grant.token.secret : undefined;
    if (token === undefined) {
      grant.fetching ??= this.#fetch(grant, resolve(oauth.token_url, this.#allowHttp, env)).finally(() => {
        grant.fetching = undefined;
      });
      token = await unless(signal, grant.fetching);
    }
    mask.add(token);
    const used = token;
    return {
      token: used,
      giveUp: () => {
        if (grant.token?.secret === used) grant.token = undefined;
      },
    };
  }

  #grant(oauth: OAuth2, keys: Keys): Grant {
    const known = this.#grants.find((grant) => isSame(grant.oauth, oauth) && isSame(grant.keys, keys));
    if (known !== undefined) return known;
    const fresh: Grant = { oauth, keys, token: undefined, rotated: undefined, inBody: false, fetching: undefined };
    this.#grants = [...this.#grants.filter((grant) => !isSame(grant.oauth, oauth)), fresh];
    return fresh;
  }

  async #fetch(grant: Grant, url: URL): Promise<string> {
    const { oauth, keys } = grant;
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    const refresh = grant.rotated ?? keys.refresh;
    const started = Date.now();
    let inBody = grant.inBody || keys.secret === undefined;
    let said = await this.#ask(url, oauth, keys, refresh, inBody, deadline);
    if ((said.status === 400 || said.status === 401) && !inBody && refusesClient(said)) {
      inBody = true;
      said = await this.#ask(url, oauth, keys, refresh, inBody, deadline);
    }
    const access = textOf(said, "access_token");
    if (access === undefined || !isSuccess(said)) throw refused(oauth, said);
    grant.inBody = inBody;
    const rotated = textOf(said, "refresh_token");
    if (rotated !== undefined && refresh !== undefined) grant.rotated = rotated;
    const life = isObject(said.body) ? own(said.body, "expires_in") : undefined;
    grant.token = { secret: access, until: started + usableFor(life) };
    return access;
  }

  async #ask(
    url: URL,
    oauth: OAuth2,
    keys: Keys,
    refresh: string | undefined,
    inBody: boolean,
    deadline: AbortSignal,
  ): Promise<Said> {
    const form = new URLSearchParams(
      refresh === undefined ? { grant_type: "client_credentials" } : { grant_type: "refresh_token", refresh_token: refresh },
    );
    if (oauth.scopes.length > 0) form.append("scope", oauth.scopes.join(" "));
    const headers = new Map([["accept", "application/json"]]);
    if (inBody) {
      form.append("client_id", keys.id);
      if (keys.secret !== undefined) form.append("client_secret", keys.secret);
    } else {
      headers.set("authorization", `Basic ${Buffer.from(basicOf(keys), "utf8").toString("base64")}`);
    }
    headers.set("content-type", "application/x-www-form-urlencoded");
    const body = Buffer.from(form.toString(), "utf8");
    const read: Buffer[] = [];
    try {
      const response = await this.#connections.send({ method: "POST", url, headers, body }, deadline);
      const end = await response.read(MAX_BYTES, read);
      return { status: response.status, body: end === "cut" ? undefined : parseValue(Buffer.concat(read).toString("utf8")) };
    } catch (error) {
      throw unreachable(deadline.aborted ? "no answer in time" : error);
    }
  }
}

function keysOf(oauth: OAuth2, env: Environment): Keys {
  const optional = (name: string | null): string | undefined => (name === null ? undefined : required(env, name));
  return {
    id: required(env, oauth.client_id_env),
    secret: optional(oauth.client_secret_env),
    refresh: optional(oauth.refresh_token_env),
  };
}

/** RFC 6749, 2.3.1: both halves are form-encoded first. */
function basicOf(keys: Keys): string {
  const encode = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);
  return `${encode(keys.id)}:${encode(keys.secret ?? "")}`;
}

/** What comes of the work, unless the signal is aborted first; the work itself goes on. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(new Error("the call ended"));
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", stop);
    });
  });
}

function textOf(said: Said, key: string): string | undefined {
  const value = isObject(said.body) ? own(said.body, key) : undefined;
  return typeof value === "string" ? value : undefined;
}

function isSuccess(said: Said): boolean {
  return said.status >= 200 && said.status < 300;
}

/** Whether the endpoint did not understand who the client is. */
function refusesClient(said: Said): boolean {
  const error = textOf(said, "error");
  return error === undefined || ["invalid_client", "invalid_request", "unauthorized_client"].includes(error);
}

function refused(oauth: OAuth2, said: Said): OpError {
  const { status } = said;
  if (status >= 500 || status === 429) return unreachable(`status ${status}`);
  // OAuth's own words have this shape; anything else might repeat what was sent.
  const word = /^[a-z_]{0,40}$/.exec(textOf(said, "error") ?? "-")?.[0];
  let what = `refused the credentials with status ${status}`;
  if (word !== undefined) what = `refused the credentials (${word})`;
  else if (isSuccess(said)) what = "answered without a token";
  const names = oauthVariables(oauth);
  return new OpError(
    "PERMISSION_DENIED",
    `The service that issues tokens for this API ${what}; tell the user to check the environment variables ${names.join(", ")} of this server.`,
  ).with("variables", names);
}

/** How long a token is used that says it lives so many seconds. */
function usableFor(expiresIn: unknown): number {
  const seconds = typeof expiresIn === "string" && expiresIn.trim() !== "" ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== "number" || !(seconds >= 0)) return LONGEST_MS;
  const life = Math.min(seconds * 1000, LONGEST_MS);
  return life - Math.min(MARGIN_MS, life / 10);
}

function unreachable(cause: unknown): OpError {
  return new OpError(
    "TRANSPORT_CONNECTION_FAILED",
    "The service that issues tokens for this API could not be reached; try later or tell the user.",
  ).because(cause);
}
