// The surface that the environment asks for: another mode or endpoint profile than the project was generated for, laid over its catalog
// as `surfaces.json` holds what it says otherwise.

import type { Environment } from "./environment.js";
import { parse } from "./json.js";

/** How operations are spread over tools. */
export const MODES = ["semantic", "single", "all", "discrete"] as const;
export type Mode = (typeof MODES)[number];

const MODE = "MCP_AQL_ENDPOINT_MODE";
const PROFILE = "MCP_AQL_ENDPOINT_PROFILE";

/** A mode or profile that cannot be shown; the text says what to do. */
export class SurfaceProblem extends Error {}

/** What is known of a catalog here. */
interface Data {
  readonly adapter: { readonly name: string };
  readonly mode: Mode;
  readonly profile: string;
  readonly operations: readonly object[];
}

/** What a surface says otherwise: members in place of the catalog's, and of its operations, by number, those members that differ. */
interface Difference {
  readonly operations?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** `surfaces.json`: for each profile and mode the difference, or why there is none. */
type Surfaces = Readonly<Record<string, Readonly<Record<string, Difference | string>>>>;

/** The catalog as the environment wants it; `read` gives the text of `surfaces.json`, which is only needed for another than its own. */
export function surface<D extends Data>(own: D, env: Environment, read: () => string): D {
  const mode = wantedMode(env) ?? own.mode;
  const profile = set(env, PROFILE) ?? own.profile;
  if (mode === own.mode && profile === own.profile) return own;
  const profiles = new Map(Object.entries(parse(read()) as Surfaces));
  const modes = profiles.get(profile);
  if (modes === undefined) {
    const known = [...profiles.keys()].join(", ");
    throw new SurfaceProblem(`The adapter '${own.adapter.name}' has no endpoint profile '${profile}' (it has ${known})`);
  }
  const difference = modes[mode] ?? "This project was generated without that mode; generate it again";
  if (typeof difference === "string") throw new SurfaceProblem(difference);
  return overlaid(own, difference);
}

function wantedMode(env: Environment): Mode | undefined {
  const word = set(env, MODE);
  const mode = MODES.find((known) => known === word);
  if (word !== undefined && mode === undefined) {
    throw new SurfaceProblem(`${MODE} is '${word}', but must be one of ${MODES.join(", ")}`);
  }
  return mode;
}

/** A variable that says something. */
function set(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}

function overlaid<D extends Data>(own: D, { operations: changed = {}, ...members }: Difference): D {
  const operations = own.operations.map((operation, number) => {
    const change = changed[number];
    // A member that is null there is not there at all.
    return change === undefined ? operation : Object.fromEntries(Object.entries({ ...operation, ...change }).filter(([, value]) => value !== null));
  });
  return { ...own, ...members, operations };
}
