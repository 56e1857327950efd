// Credentials of an HTTP target. They are read on every call, so that a rotated variable works at once.

import { fill } from "./environment.js";
import { OpError } from "./errors.js";
import { type JsonObject, isJson, rewrite, scalars } from "./json.js";
import { encode } from "./style.js";

type OAuth2 = Readonly<{ type: "oauth2"; token_url: string; client_id_env: string; scopes: readonly string[] }> &
  Readonly<Record<"client_secret_env" | "refresh_token_env", string | null>>;
type Place = "header" | "query" | "cookie";
type ApiKey = Readonly<{ type: "api_key"; key_env: string; in: Place; name: string; prefix: string }>;

/** How calls are authenticated, by names of variables; `any` is the first way whose variables are set. */
export type Auth = null | Simple | Readonly<{ type: "all" | "any"; of: readonly Auth[] }>;
type Simple =
  | Readonly<{ type: "bearer"; token_env: string; header: string; prefix: string }>
  | ApiKey
  | Readonly<{ type: "basic"; username_env: string; password_env: string }>
  | OAuth2;

const valueOf = (name: string): string => process.env[name]?.trim() ?? "";

function denied(reason: string, names: readonly string[]): OpError {
  const message = `${reason}; tell the user to check ${names.join(", or ")} in the environment of this server.`;
  return new OpError("PERMISSION_DENIED", message, names.length === 1 ? { variable: names[0] } : { variables: names });
}

const missing = (...names: string[]): OpError => denied("The credentials for this API are not set up", names);
const unsendable = (name: string): OpError => denied("A credential holds characters that cannot be sent", [name]);

/** The credentials of one call. */
export class Credentials {
  readonly headers = new Map<string, string>();
  readonly query: [string, string][] = [];
  readonly cookies: string[] = [];
  readonly secrets = new Secrets();
  readonly #issued: { readonly grant: Grant; readonly token: string }[] = [];

  /** Reads what the way of authentication and the secret headers of the target need. */
  static async read(auth: Auth, headers: ReadonlyMap<string, string>, tokens: Tokens): Promise<Credentials> {
    const credentials = new Credentials();
    const seen = (value: string): void => { credentials.secrets.add(value); };
    for (const [name, text] of headers) credentials.#header(name, fill(text, missing, seen), name);
    const ways = chosen(auth);
    if (ways === undefined) throw missing(...variables(auth));
    for (const one of ways) await credentials.#add(one, tokens);
    return credentials;
  }

  /** Gives up the fetched tokens, because the API refused them; `false` where there are none. */
  giveUp(): boolean {
    // Another call may have renewed it already.
    for (const { grant, token } of this.#issued) if (grant.token?.value === token) grant.token = undefined;
    return this.#issued.length > 0;
  }

  async #add(auth: Simple, tokens: Tokens): Promise<void> {
    if (auth.type === "bearer") {
      this.secrets.add(valueOf(auth.token_env));
      this.#header(auth.header, auth.prefix + valueOf(auth.token_env), auth.token_env);
    } else if (auth.type === "api_key") {
      this.secrets.add(valueOf(auth.key_env));
      const value = auth.prefix + valueOf(auth.key_env);
      if (auth.in === "header") this.#header(auth.name, value, auth.key_env);
      else if (auth.in === "query") this.query.push([auth.name, value]);
      else if (/^[!#-+\--:<-[\]-~]*$/.test(value)) this.cookies.push(`${auth.name}=${value}`);
      else throw unsendable(auth.key_env);
    } else if (auth.type === "basic") {
      const [user, word] = [valueOf(auth.username_env), valueOf(auth.password_env)];
      if (user.includes(":")) throw unsendable(auth.username_env);
      // A key as user name with an empty password is common; then the user name is the secret.
      for (const secret of [word === "" ? user : word, `${user}:${word}`]) this.secrets.add(secret);
      this.#header("authorization", `Basic ${Buffer.from(`${user}:${word}`).toString("base64")}`, auth.username_env);
    } else {
      const issued = await tokens.issue(auth, this.secrets);
      this.#header("authorization", `Bearer ${issued.token}`, auth.client_id_env);
      this.#issued.push(issued);
    }
  }

  #header(name: string, value: string, variable: string): void {
    if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) throw unsendable(variable);
    this.headers.set(name.toLowerCase(), value);
  }
}

/** The simple ways that stand for this one now; `undefined` where a variable is not set. */
function chosen(auth: Auth): Simple[] | undefined {
  if (auth === null) return [];
  if (!("of" in auth)) return variables(auth).every((name) => isSet(auth, name)) ? [auth] : undefined;
  const ways = auth.of.map(chosen);
  const set = ways.filter((way) => way !== undefined);
  return auth.type === "any" ? set[0] : set.length === ways.length ? set.flat() : undefined;
}

/** A password may be empty where the user name is the secret. */
const isSet = (auth: Simple, name: string): boolean =>
  auth.type === "basic" && name === auth.password_env ? process.env[name] !== undefined : valueOf(name) !== "";

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

export type Said = Readonly<{ status: number; body: JsonObject }>;
/** Sends one form to a token endpoint; throws where it cannot be reached. */
type PostForm = (url: string, headers: Record<string, string>, form: URLSearchParams) => Promise<Said>;

/** The tokens of a target: calls that need one meanwhile share one fetch and its outcome. */
export class Tokens {
  readonly #grants = new Map<string, Grant>();

  constructor(readonly post: PostForm) {}

  async issue(oauth: OAuth2, secrets: Secrets): Promise<{ token: string; grant: Grant }> {
    const optional = (name: string | null): string | undefined => (name === null ? undefined : valueOf(name));
    const [id, secret] = [valueOf(oauth.client_id_env), optional(oauth.client_secret_env)];
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
    // RFC 6749, 2.3.1: both halves are form-encoded first.
    const [user, word] = [id, secret ?? ""].map((text) => new URLSearchParams({ x: text }).toString().slice(2));
    const authorization = `Basic ${Buffer.from(`${user ?? ""}:${word ?? ""}`).toString("base64")}`;
    const ask = (inBody: boolean): Promise<Said> => {
      const form = new URLSearchParams({
        grant_type: refresh === undefined ? "client_credentials" : "refresh_token",
        ...(refresh === undefined ? {} : { refresh_token: refresh }),
        ...(oauth.scopes.length === 0 ? {} : { scope: oauth.scopes.join(" ") }),
        ...(inBody ? { client_id: id } : {}),
        ...(inBody && secret !== undefined ? { client_secret: secret } : {}),
      });
      return this.post(oauth.token_url, inBody ? {} : { authorization }, form);
    };
    const started = Date.now();
    const inBody = grant.inBody === true || secret === undefined;
    let reply = await ask(inBody);
    // Any other word than these says that the client was understood.
    const isKnown = (word: unknown): boolean =>
      typeof word === "string" && !["invalid_client", "invalid_request", "unauthorized_client"].includes(word);
    const isRefused = [400, 401].includes(reply.status) && !inBody && !isKnown(reply.body["error"]);
    if (isRefused) reply = await ask(true);
    const said = reply.body;
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
  return denied(`The service that issues tokens refused the credentials (${said})`, variables(oauth));
}

const REDACTED = "[redacted]";
const BARE = /\\.|"|[\w.+-]*\[redacted\][\w.+-]*/gs;
const ALONE_BELOW = 4; // a shorter secret occurs by chance in other words, so it is masked only where it stands alone
const MOST_SCALARS = 100; // to look for more costs more than an echo of them is worth

/** Takes known secrets out of what is passed on. */
export class Secrets {
  /** The longest first, so that a secret inside another leaves nothing of that behind. */
  #needles: string[] = [];
  #isOpaque = false;

  /** Adds a secret in the spellings that it takes on the wire. */
  add(secret: string): void {
    const base64 = Buffer.from(secret, "utf8").toString("base64").replace(/=+$/, "");
    const urlSafe = base64.replaceAll("+", "-").replaceAll("/", "_");
    const [encoded, loose] = [encode(secret), encode(secret, "!'()*")];
    const lower = encoded.replace(/%../g, (byte) => byte.toLowerCase());
    const quoted = JSON.stringify(secret).slice(1, -1);
    const wire = [encoded, loose, lower, encoded.replaceAll("%20", "+"), base64, urlSafe];
    const spellings = secret.length < ALONE_BELOW ? [] : [...wire, quoted, quoted.replaceAll("/", "\\/")];
    const all = [...this.#needles, secret, ...spellings].filter((needle) => needle !== "");
    this.#needles = [...new Set(all)].sort((a, b) => b.length - a.length);
  }

  /** Adds every text and number inside a value; where there are too many, nothing passes any more. */
  addValue(value: unknown): void {
    const all = scalars(value);
    this.#isOpaque ||= all.length > MOST_SCALARS;
    for (const secret of all.slice(0, MOST_SCALARS)) this.add(secret);
  }

  mask(text: string): string {
    if (this.#isOpaque && text !== "") return REDACTED;
    const pattern = (needle: string) => (needle.length < ALONE_BELOW ? alone(needle) : needle);
    return this.#needles.reduce((masked, needle) => masked.replaceAll(pattern(needle), REDACTED), text);
  }

  /** The JSON with every text, key and number in it masked. */
  maskJson(json: string): string {
    const masked = this.mask(json);
    if (masked === json) return json;
    // What replaces a part of a number needs quotes; a secret that is a part of the syntax leaves nothing to show.
    const quoted = rewrite(masked, BARE, () => JSON.stringify(REDACTED));
    return isJson(quoted) ? quoted : JSON.stringify(REDACTED);
  }
}

/** The text where no letter and no digit is beside it. */
function alone(text: string): RegExp {
  const exact = text.replace(/./gsu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? ""}}`);
  return new RegExp(`(?<![\\p{L}\\p{N}])${exact}(?![\\p{L}\\p{N}])`, "gu");
}
