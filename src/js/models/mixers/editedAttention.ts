// Attention with captured or edited scores or weights. Edited values are passed to the function of the core that also
// computes attention without edits, so that an edit that sets a value to itself changes no bit.

import { broadcastStrides } from '../../check/shape.ts';
import { sizeOf, type Tensor, viewOf } from '../../memory/tensor.ts';
import { applyEdit, forEachElement, HEADS, type Numbers, type ReadEdit, type Reverse, readOperand } from '../edits.ts';
import type { AttentionCall } from '../gradients/graph.ts';
import type { Run } from '../run.ts';
import { attendInSteps } from './attentionSteps.ts';

/**
 * @param at prefix of the names of values
 * @returns (B,T,H·D)
 */
export function attendWithEdits(run: Run, at: string, call: AttentionCall): Tensor {
  const { graph, values } = run;
  if (graph.differentiates && (values.wants(`${at}scores`) || values.wants(`${at}weights`)))
    return attendInSteps(graph, call, {
      scores: (scores) =>
        captureScores(run, at, values.edits(`${at}scores`).length > 0 ? editScores(run, at, call, scores) : scores),
      weights: (weights) => run.pass(`${at}weights`, weights, HEADS),
    });
  const edited = values.edits(`${at}weights`).length > 0;
  const givenScores = values.edits(`${at}scores`).length > 0 ? editScores(run, at, call) : undefined;
  const requested = { ...call, weights: edited || values.captures(`${at}weights`) };
  const { output, weights, scores } = graph.attention(
    givenScores ? { ...requested, givenScores } : { ...requested, scores: values.captures(`${at}scores`) },
  );
  if (scores) captureScores(run, at, scores);
  if (!weights) return output;
  const givenWeights = run.pass(`${at}weights`, weights, HEADS);
  return edited ? graph.attention({ ...call, givenWeights }).output : output;
}

/** @returns the scores to continue with */
function captureScores({ graph, values, prefix }: Run, at: string, scores: Tensor): Tensor {
  if (!values.captures(`${at}scores`)) return scores;
  graph.start();
  const value = graph.differentiates ? graph.copy(scores) : scores;
  values.captured[`${prefix + at}scores`] = value;
  return value;
}

/**
 * Changes, in place, gradients with respect to the edited scores into gradients with respect to the scores before the
 * edit. dScores: gradient of the scores; dAll: gradient of the scores of all keys, which are computed without masks.
 */
export type Undo = (dScores: Float32Array, dAll: Float32Array) => void;

/**
 * @param given the scores, of which a copy is edited; default: the scores are computed here
 * @returns (B,H,T,S)
 */
function editScores(run: Run, at: string, call: AttentionCall, given?: Tensor): Tensor {
  const { graph, values } = run;
  const edits = values.edits(`${at}scores`);
  const scoresOf = (variant: AttentionCall) => graph.attend({ ...variant, scores: true }).scores as Tensor;
  const scores = given ? graph.duplicate(given) : scoresOf(call);
  const visibility = edits.some(({ mask, window }) => mask || window)
    ? new Visibility(run, call, scores, scoresOf)
    : undefined;
  const undos: Undo[] = [];
  for (const edit of edits) {
    const undo = visibility?.apply(edit);
    if (undo) undos.push(undo);
    // The scores of masked keys are edited as well, because a later edit may unmask them.
    const reverse = changeScores(run, edit, scores);
    const reverseAll = visibility && changeScores(run, edit, visibility.allScores);
    undos.push((dScores, dAll) => {
      reverse(dScores);
      reverseAll?.(dAll);
    });
  }
  if (given)
    graph.record(scores, (d) => {
      const [dx, dAll] = [graph.duplicate(d), new Float32Array(sizeOf(d))];
      for (const undo of undos.reverse()) undo(viewOf(dx), dAll);
      // The scores computed without masks depend on queries and keys in the same way, so their gradients are added.
      viewOf(dx).forEach((value, i, all) => void (all[i] = value + dAll[i]));
      graph.accumulate(given, dx);
    });
  return scores;
}

function changeScores({ caller, past }: Run, edit: ReadEdit, scores: Tensor): Reverse {
  const { temperature } = edit;
  const { shape } = scores;
  const divide = (data: Float32Array) => {
    if (temperature !== undefined) forEachElement(edit, shape, HEADS, past, (i) => void (data[i] /= temperature));
  };
  divide(viewOf(scores));
  const reverse = applyEdit(caller, edit, viewOf(scores), shape, HEADS, past);
  return (gradient) => {
    reverse(gradient);
    divide(gradient);
  };
}

/** Applies edits that change which keys are masked. It has the scores of all keys, including masked keys. */
class Visibility {
  /** (B,H,T,S), without masks */
  declare allScores: Tensor;

  #run: Run;
  #call: AttentionCall;
  #scores: Tensor;
  /**
   * (B,H,T,S): 0 = masked, 1 = visible; windows are ignored. At first, later keys in causal models and padding are
   * masked.
   */
  #visible: Uint8Array<ArrayBuffer>;

  /** @param scores (B,H,T,S), which are edited */
  constructor(run: Run, call: AttentionCall, scores: Tensor, scoresOf: (call: AttentionCall) => Tensor) {
    const { causal, padding, offset } = call;
    const { keys } = call.sizes;
    this.#run = run;
    this.#call = call;
    this.#scores = scores;
    this.allScores = scoresOf({ ...call, causal: false, window: [-1, -1], padding: undefined });
    const visible = new Uint8Array(viewOf(scores).length);
    forEachElement({}, scores.shape, {}, 0, (i, [batch, , t, s]) => {
      visible[i] = Number(!(causal && s > t + offset) && padding?.[batch * keys + s] !== 0);
    });
    this.#visible = visible;
  }

  apply(edit: ReadEdit): Undo | undefined {
    const { mask, window, parameter } = edit;
    if (!mask && !window) return undefined;
    const { caller, past, cache, graph } = this.#run;
    const [shown, hidden]: number[][] = [[], []];
    const { shape } = this.#scores;
    const numbers = mask && mask !== 'none' ? mask : undefined;
    const maskAt = numbers ? readMask(caller, `${parameter}.mask`, numbers, shape, cache && past) : () => 1;
    const [left, right] = window ?? [-1, -1];
    forEachElement(edit, shape, HEADS, past, (i, at) => {
      const distance = at[3] - (at[2] + this.#call.offset);
      const inWindow = (left < 0 || -distance <= left) && (right < 0 || distance <= right);
      const masked = mask ? maskAt(at) : undefined;
      if (masked === undefined && !window) return;
      if (masked !== undefined) this.#visible[i] = Number(masked !== 0);
      const visible = inWindow && this.#visible[i] !== 0;
      viewOf(this.#scores)[i] = visible ? viewOf(this.allScores)[i] : -Infinity;
      if (graph.differentiates) (visible ? shown : hidden).push(i);
    });
    return (dScores, dAll) => {
      for (const i of shown) dAll[i] += dScores[i];
      for (const i of [...shown, ...hidden]) dScores[i] = 0;
    };
  }
}

/**
 * Returns a function from an index (b,h,t,s) to the value of a mask, undefined outside the mask. With a cache, the mask
 * may cover the first tokens of the whole sequence instead of the tokens of the call.
 * @param shape of the scores
 * @param past tokens in the cache; undefined without a cache
 */
function readMask(
  caller: string,
  parameter: string,
  mask: Numbers,
  shape: readonly number[],
  past: number | undefined,
): (index: readonly number[]) => number | undefined {
  if (past === undefined || broadcastStrides([...mask.shape], [...shape]))
    return readOperand(caller, parameter, mask, shape);
  // Each of the last two axes is repeated if its length is 1; otherwise its indices are positions in the sequence.
  const [rows, columns] = [mask.shape.at(-2) ?? 1, mask.shape.at(-1) ?? 1];
  const at = readOperand(caller, parameter, mask, [shape[0], shape[1], rows, columns]);
  return ([batch, head, query, key]) => {
    const [row, column] = [rows === 1 ? 0 : past + query, columns === 1 ? 0 : key];
    return row < rows && column < columns ? at([batch, head, row, column]) : undefined;
  };
}
