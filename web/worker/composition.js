// Which heads feed which: headlight-attention/analysis' composition of a head with those below and those above it.

import { composition } from '../../src/js/analysis/analysis.js';

/** @import { Feed, Place } from '../features/flow/flowLayout.js' */
/** @import { Source } from './sources/sources.js' */

/** Matrices that are kept in int8 are read as numbers once, not once a pair. @type {WeakMap<object, any>} */
const read = new WeakMap();
function readable(/** @type {any} */ model) {
  if (!read.has(model)) {
    /** @type {any} */
    let state;
    const stateDict = () => {
      state ??= model.stateDict();
      return state;
    };
    read.set(model, { options: model.options, parameters: model.parameters, stateDict });
  }
  return read.get(model);
}

/**
 * All that are known so far, again after each layer: the nearest layers first.
 * @param {Source} source
 * @param {Place} chosen
 */
export async function* feedsOf({ model, about: { layers, heads } }, chosen) {
  const parts = readable(model);
  /** @type {Feed[]} */
  const feeds = [];
  const others = Array.from({ length: layers }, (_, layer) => layer)
    .filter((layer) => layer !== chosen.layer)
    .sort((a, b) => Math.abs(a - chosen.layer) - Math.abs(b - chosen.layer));
  for (const layer of others) {
    for (let head = 0; head < heads; head++) {
      const other = { layer, head };
      const [from, to] = layer < chosen.layer ? [other, chosen] : [chosen, other];
      const values = composition(parts, from, to);
      for (const kind of /** @type {const} */ (['q', 'k', 'v'])) feeds.push({ from, to, kind, value: values[kind] });
    }
    yield [...feeds];
  }
}
