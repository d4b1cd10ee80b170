// Computes scores of the attention weights of all heads, and the roles of heads from these scores.

import { headScores } from '../../../src/js/analysis/analysis.js';
import { saidTwice } from '../../features/heads/repeatedPassages.js';
import { roleOf } from '../../features/heads/roles.js';

/** @import { HeadScores, Roles } from '../../store/protocol.js' */
/** @import { Hl, Numbers, TransformerSource } from '../sources/types.js' */

/** Copies the weights of every head into one array (L,H,T,S). @param {Numbers[]} layers */
export function weightsOf(layers) {
  const parts = layers.map(({ data }) => data);
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Copies the weights (T,S) of one head of a layer. @param {Numbers} layer (1,H,T,S) @param {number} head */
export const weightsOfHead = ({ data, shape: [, , T, S] }, head) => data.slice(head * T * S, (head + 1) * T * S);

/**
 * Computes the scores of all heads as [layer][head].
 * @param {Numbers[]} weights of every layer
 * @param {{ data: ArrayLike<number>, shape: number[] }} ids
 * @returns {HeadScores[][]}
 */
export function scoresOf(weights, ids) {
  const scores = headScores(weights, { ids });
  const [batch, heads, T] = weights[0].shape;
  return weights.map(({ data }, l) =>
    Array.from({ length: heads }, (_, h) => ({
      ...Object.fromEntries(Object.entries(scores).map(([name, { data: all }]) => [name, all[l * heads + h]])),
      itself: onDiagonal(data, { batch, heads, head: h, T }),
    })),
  );
}

/**
 * Returns the mean weight of tokens on themselves. Token 0 does not count, because it has no other key.
 * @param {Float32Array} data (B,H,T,T)
 * @param {{ batch: number, heads: number, head: number, T: number }} sizes
 */
function onDiagonal(data, { batch, heads, head, T }) {
  let sum = 0;
  for (let b = 0; b < batch; b++) {
    const start = (b * heads + head) * T * T;
    for (let t = 1; t < T; t++) sum += data[start + t * T + t];
  }
  return sum / (batch * (T - 1));
}

/** @param {HeadScores[][]} scores @returns {Roles} */
export const rolesOf = (scores) => scores.map((row) => row.map(roleOf));

/** Computes the roles of a model's heads once, and keeps them. */
export class RoleCache {
  /** @type {Map<string, Roles>} */
  #roles = new Map();

  /** @param {Hl} hl @param {TransformerSource} source @returns {Roles} */
  of(hl, source) {
    const key = `${source.about.name} ${source.version ?? ''}`;
    const known = this.#roles.get(key);
    if (known) return known;
    const roles = measureRoles(hl, source);
    this.#roles.set(key, roles);
    return roles;
  }
}

/** @param {Hl} hl @param {TransformerSource} source */
function measureRoles(hl, { about: { layers }, exemplar, model }) {
  const ids = exemplar
    ? { data: Int32Array.from(exemplar), shape: [1, exemplar.length] }
    : saidTwice(model.options.vocab, 1, 4);
  const weights = hl.scope(() => {
    const { captured } = model.forward({ ids }, { capture: ['blocks.*.weights'] });
    return Array.from({ length: layers }, (_, l) => {
      const tensor = captured[`blocks.${l}.weights`];
      return { data: tensor.copy(), shape: [...tensor.shape] };
    });
  });
  return rolesOf(scoresOf(weights, ids));
}
