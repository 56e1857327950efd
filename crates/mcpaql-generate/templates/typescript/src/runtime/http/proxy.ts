// Proxies, as `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` name them, in either case.

import { request as httpRequest } from "node:http";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { connect as secureConnect } from "node:tls";
import type { Environment } from "../environment.js";

/** A proxy over plain HTTP. */
export interface Proxy {
  readonly hostname: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
}

/** The proxy on the way to an address; `undefined` where there is none. */
export function proxyFor(url: URL, env: Environment): Proxy | undefined {
  const set = (name: string): string | undefined => {
    const value = env[name.toUpperCase()] ?? env[name];
    return value === undefined || value === "" ? undefined : value;
  };
  // A CGI program gets HTTP_PROXY from whoever calls it.
  const plain = env["REQUEST_METHOD"] === undefined ? set("http_proxy") : env["http_proxy"];
  const text = (url.protocol === "https:" ? set("https_proxy") : plain) ?? set("all_proxy");
  if (text === undefined || isExcepted(url, set("no_proxy"))) return undefined;
  const proxy = parsed(text);
  if (proxy?.protocol !== "http:") return undefined;
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return {
    hostname: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: proxy.port === "" ? 80 : Number(proxy.port),
    authorization: pair === ":" ? undefined : `Basic ${Buffer.from(pair, "utf8").toString("base64")}`,
  };
}

function parsed(text: string): URL | undefined {
  const whole = text.includes("://") ? text : `http://${text}`;
  return URL.canParse(whole) ? new URL(whole) : undefined;
}

function isExcepted(url: URL, exceptions: string | undefined): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return (exceptions ?? "")
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "")
    .some((entry) => {
      const name = entry.replace(/^\*?\./, "");
      return entry === "*" || host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
    });
}

/** A secure connection to the address through the proxy. */
export function tunnel(proxy: Proxy, url: URL, signal: AbortSignal): Promise<TLSSocket> {
  const port = url.port === "" ? 443 : Number(url.port);
  const servername = url.hostname.replace(/^\[|\]$/g, "");
  const headers = proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization };
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      method: "CONNECT",
      host: proxy.hostname,
      port: proxy.port,
      path: `${url.hostname}:${port}`,
      headers: { ...headers, host: `${url.hostname}:${port}` },
      agent: false,
      signal,
    });
    request.on("error", reject);
    request.on("response", (response) => {
      response.destroy();
      reject(new Error(`the proxy answered ${response.statusCode ?? 0}`));
    });
    request.on("connect", (response, socket) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        reject(new Error(`the proxy answered ${response.statusCode ?? 0}`));
        return;
      }
      const secure = secureConnect({ socket, ...(isIP(servername) === 0 ? { servername } : { host: servername }) }, () => {
        resolve(secure);
      });
      secure.on("error", reject);
    });
    request.end();
  });
}
