// Computes composition scores of two heads from their weights.

import { checkOptions, readNumber } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';
import { type Model, parametersOf, requireModel } from './arrays.ts';
import { normOf } from './head.ts';

export type Head = { layer: number; head: number };
/** A matrix (rows,columns). */
export type Matrix = { data: Float64Array; rows: number; columns: number };

/**
 * Computes Q-, K- and V-composition: how much the output of one head overlaps with the inputs of the queries, keys and
 * values of another head (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"), in Frobenius norms:
 *
 *     q = ‖ W_QKᵀ · W_OV ‖ / ‖ W_QK ‖ ‖ W_OV ‖     W_QK = Wqᵀ·Wk of `to`      (C,C)
 *     k = ‖ W_QK  · W_OV ‖ / ‖ W_QK ‖ ‖ W_OV ‖     W_OV = Wo·Wv of `from`    (C,C)
 *     v = ‖ W_OV′ · W_OV ‖ / ‖ W_OV′ ‖ ‖ W_OV ‖    W_OV′ = Wo·Wv of `to`
 *
 * Each score is between 0 and 1. The weights of a norm before attention, and its subtraction of the mean, are folded
 * into Wq, Wk and Wv. Rotary positions are ignored: W_QK holds for a query and a key at the same position.
 * @param to in a later layer
 */
export function composition(model: Model, from: Head, to: Head) {
  const caller = 'composition';
  requireModel(caller, model);
  const { layers, numHeads } = model.options;
  for (const [name, head] of [
    ['from', from],
    ['to', to],
  ] as const) {
    checkOptions(caller, head, ['layer', 'head'], name);
    readNumber(caller, `${name}.layer`, head.layer, { integer: true, least: 0, most: layers - 1 });
    readNumber(caller, `${name}.head`, head.head, { integer: true, least: 0, most: numHeads - 1 });
  }
  if (from.layer >= to.layer) throw argumentError(caller, 'from.layer', from.layer, `less than to.layer, ${to.layer}`);
  const [source, target] = [readHead(caller, model, from), readHead(caller, model, to)];
  // All norms are computed from the factors (C,D) and (D,C), because W_QK and W_OV (C,C) only have rank D.
  const sourceOV = normOfProduct(source.wo, identity(source.wv.rows), source.wv);
  const [wqT, wkT] = [transpose(target.wq), transpose(target.wk)]; // (C,D)
  const middle = (w: Matrix) => product(w, source.wo); // (D,D)
  const targetQK = normOfProduct(wqT, identity(target.wq.rows), target.wk);
  const targetOV = normOfProduct(target.wo, identity(target.wv.rows), target.wv);
  const ratio = (joint: number, own: number) => (own === 0 || sourceOV === 0 ? 0 : joint / (own * sourceOV));
  return {
    q: ratio(normOfProduct(wkT, middle(target.wq), source.wv), targetQK),
    k: ratio(normOfProduct(wqT, middle(target.wk), source.wv), targetQK),
    v: ratio(normOfProduct(target.wo, middle(target.wv), source.wv), targetOV),
  };
}

/** Returns Wq, Wk and Wv (D,C) and Wo (C,D) of one head. */
function readHead(caller: string, model: Model, { layer, head }: Head) {
  const { numHeads, kvHeads = numHeads, norm, normPlace = 'before' } = model.options;
  const { matrix, vector } = parametersOf(caller, model);
  const at = `blocks.${layer}`;
  const group = Math.floor(head / (numHeads / kvHeads));
  const scale = normPlace === 'after' ? undefined : normOf(caller, model, `${at}.norm1`)?.weight;
  const centred = scale !== undefined && norm !== 'rms';
  const rows = (name: string, n: number, count: number): Matrix => {
    const { data, shape } = matrix(`${at}.attention.${name}`);
    const [height, columns] = [shape[0] / count, shape[1]];
    const size = height * columns;
    return folded(
      { data: Float64Array.from(data.subarray(n * size, (n + 1) * size)), rows: height, columns },
      scale,
      centred,
    );
  };
  const { data, shape } = matrix(`${at}.attention.wo`);
  const factors = vector(`${at}.scale1`);
  const width = shape[1] / numHeads;
  const wo = new Float64Array(shape[0] * width);
  for (let c = 0; c < shape[0]; c++)
    for (let d = 0; d < width; d++) wo[c * width + d] = data[c * shape[1] + head * width + d] * (factors?.[c] ?? 1);
  return {
    wq: rows('wq', head, numHeads),
    wk: rows('wk', group, kvHeads),
    wv: rows('wv', group, kvHeads),
    wo: { data: wo, rows: shape[0], columns: width },
  };
}

/** Folds the weights of a norm and its subtraction of the mean into the matrix that follows. scale: (columns). */
function folded(matrix: Matrix, scale: Float32Array | undefined, centred: boolean) {
  const { data, rows, columns } = matrix;
  for (let r = 0; r < rows; r++) {
    const row = data.subarray(r * columns, (r + 1) * columns);
    if (scale) for (let c = 0; c < columns; c++) row[c] *= scale[c];
    const mean = centred ? row.reduce((a, x) => a + x, 0) / columns : 0;
    for (let c = 0; c < columns; c++) row[c] -= mean;
  }
  return matrix;
}

function identity(n: number): Matrix {
  const data = new Float64Array(n * n);
  for (let i = 0; i < n; i++) data[i * n + i] = 1;
  return { data, rows: n, columns: n };
}

function transpose({ data, rows, columns }: Matrix): Matrix {
  const out = new Float64Array(data.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = data[i * columns + j];
  return { data: out, rows: columns, columns: rows };
}

function product(a: Matrix, b: Matrix): Matrix {
  const out = new Float64Array(a.rows * b.columns);
  for (let i = 0; i < a.rows; i++)
    for (let k = 0; k < a.columns; k++) {
      const x = a.data[i * a.columns + k];
      for (let j = 0; j < b.columns; j++) out[i * b.columns + j] += x * b.data[k * b.columns + j];
    }
  return { data: out, rows: a.rows, columns: b.columns };
}

/**
 * Returns ‖ A·B·C ‖ for (C,D), (D,E), (E,C), without the (C,C) product: its square is the sum over (AᵀA · B · CCᵀ) ∘ B.
 */
function normOfProduct(a: Matrix, b: Matrix, c: Matrix) {
  const left = product(product(transpose(a), a), b);
  const both = product(left, product(c, transpose(c)));
  return Math.sqrt(
    Math.max(
      both.data.reduce((sum, x, i) => sum + x * b.data[i], 0),
      0,
    ),
  );
}
