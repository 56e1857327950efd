// What a document says about an HTTP API: the target, and the one request that an operation is.

import type { Auth } from "../auth.js";
import type { Style, StyleForm } from "./style.js";

/** An HTTP API, as `catalog.json` describes it. */
export interface HttpTarget {
  readonly protocol: "http";
  /** May hold a path, and `${env:NAME}`. */
  readonly base_url: string;
  /** Sent with every request; values may hold `${env:NAME}`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Plain `http://` to other machines. */
  readonly allow_http: boolean;
  readonly connect_timeout_ms: number;
  /** For the whole call, with its redirects and retries. */
  readonly timeout_ms: number;
  /** How often an operation whose repetition does no harm is tried again. */
  readonly retries: number;
  readonly max_response_bytes: number;
  readonly auth: Auth;
}

/** Where a request carries a parameter. */
export type Place = "path" | "query" | "header" | "cookie" | "body";

/** How a request carries a parameter. */
export interface HttpParam {
  readonly in: Place;
  /** The name that the API knows, where it is another one. */
  readonly as?: string;
  /** OpenAPI's `style`, `explode` and `allowReserved`, where they are not the usual ones of the place. */
  readonly style?: StyleForm;
  readonly explode?: boolean;
  readonly reserved?: boolean;
  /** Never echoed. */
  readonly sensitive?: boolean;
  /** Base64 that becomes a file of a multipart body; by name where the parameter is the whole body. */
  readonly file?: boolean | readonly string[];
}

/** How a body is written. */
export type BodyForm = "json" | "form" | "multipart" | "text" | "binary";

/** One HTTP request. */
export interface HttpRequest {
  readonly method: string;
  /** `/repos/{owner}/{repo}`: placeholders are parameters. */
  readonly path: string;
  readonly params: Readonly<Record<string, HttpParam>>;
  /** JSON unless it says otherwise. */
  readonly body?: BodyForm;
  /** The parameter that is the body instead of a field of it. */
  readonly bodyParam?: string;
  /** The body's media type where it is not the usual one of its form. */
  readonly contentType?: string;
  /** The API's address where it is not the target's. */
  readonly baseUrl?: string;
  /** How the call is authenticated where it is not the target's way. */
  readonly auth?: Auth;
  /** The parameter that chooses among several upstreams. */
  readonly target?: string;
  /** Repeating it does no harm. */
  readonly repeatable?: boolean;
  /** What it names is gone afterwards. */
  readonly removes?: boolean;
}

/** A piece of a path: as written, or the value of a parameter. */
export type Segment = { readonly literal: string } | { readonly param: string };

/** The pieces of a template. Only `{snake_case}` is a placeholder: programs take braces of their own. */
export function segmentsOf(template: string): Segment[] {
  return template
    .split(/(\{[a-z][a-z0-9_]*\})/)
    .filter((piece) => piece !== "")
    .map((piece) => (/^\{[a-z][a-z0-9_]*\}$/.test(piece) ? { param: piece.slice(1, -1) } : { literal: piece }));
}

/** The name of a parameter on the wire. */
export function wireOf(name: string, param: HttpParam): string {
  return param.as ?? name;
}

/** How a parameter is spelled: as OpenAPI does by default in that place, unless it says otherwise. */
export function styleOf(param: Pick<HttpParam, "in" | "style" | "explode" | "reserved">): Style {
  const simple = param.in === "path" || param.in === "header";
  return {
    form: param.style ?? (simple ? "simple" : "form"),
    explode: param.explode ?? !simple,
    reserved: param.reserved ?? false,
  };
}
