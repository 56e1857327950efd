// The process environment behind a type, texts that name its variables, and the folder where data is kept.

import { homedir, platform } from "node:os";
import { join } from "node:path";
import { splitOnce } from "./lines.js";

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A piece of a text: as written, or the value of a variable or what stands in for it. */
export type Piece = { readonly text: string } | { readonly variable: string; readonly fallback: string | undefined };

/** A text with `${env:NAME}`, or `${env:NAME:-fallback}` where the variable need not be set. */
export type Template = readonly Piece[];

/** Splits the text; `undefined` where a `${` is not a closed `${env:NAME}`. */
export function parseTemplate(text: string): Template | undefined {
  const pieces: Piece[] = [];
  let rest = text;
  for (;;) {
    const start = splitOnce(rest, "${");
    if (start === undefined) break;
    const [before, reference] = start;
    const closed = reference.startsWith("env:") ? splitOnce(reference.slice(4), "}") : undefined;
    if (closed === undefined) return undefined;
    const [inside, after] = closed;
    const [variable, fallback] = splitOnce(inside, ":-") ?? [inside, undefined];
    if (variable === "") return undefined;
    if (before !== "") pieces.push({ text: before });
    pieces.push({ variable, fallback });
    rest = after;
  }
  if (rest !== "") pieces.push({ text: rest });
  return pieces;
}

/** The names of the variables in it, in order. */
export function variablesOf(template: Template): string[] {
  return template.flatMap((piece) => ("variable" in piece ? [piece.variable] : []));
}

/** The text with its variables filled in, or the name of the first one that is not set. */
export function fillTemplate(
  template: Template,
  lookup: (name: string) => string | undefined,
): { readonly text: string } | { readonly unset: string } {
  let text = "";
  for (const piece of template) {
    if ("text" in piece) {
      text += piece.text;
      continue;
    }
    const found = lookup(piece.variable);
    const value = piece.fallback !== undefined && found === "" ? undefined : found;
    const filled = value ?? piece.fallback;
    if (filled === undefined) return { unset: piece.variable };
    text += filled;
  }
  return { text };
}

/** The user's data folder: `$XDG_DATA_HOME/mcpaql`, else what the platform uses; `undefined` where nothing says where. */
export function dataFolder(env: Environment): string | undefined {
  const from = (name: string): string | undefined => env[name] ?? undefined;
  const set = (name: string): string | undefined => (from(name) === "" ? undefined : from(name));
  const below = (folder: string): string | undefined => {
    const home = set("HOME");
    return home === undefined ? undefined : join(home, folder);
  };
  const usual: Partial<Record<NodeJS.Platform, () => string | undefined>> = {
    darwin: () => below("Library/Application Support"),
    win32: () => set("LOCALAPPDATA") ?? join(homedir(), "AppData", "Local"),
  };
  const base = set("XDG_DATA_HOME") ?? (usual[platform()] ?? (() => below(".local/share")))();
  return base === undefined ? undefined : join(base, "mcpaql");
}
