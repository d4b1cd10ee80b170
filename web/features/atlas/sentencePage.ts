// The page of a head before the first scan, computed from the current text alone.

import { tablesOf } from '../../../src/js/analysis/scan/headScan.ts';
import { weightsOf } from '../../model/derivation.ts';
import type { AtlasHead } from '../../model/protocol/atlasProtocol.ts';
import type { Run } from '../../model/types.ts';
import { LISTED } from './quantile.ts';
import type { Arc } from './strip.ts';

/** A weight below this is not shown. */
const LEAST = 0.005;

/** Returns null if the weights of the head are not known. */
export function sentencePage(run: Run | null, layer: number, head: number): AtlasHead | null {
  if (!run || run.T < 2 || run.T !== run.S || layer >= run.about.layers || head >= run.about.heads) return null;
  const weights = weightsOf(run, layer, head);
  if (!weights) return null;
  const tokens = run.pieces.map(({ space, text, name }) => (text ? space + text : name));
  const kept = Array.from(weights.keys()).filter((i) => weights[i] >= LEAST);
  const values = kept.map((i) => weights[i]);
  const max = values.reduce((most, weight) => Math.max(most, weight), 0);
  const sample = { sequence: 0, interval: 1, tokens, max, indices: kept, values };
  return { key: '', layer, head, samples: [sample], ...tablesOf([sample]) };
}

/** Returns each query's largest weight, the largest first; for the query itself and the first token see strip.ts. */
export function strongestRows({ samples: [{ tokens, indices, values }] }: AtlasHead, role: string | null): Arc[] {
  const rows: Map<number, Arc> = new Map();
  for (let i = 0; i < indices.length; i++) {
    const [t, s] = [Math.floor(indices[i] / tokens.length), indices[i] % tokens.length];
    if (t === 0 || (s === t && role !== 'itself') || (s === 0 && role !== 'first')) continue;
    const known = rows.get(t);
    if (!known || values[i] > known.weight) rows.set(t, { t, s, weight: values[i] });
  }
  return [...rows.values()].sort((a, b) => b.weight - a.weight).slice(0, LISTED);
}
