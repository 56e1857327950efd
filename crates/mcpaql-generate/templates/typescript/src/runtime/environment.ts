// Texts that name variables of the environment, and secrets that must not be shown.

import { isObject, stringify } from "./json.js";

const VARIABLE = /\$\{env:([^}:]+)(?::-([^}]*))?\}/g;

/** The text with `${env:NAME}` and `${env:NAME:-fallback}` filled in; `missing` says what to throw. */
export function fill(text: string, missing: (name: string) => Error, secrets?: Secrets): string {
  return text.replace(VARIABLE, (_match, name: string, fallback: string | undefined) => {
    const value = process.env[name]?.trim() ?? "";
    if (value === "" && fallback === undefined) throw missing(name);
    secrets?.add(value);
    return value === "" ? (fallback ?? "") : value;
  });
}

/** Takes known secrets out of what is passed on. */
export class Secrets {
  /** The longest first, so that a secret inside another leaves nothing of that behind. */
  #needles: string[] = [];

  /** Adds a secret in the spellings that it takes on the wire; what is short is found by chance in other words. */
  add(secret: string): void {
    if (secret.length < 4) return;
    const base64 = Buffer.from(secret, "utf8").toString("base64").replace(/=+$/, "");
    const encoded = encodeURIComponent(secret);
    const urlSafe = base64.replaceAll("+", "-").replaceAll("/", "_");
    const quoted = JSON.stringify(secret).slice(1, -1);
    const all = [...this.#needles, secret, quoted, encoded, encoded.replaceAll("%20", "+"), base64, urlSafe];
    this.#needles = [...new Set(all)].sort((a, b) => b.length - a.length);
  }

  /** Adds every text and number inside a value. */
  addValue(value: unknown): void {
    if (typeof value === "object" && value !== null) Object.values(value).forEach((item) => { this.addValue(item); });
    else if (typeof value !== "boolean") this.add(typeof value === "string" ? value : stringify(value));
  }

  mask(text: string): string {
    return this.#needles.reduce((masked, needle) => masked.replaceAll(needle, "[redacted]"), text);
  }

  /** The value with every text, key and number in it masked. */
  maskValue(value: unknown): unknown {
    if (typeof value === "string") return this.mask(value);
    if (typeof value === "number" || typeof value === "bigint") {
      const text = stringify(value);
      return this.mask(text) === text ? value : this.mask(text);
    }
    if (Array.isArray(value)) return value.map((item) => this.maskValue(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.mask(key), this.maskValue(item)]));
  }
}
