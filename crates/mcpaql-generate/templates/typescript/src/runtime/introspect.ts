// Introspection: pure views of the catalog.
//
// What always holds: a name that does not exist is no failure, but a success with null and a warning; long lists come in pages.

import type { Catalog, Operation } from "./catalog.js";
import { meant, producers } from "./discovery.js";
import { type Ask, type Detail, besideNames, invalid, narrowedBy, readAsk } from "./introspect/ask.js";
import { fullOf, listOperations, summaryOf } from "./introspect/list.js";
import { listTypes, oneType } from "./introspect/types.js";
import type { Fields } from "./json.js";
import { type Answer, type Warning, answer } from "./response.js";
import { nearestMany } from "./suggest.js";
import { quoted } from "./text.js";

/** Answers `introspect` for arguments that are already validated; throws an `OpError` for parameters that make no sense together. */
export function introspect(catalog: Catalog, args: Fields): Answer {
  const ask = readAsk(args);
  const [narrowing] = narrowedBy(ask);
  if (ask.types && narrowing !== undefined) {
    const message = `Parameter '${narrowing}' narrows operations, not types. Leave it out, or leave out 'query'.`;
    throw invalid(narrowing, message);
  }
  if (ask.names === undefined) return ask.types ? listTypes(catalog, ask) : listOperations(catalog, ask);
  const detail = ask.detail ?? "full";
  if (!ask.types) return named(ask, ask.names, "operation", (name) => oneOperation(catalog, name, detail));
  const all = catalog.data.types.all.slice(0, catalog.data.types.listed).map((type) => type.details.name);
  return named(ask, ask.names, "type", (name) => {
    const shown = oneType(catalog, name, detail);
    return shown === undefined ? unknown("type", name, nearestMany(name, all, 3)) : { shown };
  });
}

/** What is shown of a name, or why nothing is. */
type Shown = { readonly shown: unknown } | Warning;

function oneOperation(catalog: Catalog, name: string, detail: Detail): Shown {
  const operation = catalog.get(name);
  if (operation !== undefined) return { shown: view(catalog, operation, detail) };
  return unknown("operation", name, meant(catalog, name, []).map((near) => near.name));
}

function view(catalog: Catalog, operation: Operation, detail: Detail): unknown {
  switch (detail) {
    case "names":
      return operation.name;
    case "summary":
      return summaryOf(operation);
    case "full":
      return fullOf(operation);
    case "signature": {
      const { name, endpoint, details } = operation;
      const from = producers(catalog, operation);
      const signed = { name, endpoint, signature: details["signature"] };
      return from.length === 0 ? signed : { ...signed, from: Object.fromEntries(from) };
    }
  }
}

/** One result under `key`, or several under its plural. */
function named(ask: Ask, names: readonly string[], key: string, find: (name: string) => Shown): Answer {
  const warnings = besideNames(ask);
  const found: unknown[] = [];
  for (const name of names) {
    const one = find(name);
    if ("shown" in one) found.push(one.shown);
    else warnings.push(one);
  }
  return answer(ask.several ? { [`${key}s`]: found } : { [key]: found[0] ?? null }, warnings);
}

function unknown(kind: string, name: string, near: readonly string[]): Warning {
  const hint = near.length === 0 ? `List all with query '${kind}s'.` : `Nearest: ${near.join(", ")}.`;
  return { code: "NOT_FOUND", message: `There is no ${kind}${quoted(name)}. ${hint}` };
}
