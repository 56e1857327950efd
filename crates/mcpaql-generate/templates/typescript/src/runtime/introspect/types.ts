// Types: the protocol's own, then the adapter's.

import type { Catalog, TypeView } from "../catalog.js";
import { type Fields, own } from "../json.js";
import { type Answer, answer } from "../response.js";
import { type Ask, type Detail, isPaged } from "./ask.js";
import { LARGEST, Page, SIZE, WHOLE } from "./page.js";

/** So many details where nobody says how many. */
const FULL = 10;

/** The types, a page at a time where there are many. */
export function listTypes(catalog: Catalog, ask: Ask): Answer {
  const { listed, all } = catalog.data.types;
  const detail = ask.detail ?? "summary";
  const page = new Page(ask, listed, pageSize(detail, listed), LARGEST);
  const data: Fields = { types: all.slice(page.start, page.end).map((type) => view(type, detail)) };
  if (isPaged(ask) || page.isPart) data["pageInfo"] = page.info;
  return answer(data);
}

function pageSize(detail: Detail, total: number): number {
  if (detail === "names") return LARGEST;
  if (detail === "full") return FULL;
  return total <= WHOLE ? WHOLE : SIZE;
}

/** The type of that name, so far as it is asked about. */
export function oneType(catalog: Catalog, name: string, detail: Detail): unknown {
  const type = catalog.data.types.all.find(({ details }) => details.name === name);
  return type === undefined ? undefined : view(type, detail);
}

function view({ details, signature }: TypeView, detail: Detail): unknown {
  if (detail === "full") return details;
  if (detail === "names") return details.name;
  if (detail === "signature" && signature !== undefined) return { name: details.name, signature };
  const shown = ["name", "kind", "description"].filter((key) => Object.hasOwn(details, key));
  return Object.fromEntries(shown.map((key) => [key, own(details, key)]));
}
