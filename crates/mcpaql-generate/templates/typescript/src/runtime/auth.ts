// Credentials of an HTTP target. They are read on every call, so that a rotated variable works at once.

import { Secrets, fill } from "./environment.js";
import { OpError } from "./errors.js";
import { isObject } from "./json.js";

type OAuth2 = Readonly<{ type: "oauth2"; token_url: string; client_id_env: string; scopes: readonly string[] }> &
  Readonly<Record<"client_secret_env" | "refresh_token_env", string | null>>;
type Place = "header" | "query" | "cookie";
type ApiKey = Readonly<{ type: "api_key"; key_env: string; in: Place; name: string; prefix: string }>;

/** How calls are authenticated, by names of variables; `any` is the first way whose variables are set. */
export type Auth =
  | null
  | Readonly<{ type: "bearer"; token_env: string; header: string; prefix: string }>
  | ApiKey
  | Readonly<{ type: "basic"; username_env: string; password_env: string }>
  | OAuth2
  | Readonly<{ type: "all" | "any"; of: readonly Auth[] }>;

const valueOf = (name: string): string => process.env[name]?.trim() ?? "";

function required(name: string): string {
  if (valueOf(name) === "") throw missing(name);
  return valueOf(name);
}

function missing(...names: string[]): OpError {
  const which = names.join(", or ");
  const message = `The credentials for this API are not set up; tell the user to set the variable ${which}.`;
  return new OpError("PERMISSION_DENIED", message, names.length === 1 ? { variable: names[0] } : { variables: names });
}

function unsendable(name: string): OpError {
  const message = `The environment variable ${name} holds characters that cannot be sent; tell the user to correct it.`;
  return new OpError("PERMISSION_DENIED", message, { variable: name });
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
    for (const [name, text] of headers) credentials.#header(name, fill(text, missing, credentials.secrets), name);
    for (const one of chosen(auth)) await credentials.#add(one, tokens);
    return credentials;
  }

  /** Gives up the fetched tokens, because the API refused them; `false` where there are none. */
  giveUp(): boolean {
    for (const grant of this.#grants) grant.token = undefined;
    return this.#grants.length > 0;
  }

  async #add(auth: Auth, tokens: Tokens): Promise<void> {
    if (auth?.type === "bearer") {
      this.secrets.add(required(auth.token_env));
      this.#header(auth.header, auth.prefix + required(auth.token_env), auth.token_env);
    } else if (auth?.type === "api_key") {
      this.secrets.add(required(auth.key_env));
      const value = auth.prefix + required(auth.key_env);
      if (auth.in === "header") this.#header(auth.name, value, auth.key_env);
      else if (auth.in === "query") this.query.push([auth.name, value]);
      else if (/^[!#-+\--:<-[\]-~]*$/.test(value)) this.cookies.push(`${auth.name}=${value}`);
      else throw unsendable(auth.key_env);
    } else if (auth?.type === "basic") {
      const [user, word] = [required(auth.username_env), process.env[auth.password_env]?.trim()];
      if (word === undefined) throw missing(auth.password_env);
      if (user.includes(":")) throw unsendable(auth.username_env);
      // A key as user name with an empty password is common; then the user name is the secret.
      for (const secret of [word === "" ? user : word, `${user}:${word}`]) this.secrets.add(secret);
      this.#header("authorization", `Basic ${Buffer.from(`${user}:${word}`).toString("base64")}`, auth.username_env);
    } else if (auth?.type === "oauth2") {
      const { token, grant } = await tokens.issue(auth, this.secrets);
      this.#header("authorization", `Bearer ${token}`, auth.client_id_env);
      this.#grants.push(grant);
    }
  }

  #header(name: string, value: string, variable: string): void {
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) throw unsendable(variable);
    this.headers.set(name.toLowerCase(), value);
  }
}

/** The simple ways that stand for this one now. */
function chosen(auth: Auth): Auth[] {
  if (auth === null || !("of" in auth)) return [auth];
  if (auth.type === "all") return auth.of.flatMap(chosen);
  const first = auth.of.find(isSet);
  if (first === undefined && auth.of.length > 0) throw missing(...auth.of.map((one) => variables(one).join(" and ")));
  return first === undefined ? [] : chosen(first);
}

function isSet(auth: Auth): boolean {
  if (auth !== null && "of" in auth) return auth.type === "all" ? auth.of.every(isSet) : auth.of.some(isSet);
  // A password may be empty where the user name is the secret.
  const isFilled = (name: string): boolean =>
    auth?.type === "basic" && name === auth.password_env ? process.env[name] !== undefined : valueOf(name) !== "";
  return variables(auth).every(isFilled);
}

function variables(auth: Auth): string[] {
  if (auth === null) return [];
  if ("of" in auth) return auth.of.flatMap(variables);
  const isName = (key: string, name: unknown): name is string => key.endsWith("_env") && typeof name === "string";
  return Object.entries(auth).flatMap(([key, name]) => (isName(key, name) ? [name] : []));
}

/** One way to get a token: the token, the refresh token that replaced the first, and where the client's secret goes. */
interface Grant {
  token?: { readonly value: string; readonly until: number } | undefined;
  rotated?: string;
  inBody?: boolean;
  fetching?: Promise<string> | undefined;
}

export type Said = Readonly<{ status: number; body: unknown }>;
/** Sends one form to a token endpoint; throws where it cannot be reached. */
type PostForm = (url: string, headers: Record<string, string>, form: URLSearchParams) => Promise<Said>;

/** The tokens of a target: calls that need one meanwhile share one fetch and its outcome. */
export class Tokens {
  readonly #grants = new Map<string, Grant>();

  constructor(readonly post: PostForm) {}

  async issue(oauth: OAuth2, secrets: Secrets): Promise<{ token: string; grant: Grant }> {
    const optional = (name: string | null): string | undefined => (name === null ? undefined : required(name));
    const [id, secret] = [required(oauth.client_id_env), optional(oauth.client_secret_env)];
    const refresh = optional(oauth.refresh_token_env);
    for (const one of [secret, refresh]) secrets.add(one ?? "");
    const key = JSON.stringify([oauth, id, secret, refresh]);
    const grant = this.#grants.get(key) ?? {};
    this.#grants.set(key, grant);
    const isGood = grant.token !== undefined && Date.now() < grant.token.until;
    const forget = (): unknown => (grant.fetching = undefined);
    if (!isGood) grant.fetching ??= this.#fetch(oauth, grant, id, secret, refresh).finally(forget);
    const token = isGood ? (grant.token?.value ?? "") : ((await grant.fetching) ?? "");
    secrets.add(token);
    return { token, grant };
  }

  async #fetch(oauth: OAuth2, grant: Grant, id: string, secret: string | undefined, first?: string): Promise<string> {
    const refresh = grant.rotated ?? first;
    const ask = (inBody: boolean): Promise<Said> => {
      const form = new URLSearchParams({ grant_type: refresh === undefined ? "client_credentials" : "refresh_token" });
      if (refresh !== undefined) form.append("refresh_token", refresh);
      if (oauth.scopes.length > 0) form.append("scope", oauth.scopes.join(" "));
      // RFC 6749, 2.3.1: both halves are form-encoded first.
      const [user, word] = [id, secret ?? ""].map((text) => new URLSearchParams({ x: text }).toString().slice(2));
      const basic = `Basic ${Buffer.from(`${user ?? ""}:${word ?? ""}`).toString("base64")}`;
      if (!inBody) return this.post(oauth.token_url, { authorization: basic }, form);
      form.append("client_id", id);
      if (secret !== undefined) form.append("client_secret", secret);
      return this.post(oauth.token_url, {}, form);
    };
    const started = Date.now();
    const inBody = grant.inBody === true || secret === undefined;
    let reply = await ask(inBody);
    const isRefused = (reply.status === 400 || reply.status === 401) && !inBody;
    if (isRefused) reply = await ask(true);
    const said = isObject(reply.body) ? reply.body : {};
    const token = said["access_token"];
    const isGiven = reply.status >= 200 && reply.status <= 299;
    if (!isGiven || typeof token !== "string") throw refused(oauth, reply.status, said["error"]);
    grant.inBody = inBody || isRefused;
    if (refresh !== undefined && typeof said["refresh_token"] === "string") grant.rotated = said["refresh_token"];
    const seconds = Number(said["expires_in"] ?? Number.NaN);
    const life = Math.min(seconds >= 0 ? seconds : Number.POSITIVE_INFINITY, 24 * 3600) * 1000;
    grant.token = { value: token, until: started + life - Math.min(60_000, life / 10) };
    return token;
  }
}

/** The service that issues tokens is not there. */
export function noTokens(cause: unknown): OpError {
  const message = "The service that issues tokens for this API could not be reached; try later or tell the user.";
  return new OpError("TRANSPORT_CONNECTION_FAILED", message, {}, cause);
}

function refused(oauth: OAuth2, status: number, word: unknown): OpError {
  if (status >= 500 || status === 429) return noTokens(`status ${status}`);
  // OAuth's own words have this shape; anything else might repeat what was sent.
  const said = typeof word === "string" && /^[a-z_]{1,40}$/.test(word) ? word : `status ${status}`;
  const names = variables(oauth).join(", ");
  const message = `The service that issues tokens refused the credentials (${said}); tell the user to check ${names}.`;
  return new OpError("PERMISSION_DENIED", message, { variables: variables(oauth) });
}
