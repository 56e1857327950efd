// Which redirects are followed, and what goes along.
//
// What always holds: credentials, and every header and body of the call, stay with the origin they were meant for; once a call
// left it, it never carries them again, not even back home. A redirect never goes from `https` to `http`, never from the outside
// to this machine, and never repeats a write elsewhere.

import { isUtf8 } from "node:buffer";
import { isIPv4, isIPv6 } from "node:net";
import type { Mask } from "../secrets.js";
import type { Received } from "./connection.js";
import type { Outgoing } from "./request.js";

/** How many redirects one call follows. */
export const MAX_HOPS = 5;

/** One request of a call: the first, or one that a redirect asked for. */
export interface Hop {
  readonly outgoing: Outgoing;
  /** Whether credentials go along. */
  readonly trusted: boolean;
}

/** What to do with an answer: it is no redirect, or there is another request, or it is not followed and the log says why. */
export type Step = "final" | { readonly follow: Hop } | { readonly refuse: string };

/** Decides about an answer. */
export function step(hop: Hop, response: Received, allowHttp: boolean, mask: Mask): Step {
  const { status } = response;
  if (![301, 302, 303, 307, 308].includes(status)) return "final";
  const { method, url: from } = hop.outgoing;
  const to = destination(response, from);
  if (typeof to === "string") return { refuse: to };
  const reason = refusal(from, to, allowHttp);
  if (reason !== undefined) return { refuse: reason };
  const sameOrigin = to.origin === from.origin;
  if (!sameOrigin && mask.finds(to.href)) return { refuse: "the location carries a credential to another origin" };
  const isRead = method === "GET" || method === "HEAD";
  const becomesGet = status === 303 && method !== "HEAD";
  if (!isRead && !becomesGet) {
    if (status !== 307 && status !== 308) return { refuse: "a write is not repeated as another request" };
    if (!sameOrigin) return { refuse: "a write is not sent to another origin" };
  }
  const trusted = hop.trusted && sameOrigin;
  return { follow: { outgoing: next(hop.outgoing, to, becomesGet, trusted), trusted } };
}

function destination(response: Received, from: URL): URL | string {
  const location = response.bytes("location");
  if (location === undefined || !isUtf8(location)) return "no usable location";
  const text = location.toString("utf8");
  if (!URL.canParse(text, from.href)) return "the location is no URL";
  const to = new URL(text, from);
  to.hash = "";
  return to;
}

function next(from: Outgoing, url: URL, becomesGet: boolean, trusted: boolean): Outgoing {
  const headers = new Map(from.headers);
  if (becomesGet) headers.delete("content-type");
  if (!trusted) {
    for (const name of from.headers.keys()) if (name !== "accept") headers.delete(name);
  }
  const body = becomesGet || !trusted ? undefined : from.body;
  return { method: becomesGet ? "GET" : from.method, url, headers, body };
}

function refusal(from: URL, to: URL, allowHttp: boolean): string | undefined {
  if (to.username !== "" || to.password !== "") return "the location holds user information";
  if (to.protocol === "http:") {
    if (from.protocol === "https:") return "https to http";
    if (!allowHttp && !isLoopback(to)) return "plain http to another machine";
  } else if (to.protocol !== "https:") {
    return "neither http nor https";
  }
  return isLocal(to) && !isLocal(from) ? "from the outside to this machine" : undefined;
}

/** The host without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/** The IPv4 address that stands in an IPv6 address: `::ffff:7f00:1`. */
function mapped(host: string): string | undefined {
  const match = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (match === null) return undefined;
  const [high, low] = [Number.parseInt(match[1] ?? "", 16), Number.parseInt(match[2] ?? "", 16)];
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** Whether the URL's host is this machine. */
export function isLoopback(url: URL): boolean {
  const host = hostOf(url);
  if (isIPv4(host)) return host.startsWith("127.");
  if (isIPv6(host)) return host === "::1" || mapped(host)?.startsWith("127.") === true;
  const name = host.replace(/\.+$/, "");
  return name === "localhost" || name.endsWith(".localhost");
}

/** Loopback, unspecified and link-local addresses: services that trust whoever reaches them. */
function isLocal(url: URL): boolean {
  const host = hostOf(url);
  if (isLoopback(url)) return true;
  if (isIPv4(host)) return host === "0.0.0.0" || host.startsWith("169.254.");
  return isIPv6(host) && (host === "::" || /^fe[89ab][0-9a-f]:/.test(host));
}
