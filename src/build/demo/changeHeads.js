// Changes of the weights of heads before a stage of the training.

/**
 * Multiplies the queries of heads by a small number, so that they look at all tokens nearly evenly. Returns a function
 * that gives their queries and keys these weights back, so that training cannot make them look at one token.
 * @param {any} model
 * @param {number[][]} heads [layer, head]
 * @param {number} scale 1 if the queries have been multiplied before
 */
export function makeVague(model, heads, scale) {
  const rows = model.options.dModel / model.options.numHeads;
  const parts = heads.flatMap(([layer, head]) =>
    ['wq', 'wk'].map((matrix) => {
      const tensor = model.parameters[`blocks.${layer}.attention.${matrix}`];
      const [from, to] = [head, head + 1].map((h) => h * rows * tensor.shape[1]);
      const factor = matrix === 'wq' ? scale : 1;
      const kept = tensor.data.slice(from, to).map((/** @type {number} */ x) => x * factor);
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
 * Multiplies the outputs of heads. A head that has learned what to say, but not yet loudly enough, would need many more
 * steps for it.
 * @param {any} model
 * @param {number[][]} heads [layer, head]
 * @param {number} scale
 */
export function makeLouder(model, heads, scale) {
  const columns = model.options.dModel / model.options.numHeads;
  for (const [layer, head] of heads) {
    const { data, shape } = model.parameters[`blocks.${layer}.attention.wo`];
    const [rows, width] = shape;
    for (let row = 0; row < rows; row++)
      for (let i = head * columns; i < (head + 1) * columns; i++) data[row * width + i] *= scale;
  }
}

/**
 * Multiplies the queries of heads, so that each row of their weights is closer to one key.
 * @param {any} model
 * @param {number[][]} heads [layer, head]
 * @param {number} scale
 */
export function makeSharper(model, heads, scale) {
  const rows = model.options.dModel / model.options.numHeads;
  for (const [layer, head] of heads) {
    const { data, shape } = model.parameters[`blocks.${layer}.attention.wq`];
    for (let i = head * rows * shape[1]; i < (head + 1) * rows * shape[1]; i++) data[i] *= scale;
  }
}
