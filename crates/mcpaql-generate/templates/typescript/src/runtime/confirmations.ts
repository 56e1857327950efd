// Decides whether a call may run, and keeps the tokens of confirmations.
//
// What always holds: a token lets one call run, with the operation and the parameters that it was issued for, until it
// expires. Only hashes of tokens are kept, and they are compared in constant time.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Operation } from "./catalog.js";
import { canonical } from "./check.js";
import { type Code, OpError } from "./errors.js";
import type { JsonObject } from "./json.js";

/** The answer to a call that does not run at once. Without `seconds`, the lifetime of a token, no call runs. */
export type Gate = Readonly<{ code: Code; message: string; details: JsonObject; seconds?: number }>;
type Token = Readonly<{ hash: Buffer; call: string; from: number; until: number }>;

const MAX_PENDING = 1000;
const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();
const refused = (code: Code, why: string, or = ""): OpError =>
  new OpError(code, `The confirmation token ${why}. Send ${or}the call without a token to get a new one.`);

export class Confirmations {
  #pending: Token[] = []; // the oldest first
  #used: Token[] = []; // they are known until they expire

  /** Throws unless the call may run. `token` is null if the caller sent none. */
  check({ name, gate }: Operation, args: JsonObject, token: string | null): void {
    if (gate === undefined) return;
    const { code, message, details, seconds } = gate;
    if (seconds === undefined) throw new OpError(code, message, details);
    const [call, now] = [hashOf(name + canonical(args)).toString("hex"), Date.now()];
    if (token === null) {
      const confirmation_token = `conf_${randomBytes(32).toString("base64url")}`;
      const until = (Math.floor(now / 1000) + seconds) * 1000;
      const issued = { hash: hashOf(confirmation_token), call, from: now, until };
      this.#pending = [...this.#pending, issued].slice(-MAX_PENDING);
      const expires_at = new Date(until).toISOString().replace(".000", "");
      throw new OpError(code, message, { confirmation_token, expires_at, ...details });
    }
    const hash = hashOf(token);
    const find = (all: readonly Token[]): Token | undefined => all.filter((one) => timingSafeEqual(one.hash, hash))[0];
    if (find(this.#used) !== undefined) throw refused("TOKEN_ALREADY_USED", "was already used");
    const found = find(this.#pending);
    if (found === undefined) throw refused("TOKEN_INVALID", "is unknown");
    // A clock that goes back makes no token valid for longer.
    if (now < found.from || now >= found.until) throw refused("TOKEN_EXPIRED", "has expired");
    const isOther = found.call !== call;
    if (isOther) throw refused("TOKEN_SCOPE_MISMATCH", "belongs to another call", "exactly the confirmed call, or ");
    this.#pending = this.#pending.filter((one) => one !== found);
    this.#used = [...this.#used.filter((one) => now < one.until), found];
  }
}
