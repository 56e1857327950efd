// Hits with the operations that provide what they need: the chain an agent has to walk, not only its last link.

import type { Source } from "../discovery.js";
import { type Index, f } from "./index.js";
import { type Ranking, ranked } from "./rank.js";

/** Producers that are named for one identifier. */
const NAMED = 2;
/** How much the question counts against the order that links have by themselves. */
const ASKED = 2;

/** Identifiers that come from the same operations. */
interface Named {
  /** The parameters, as callers write them. */
  readonly params: string[];
  /** Positions of the operations that return them: those that fit the question first. */
  readonly producers: readonly number[];
}

/**
 * At most `limit` operations that fit the question, each with what has to be asked before. Left out are identifiers that were named
 * for a hit before this one, and those that nearly every operation needs, which a caller has already.
 */
export function searchWithChain(
  index: Index,
  sourcesOf: (position: number) => readonly Source[],
  question: string,
  limit: number,
): { position: number; sources: Named[] }[] {
  const ranking = ranked(index, question);
  const hits = ranking.hits(limit);
  const best = hits[0]?.score ?? 0;
  const said = new Set<string>();
  return hits.map(({ position }) => {
    const sources = new Map<string, Named>();
    for (const { param, producers, everywhere } of sourcesOf(position)) {
      if (everywhere) continue;
      const chosen = choose(producers, ranking, best);
      const key = chosen.join(" ");
      if (said.has(`${key} ${param}`)) continue;
      said.add(`${key} ${param}`);
      const other = sources.get(key);
      if (other === undefined) sources.set(key, { params: [param], producers: chosen });
      else other.params.push(param);
    }
    return { position, sources: [...sources.values()] };
  });
}

/** The producers that fit both the identifier and the question. */
function choose(producers: readonly number[], ranking: Ranking, best: number): number[] {
  const weighed = producers.map((position, place) => {
    const asked = best > 0 ? f(ranking.score(position) / best) : 0;
    return { position, weight: f(f(1 / (place + 1)) + f(ASKED * asked)) };
  });
  weighed.sort((a, b) => b.weight - a.weight);
  return weighed.slice(0, NAMED).map(({ position }) => position);
}
