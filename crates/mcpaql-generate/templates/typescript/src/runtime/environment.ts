// Texts that name variables of the environment.

const VARIABLE = /\$\{env:([^}:]+)(?::-([^}]*))?\}/g;

/** The text with `${env:NAME}` and `${env:NAME:-fallback}` filled in; `missing` says what to throw. */
export function fill(text: string, missing: (name: string) => Error, used?: (value: string) => void): string {
  return text.replace(VARIABLE, (_match, name: string, fallback: string | undefined) => {
    const value = process.env[name]?.trim() ?? "";
    if (value === "" && fallback === undefined) throw missing(name);
    used?.(value);
    return value === "" ? (fallback ?? "") : value;
  });
}
