// Environment variables, and texts with references to them.

const VARIABLE = /\$\{env:([^}:]+)(?::-([^}]*))?\}/g;
export const valueOf = (name: string): string => process.env[name]?.trim() ?? "";

/** Replaces `${env:NAME}` and `${env:NAME:-fallback}`. `missing` makes the error for a variable that is not set. */
export function fill(text: string, missing: (name: string) => Error, used?: (value: string) => void): string {
  return text.replace(VARIABLE, (_match, name: string, fallback: string | undefined) => {
    const value = valueOf(name);
    if (value === "" && fallback === undefined) throw missing(name);
    used?.(value);
    return value === "" ? (fallback ?? "") : value;
  });
}
