// Credentials of an HTTP target. They are read on every call, so that a changed variable takes effect at once.

import { fill, valueOf } from "./catalog.js";
import { OpError } from "./errors.js";
import { type JsonObject, isJson, rewrite, scalars } from "./json.js";
import { encode } from "./request.js";

type OAuth2 = Readonly<{ type: "oauth2"; token_url: string; client_id_env: string; scopes: readonly string[] }> &
  Readonly<Record<"client_secret_env" | "refresh_token_env", string | null>>;

/** The authentication of calls, with the names of variables. `any` is the first one whose variables are set. */
export type Auth = null | Simple | Readonly<{ type: "all" | "any"; of: readonly Auth[] }>;
type Simple =
  | Readonly<{ type: "bearer"; token_env: string; header: string; prefix: string }>
  | Readonly<{ type: "api_key"; key_env: string; in: "header" | "query" | "cookie"; name: string; prefix: string }>
  | Readonly<{ type: "basic"; username_env: string; password_env: string }>
  | OAuth2;

const denied = (reason: string, variables: readonly string[]): OpError =>
  new OpError("PERMISSION_DENIED", `${reason}; tell the user to check ${variables.join(", or ")}.`, { variables });
const missing = (...names: string[]): OpError => denied("The credentials for this API are not set up", names);
const unsendable = (name: string): OpError => denied("A credential holds characters which cannot be sent", [name]);

export class Credentials {
  readonly headers = new Map<string, string>();
  readonly query: [string, string][] = [];
  readonly cookies: string[] = [];
  readonly secrets = new Secrets();
  readonly #issued: Issued[] = [];

  /** Reads the credentials, and the headers of the target that name variables. */
  static async read(auth: Auth, headers: ReadonlyMap<string, string>, tokens: Tokens): Promise<Credentials> {
    const credentials = new Credentials();
    const seen = (value: string): void => { credentials.secrets.add(value); };
    for (const [name, text] of headers) credentials.#header(name, fill(text, missing, seen), name);
    const ways = chosen(auth);
    if (ways === undefined) throw missing(...variables(auth));
    for (const one of ways) await credentials.#add(one, tokens);
    return credentials;
  }

  /** Drops the tokens of this call, because the API rejected them; `false` if it has none. */
  giveUp(): boolean {
    // Another call may have fetched the next token already.
    for (const { grant, token } of this.#issued) if (grant.token === token) grant.until = 0;
    return this.#issued.length > 0;
  }

  async #add(auth: Simple, tokens: Tokens): Promise<void> {
    if (auth.type === "bearer" || auth.type === "api_key") {
      const [variable, name] = auth.type === "bearer" ? [auth.token_env, auth.header] : [auth.key_env, auth.name];
      this.secrets.add(valueOf(variable));
      const value = auth.prefix + valueOf(variable);
      if (auth.type === "bearer" || auth.in === "header") this.#header(name, value, variable);
      else if (auth.in === "query") this.query.push([name, value]);
      else if (/^[!#-+\--:<-[\]-~]*$/.test(value)) this.cookies.push(`${name}=${value}`);
      else throw unsendable(variable);
    } else if (auth.type === "basic") {
      const [user, word] = [valueOf(auth.username_env), valueOf(auth.password_env)];
      if (user.includes(":")) throw unsendable(auth.username_env);
      // Some APIs take a key as the user name, with an empty password; then the user name is the secret.
      for (const secret of [word === "" ? user : word, `${user}:${word}`]) this.secrets.add(secret);
      this.#header("authorization", `Basic ${Buffer.from(`${user}:${word}`).toString("base64")}`, auth.username_env);
    } else {
      const issued = await tokens.issue(auth, this.secrets);
      this.#header("authorization", `Bearer ${await issued.token}`, auth.client_id_env);
      this.#issued.push(issued);
    }
  }

  #header(name: string, value: string, variable: string): void {
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) throw unsendable(variable);
    this.headers.set(name.toLowerCase(), value);
  }
}

/** The credentials to send for `auth`; `undefined` if a variable is not set. */
function chosen(auth: Auth): Simple[] | undefined {
  if (auth === null) return [];
  if ("of" in auth) {
    const ways = auth.of.map(chosen);
    const set = ways.filter((way) => way !== undefined);
    return auth.type === "any" ? set[0] : set.length === ways.length ? set.flat() : undefined;
  }
  // A password may be empty, because the user name may be the secret.
  const mayBeEmpty = (name: string): boolean => auth.type === "basic" && name === auth.password_env;
  const isSet = (name: string): boolean => valueOf(name) !== "" || (mayBeEmpty(name) && name in process.env);
  return variables(auth).every(isSet) ? [auth] : undefined;
}

function variables(auth: Auth): string[] {
  if (auth !== null && "of" in auth) return auth.of.flatMap(variables);
  const named = Object.entries(auth ?? {}).filter(([key]) => key.endsWith("_env"));
  return named.flatMap(([, name]) => (name === null ? [] : [String(name)]));
}

interface Grant {
  token: Promise<string>;
  until: number; // when the next token is needed
  rotated?: string; // the refresh token that replaced the first one
  inBody?: boolean; // the credentials of the client belong in the body
}
type Issued = Readonly<{ grant: Grant; token: Promise<string> }>;
export type Said = Readonly<{ status: number; body: JsonObject }>;
/** Sends a form to a token endpoint; throws if it cannot be reached. */
type PostForm = (url: string, headers: Record<string, string>, form: URLSearchParams) => Promise<Said>;

/** The tokens of a target. Calls that need the same token share one request for it. */
export class Tokens {
  readonly #grants = new Map<string, Grant>();

  constructor(readonly post: PostForm) {}

  async issue(oauth: OAuth2, secrets: Secrets): Promise<Issued> {
    const names = [oauth.client_id_env, oauth.client_secret_env, oauth.refresh_token_env];
    const client = names.map((name) => (name === null ? undefined : valueOf(name)));
    for (const secret of client.slice(1)) secrets.add(secret ?? "");
    const key = JSON.stringify([oauth, client]);
    const grant = this.#grants.get(key) ?? { token: Promise.resolve(""), until: 0 };
    this.#grants.set(key, grant);
    if (Date.now() >= grant.until) {
      grant.until = Number.POSITIVE_INFINITY;
      grant.token = this.#fetch(oauth, grant, client).catch((error: unknown) => { grant.until = 0; throw error; });
    }
    const { token } = grant;
    secrets.add(await token);
    return { grant, token };
  }

  async #fetch(oauth: OAuth2, grant: Grant, [id = "", secret, first]: (string | undefined)[]): Promise<string> {
    const refresh = grant.rotated ?? first;
    // RFC 6749, 2.3.1: both parts are form-encoded first.
    const [user, word] = [id, secret ?? ""].map((text) => new URLSearchParams({ x: text }).toString().slice(2));
    const authorization = `Basic ${Buffer.from(`${user ?? ""}:${word ?? ""}`).toString("base64")}`;
    const ask = (inBody: boolean): Promise<Said> => {
      const form = new URLSearchParams({ grant_type: refresh === undefined ? "client_credentials" : "refresh_token" });
      if (refresh !== undefined) form.set("refresh_token", refresh);
      if (oauth.scopes.length > 0) form.set("scope", oauth.scopes.join(" "));
      if (inBody) form.set("client_id", id);
      if (inBody && secret !== undefined) form.set("client_secret", secret);
      return this.post(oauth.token_url, inBody ? {} : { authorization }, form);
    };
    const started = Date.now();
    const inBody = grant.inBody === true || secret === undefined;
    let reply = await ask(inBody);
    // Any other error means that the service knows the client.
    const isAboutClient = (error: unknown): boolean =>
      typeof error !== "string" || ["invalid_client", "invalid_request", "unauthorized_client"].includes(error);
    const isRefused = [400, 401].includes(reply.status) && !inBody && isAboutClient(reply.body["error"]);
    if (isRefused) reply = await ask(true);
    const { access_token: token, refresh_token: next, expires_in: expires, error } = reply.body;
    if (!/^2..$/.test(String(reply.status)) || typeof token !== "string") throw refused(oauth, reply.status, error);
    grant.inBody = inBody || isRefused;
    if (refresh !== undefined && typeof next === "string") grant.rotated = next;
    const seconds = Number(expires ?? Number.NaN);
    const life = Math.min(seconds >= 0 ? seconds : Number.POSITIVE_INFINITY, 24 * 3600) * 1000;
    grant.until = started + life - Math.min(60_000, life / 10);
    return token;
  }
}

export const noTokens = (cause: unknown): OpError =>
  new OpError("TRANSPORT_CONNECTION_FAILED", "The token service was not reached; try later.", {}, cause);

function refused(oauth: OAuth2, status: number, word: unknown): OpError {
  if (status >= 500 || status === 429) return noTokens(`status ${status}`);
  // Error codes of OAuth have this form; any other text may repeat a secret.
  const said = typeof word === "string" && /^[a-z_]{1,40}$/.test(word) ? word : `status ${status}`;
  return denied(`The token service of this API rejected the credentials (${said})`, variables(oauth));
}

const REDACTED = "[redacted]";
const BARE = /\\.|"|(?<![\w.+-])[\w.+-]*(?:\[redacted\][\w.+-]*)+/gs;
const ALONE_BELOW = 4; // a shorter secret may be part of other words, so it is masked only as a whole word
const MAX_SCALARS = 100; // each one costs a search in every text

export class Secrets {
  /** The longest first, so that the mask of a short secret does not split a long one. */
  #needles: string[] = [];
  #isOpaque = false;

  /** Adds a secret in all its encodings. */
  add(secret: string): void {
    const bytes = Buffer.from(secret, "utf8");
    const base64 = [bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
    const [encoded, loose] = [encode(secret), encode(secret, "!'()*")];
    const lower = encoded.replace(/%../g, (byte) => byte.toLowerCase());
    const quoted = JSON.stringify(secret).slice(1, -1);
    const wire = [encoded, loose, lower, encoded.replaceAll("%20", "+"), ...base64];
    const spellings = secret.length < ALONE_BELOW ? [] : [...wire, quoted, quoted.replaceAll("/", "\\/")];
    const all = [...this.#needles, secret, ...spellings].filter((needle) => needle !== "");
    this.#needles = [...new Set(all)].sort((a, b) => b.length - a.length);
  }

  /** Adds every text and number inside a value. With too many of them, every text is masked as a whole. */
  addValue(value: unknown): void {
    const all = scalars(value);
    this.#isOpaque ||= all.length > MAX_SCALARS;
    for (const secret of all.slice(0, MAX_SCALARS)) this.add(secret);
  }

  mask(text: string): string {
    if (this.#isOpaque && text !== "") return REDACTED;
    const pattern = (needle: string) => (needle.length < ALONE_BELOW ? alone(needle) : needle);
    return this.#needles.reduce((masked, needle) => masked.replaceAll(pattern(needle), REDACTED), text);
  }

  /** Masks the texts, keys and numbers of JSON. */
  maskJson(json: string): string {
    const masked = this.mask(json);
    if (masked === json) return json;
    // A mask inside a number needs quotes. If a secret is part of the syntax, all of the JSON is masked.
    const quoted = rewrite(masked, BARE, () => JSON.stringify(REDACTED));
    return isJson(quoted) ? quoted : JSON.stringify(REDACTED);
  }
}

/** Matches the text without a letter or a digit beside it. */
function alone(text: string): RegExp {
  const exact = text.replace(/./gsu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? ""}}`);
  return new RegExp(`(?<![\\p{L}\\p{N}])${exact}(?![\\p{L}\\p{N}])`, "gu");
}
