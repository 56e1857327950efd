// Tool names under a prefix that the operator chooses. A name that clients would cut is shortened, always the same way: its end
// gives way to six digits that depend on all of it.

import type { CatalogData, Route } from "./catalog.js";
import { snakeCase } from "./suggest.js";
import { byteLength, take } from "./text.js";

/** Longest name that MCP's checks and every known client accept. */
const MAX_NAME = 64;
/** Longest name that survives what clients put in front of it. */
const SAFE_NAME = 51;
/** Prefixes this long or longer are discouraged. */
export const LONG_PREFIX = 20;
/** Digits that stand for what was cut off. */
const DIGITS = 6;

/** A prefix that cannot be used; the text says what to do. */
export class NameProblem extends Error {}

/** The catalog with the names that its tools have under a prefix; throws where the prefix cannot be used. */
export function renamed(data: CatalogData, prefix: string): CatalogData {
  checkPrefix(prefix);
  const names = new Map(Object.entries(data.names).map(([name, pattern]) => [name, under(prefix, name, pattern, data.routes[name])]));
  const present = (name: string) => names.get(name) ?? name;
  const route = ({ renamed_to: to, ...rest }: Route): Route => (to === undefined ? rest : { ...rest, renamed_to: present(to) });
  const said = (text: string) =>
    text.replace(/(introspect through |\} on )([\w-]+)\./g, (_, before: string, name: string) => `${before}${present(name)}.`);
  return {
    ...data,
    instructions: said(data.instructions),
    tools: data.tools.map((tool) => ({ ...tool, name: present(tool.name), description: said(tool.description) })),
    routes: Object.fromEntries(Object.entries(data.routes).map(([name, to]) => [present(name), route(to)])),
    operations: data.operations.map((operation) => ({ ...operation, tool: present(operation.tool) })),
  };
}

function under(prefix: string, name: string, pattern: string | null, route: Route | undefined): string {
  if (pattern === null) throw new NameProblem(`The tool name '${name}' cannot have the prefix '${prefix}'; generate the project with it`);
  const whole = pattern.replace("{prefix}", prefix);
  const own = route?.operation !== undefined && byteLength(whole) > SAFE_NAME ? shortened(whole, SAFE_NAME) : whole;
  if (byteLength(own) > MAX_NAME) {
    throw new NameProblem(
      `The tool name '${own}' has ${byteLength(own)} characters, more than the ${MAX_NAME} that clients accept; set a shorter MCP_AQL_TOOL_PREFIX`,
    );
  }
  return own;
}

function checkPrefix(prefix: string): void {
  if (/^[a-z0-9_]*_$/.test(prefix)) return;
  const better = snakeCase(prefix).replace(/[^A-Za-z0-9_-]/g, "").replace(/_+$/, "");
  throw new NameProblem(
    `The prefix '${prefix}' must be lower case letters, digits and underscores and end with '_', such as '${better === "" ? "github" : better}_'`,
  );
}

/** The beginning of a text and a few digits that depend on all of it, together no longer than `room`. */
function shortened(text: string, room: number): string {
  const head = take(text, room - DIGITS - 1).replace(/[_-]+$/, "");
  return `${head}_${(fnv1a(Buffer.from(text)) & 0xffffff).toString(16).padStart(DIGITS, "0")}`;
}

/** FNV-1a: the same everywhere. */
export function fnv1a(bytes: Uint8Array): number {
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);
}
