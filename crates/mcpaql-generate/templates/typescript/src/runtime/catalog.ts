// What the adapter offers, from `catalog.json`: tools, operations, types, limits.

import { createRequire } from "node:module";
import type { Auth } from "./auth.js";
import type { JsonObject } from "./json.js";

export interface Tool {
  readonly name: string;
  readonly [key: string]: unknown;
}

/** What a tool covers: the operations of an endpoint, all of them, or one; under its present name. */
export interface Route {
  readonly endpoint?: string;
  readonly whole?: boolean;
  readonly operation?: string;
  readonly renamed_to?: string;
}

export interface Param {
  readonly name: string;
  readonly required?: boolean;
  readonly sensitive?: boolean;
  /** Says what is changed, so that it never stands inside `input`. */
  readonly identifier?: boolean;
  /** Which characters its texts may not hold. */
  readonly text?: "no_nul" | "no_control";
  readonly default?: unknown;
}

export interface OperationDetail extends JsonObject {
  readonly name: string;
  readonly signature: string;
  readonly parameters: readonly { readonly name: string; readonly from?: readonly string[] }[];
  readonly tags?: readonly string[];
}

export interface Operation {
  readonly name: string;
  readonly category: string;
  readonly endpoint: string;
  readonly tool: string;
  readonly aliases?: readonly string[];
  readonly deprecated?: string;
  readonly group: string;
  readonly tagged?: boolean;
  readonly summary: string;
  readonly listed: string;
  readonly brief: string;
  readonly signature: string;
  readonly detail: OperationDetail;
  readonly params: readonly Param[];
  readonly spellings?: Readonly<Record<string, string | null>>;
  readonly takes_input?: boolean;
  readonly schema: JsonObject;
}

export interface TypeInfo {
  readonly detail: { readonly name: string; readonly kind: string; readonly description?: string };
  readonly signature?: string;
}

export interface HttpTarget {
  readonly protocol: "http";
  readonly base_url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allow_http: boolean;
  readonly connect_timeout_ms: number;
  readonly timeout_ms: number;
  readonly retries: number;
  readonly max_response_bytes: number;
  readonly auth: Auth;
}

export interface CommandTarget {
  readonly protocol: "command";
  readonly cwd: string | null;
  readonly env: readonly string[];
  readonly set_env: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
  readonly max_output_bytes: number;
}

export type Target = HttpTarget | CommandTarget;

export interface CatalogData {
  readonly adapter: { readonly name: string; readonly display_name: string; readonly version: string };
  readonly instructions: string;
  readonly mode: string;
  readonly errors: "unrecoverable" | "all";
  readonly limits: {
    readonly request_bytes: number;
    readonly response_bytes: number;
    readonly string_bytes: number;
    readonly array_items: number;
    readonly depth: number;
  };
  readonly protocol: JsonObject;
  readonly target: Target & { readonly alternatives?: Readonly<Record<string, Target>> };
  readonly tools: readonly Tool[];
  readonly routes: Readonly<Record<string, Route>>;
  readonly operations: readonly Operation[];
  readonly types: readonly TypeInfo[];
  readonly $defs: JsonObject;
}

export class Catalog {
  readonly #byName = new Map<string, Operation>();
  readonly #routes: ReadonlyMap<string, Route>;

  constructor(readonly data: CatalogData) {
    this.#routes = new Map(Object.entries(data.routes));
    for (const operation of data.operations) {
      for (const name of [operation.name, ...(operation.aliases ?? [])]) this.#byName.set(name, operation);
    }
  }

  /** The project's own. */
  static own(): Catalog {
    return new Catalog(createRequire(import.meta.url)("#catalog") as CatalogData);
  }

  /** The operation of that name or alias. */
  get(name: string): Operation | undefined {
    return this.#byName.get(name);
  }

  route(tool: string): Route | undefined {
    return this.#routes.get(tool);
  }
}
