// The page of a head before the first scan, computed from the current text alone.

import { tablesOf } from '../../../src/js/analysis/headScan.js';
import { weightsOf } from '../reading/derivation.js';
import { LISTED } from './quantile.js';

/** @import { AtlasHead } from '../../store/atlasProtocol.js' */
/** @import { Run } from '../../store/types.js' */
/** @import { Arc } from './strip.js' */

/** A weight below this is not shown. */
const LEAST = 0.005;

/**
 * @param {Run | null} run
 * @param {number} layer
 * @param {number} head
 * @returns {AtlasHead | null} null if the weights of the head are not known
 */
export function sentencePage(run, layer, head) {
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

/**
 * Returns the largest weights of a text, one for each query, the largest first. Weights on the query itself and on the
 * first token count only for a head whose role is to attend to them.
 * @param {AtlasHead} page
 * @param {string | null} role
 * @returns {Arc[]}
 */
export function strongestRows({ samples: [{ tokens, indices, values }] }, role) {
  /** @type {Map<number, Arc>} */
  const rows = new Map();
  for (let i = 0; i < indices.length; i++) {
    const [t, s] = [Math.floor(indices[i] / tokens.length), indices[i] % tokens.length];
    if (t === 0 || (s === t && role !== 'itself') || (s === 0 && role !== 'first')) continue;
    const known = rows.get(t);
    if (!known || values[i] > known.weight) rows.set(t, { t, s, weight: values[i] });
  }
  return [...rows.values()].sort((a, b) => b.weight - a.weight).slice(0, LISTED);
}
