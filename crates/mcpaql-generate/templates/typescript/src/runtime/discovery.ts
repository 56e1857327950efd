// Finding operations: by what they do, by what they give, by a name that is nearly theirs.

import type { Catalog, LinksData, Operation } from "./catalog.js";
import { Index } from "./search/index.js";
import { searchWithChain } from "./search/chain.js";
import { ranked } from "./search/rank.js";
import { isSlip, nearestMany, snakeCase } from "./suggest.js";

/** So many operations are offered for a name that there is not. */
const OFFERED = 3;
/** So many producers are worth naming wherever a parameter is shown. */
const BEST = 3;

/** The parameters of an operation that other operations have values for, with the names of these, the best first. */
export type Producers = [param: string, names: readonly string[]][];

/** An identifier that an operation needs, and the operations that return it. */
export interface Source {
  readonly param: string;
  /** Positions of operations, the best first. */
  readonly producers: readonly number[];
  /** So many operations need it that it says little about this one. */
  readonly everywhere: boolean;
}

const indexes = new WeakMap<Catalog, Index>();

/** What search knows of a catalog, made when somebody first asks. */
function indexOf(catalog: Catalog): Index {
  let index = indexes.get(catalog);
  if (index === undefined) {
    index = new Index(catalog.data.search);
    indexes.set(catalog, index);
  }
  return index;
}

/** The operations that fit a question, the best first. */
export function found(catalog: Catalog, question: string, limit: number): Operation[] {
  return ranked(indexOf(catalog), question).hits(limit).flatMap(({ position }) => catalog.operations[position] ?? []);
}

/** The same, with where their identifiers come from: producers that fit the question first, each said once. */
export function foundWithChain(catalog: Catalog, question: string, limit: number): [Operation, Producers][] {
  const hits = searchWithChain(indexOf(catalog), (position) => sources(catalog.data.links, position), question, limit);
  return hits.flatMap(({ position, sources }): [Operation, Producers][] => {
    const operation = catalog.operations[position];
    if (operation === undefined) return [];
    const inferred: Producers = sources.flatMap(({ params, producers }) => {
      const names = namesOf(catalog, producers);
      return params.map((param): [string, string[]] => [param, names]);
    });
    // What an import wrote down is what is inferred; only what an author says goes before the question.
    return [[operation, declaredOver(operation, inferred, inferredProducers(catalog, position))]];
  });
}

/** Where the values of an operation's parameters come from: as its author says, else as the operations show. */
export function producers(catalog: Catalog, operation: Operation): Producers {
  return declaredOver(operation, inferredProducers(catalog, catalog.position(operation)), []);
}

/** What a name that there is not may have meant: a slip of the finger first, else what its words and the parameters beside it are about. */
export function meant(catalog: Catalog, name: string, params: readonly string[]): Operation[] {
  const near = nearestMany(name, catalog.operations.map((operation) => operation.name), OFFERED);
  const slips = near.filter((candidate) => isSlip(name, candidate));
  const words = [name, ...params].map((word) => snakeCase(word).replaceAll("_", " ")).join(" ");
  const fitting = found(catalog, words, OFFERED).map((operation) => operation.name);
  const offered = [...new Set([...slips, ...fitting, ...near])].slice(0, OFFERED);
  return offered.flatMap((offer) => catalog.get(offer) ?? []);
}

function sources(links: LinksData, position: number): Source[] {
  return (links.wanted[position] ?? []).flatMap((number) => {
    const source = links.sources[number];
    return source === undefined ? [] : [{ param: source[0], producers: source[1], everywhere: source[2] === true }];
  });
}

function inferredProducers(catalog: Catalog, position: number): Producers {
  return sources(catalog.data.links, position).map(({ param, producers }) => [param, namesOf(catalog, producers.slice(0, BEST))]);
}

/** With what the operation itself says in place of what is inferred, unless that is `known` anyway. */
function declaredOver(operation: Operation, inferred: Producers, known: Producers): Producers {
  const same = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((name, at) => name === b[at]);
  for (const { name, from = [] } of operation.params) {
    if (from.length === 0 || known.some(([param, names]) => param === name && same(names, from))) continue;
    const slot = inferred.find(([param]) => param === name);
    if (slot === undefined) inferred.push([name, from]);
    else slot[1] = from;
  }
  return inferred;
}

function namesOf(catalog: Catalog, positions: readonly number[]): string[] {
  return positions.flatMap((position) => catalog.operations[position]?.name ?? []);
}
