// Functions that change the weights of heads before a stage of the training.

import type { Transformer } from '../../js/models/transformer.ts';

/**
 * Multiplies the query weights of heads by a small number, so that the heads attend to all tokens nearly evenly.
 * Returns a function that restores these query weights and the key weights, so that training cannot make the heads
 * attend to one token.
 * @param heads [layer, head]
 * @param scale 1 if the queries have been multiplied before
 */
export function makeVague(model: Transformer, heads: number[][], scale: number) {
  const rows = model.options.dModel / model.options.numHeads;
  const parts = heads.flatMap(([layer, head]) =>
    ['wq', 'wk'].map((matrix) => {
      const tensor = model.parameters[`blocks.${layer}.attention.${matrix}`];
      const [from, to] = [head, head + 1].map((h) => h * rows * tensor.shape[1]);
      const factor = matrix === 'wq' ? scale : 1;
      const kept = tensor.data.slice(from, to).map((x: number) => x * factor);
      return () => tensor.data.set(kept, from);
    }),
  );
  const restore = () => {
    for (const part of parts) part();
  };
  restore();
  return restore;
}

/**
 * Multiplies the outputs of heads. A head whose output has the right direction, but is still too small, would need many
 * more steps to increase it.
 * @param heads [layer, head]
 */
export function makeLouder(model: Transformer, heads: number[][], scale: number) {
  const columns = model.options.dModel / model.options.numHeads;
  for (const [layer, head] of heads) {
    const { data, shape } = model.parameters[`blocks.${layer}.attention.wo`];
    const [rows, width] = shape;
    for (let row = 0; row < rows; row++)
      for (let i = head * columns; i < (head + 1) * columns; i++) data[row * width + i] *= scale;
  }
}

/**
 * Multiplies the query weights of heads, so that each row of their attention weights is more concentrated on one key.
 * @param heads [layer, head]
 */
export function makeSharper(model: Transformer, heads: number[][], scale: number) {
  const rows = model.options.dModel / model.options.numHeads;
  for (const [layer, head] of heads) {
    const { data, shape } = model.parameters[`blocks.${layer}.attention.wq`];
    for (let i = head * rows * shape[1]; i < (head + 1) * rows * shape[1]; i++) data[i] *= scale;
  }
}
