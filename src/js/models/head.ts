// The head of a transformer: from hidden states to pooled values and logits.

import { indexOfLargest } from '../check/extremes.ts';
import type { Tensor } from '../memory/tensor.ts';
import { ROWS } from './edits.ts';
import { rarePart } from './rareParts.ts';
import { joinColumns, meanRows, pickRows, sliceRows } from './rowOperations.ts';
import type { Run } from './run.ts';

/**
 * hidden: (B,T,C); selected: (B,N,C), the last N tokens, whose logits are computed. Returns logits (B,N,V) or, pooled,
 * (B,classes); pooled (B,C); relationship (B,2).
 */
export function computeHead(
  run: Run,
  hidden: Tensor,
  selected: Tensor,
): { logits?: Tensor; pooled?: Tensor; relationship?: Tensor } {
  const { options, graph } = run;
  const pooled = poolTokens(run, hidden);
  const relationship = options.relationship > 0 && pooled ? run.linear('relationship', pooled) : undefined;
  if (options.head === 'none') return { pooled, relationship };
  if (options.head === 'pooled') {
    const own = run.linear('head', transform(run, pooled as Tensor));
    const logits = options.taught ? graph.scale(graph.add(own, distilledLogits(run, hidden)), 1 / 2) : own;
    return { pooled, relationship, logits: run.pass('logits', logits, {}) };
  }
  const x = graph.scale(transform(run, selected), options.logitScale);
  const weight = run.requiredWeight(options.tied ? 'embedding.table' : 'head.weight');
  let logits = graph.linear(x, weight, run.weight('head.bias'));
  if (options.logitSoftcap > 0) logits = graph.softcap(logits, options.logitSoftcap);
  return { logits: run.pass('logits', logits, ROWS, run.past + run.rows - x.shape[1]), pooled, relationship };
}

/** Applies the layers of the head before the last linear layer. x: (…,C). */
function transform(run: Run, x: Tensor) {
  const { headTransform, headActivation } = run.options;
  if (headTransform !== 'none')
    return run.norm('head.norm', run.graph.activation(run.linear('head.dense', x), headActivation));
  return run.weight('head.project.weight') ? run.linear('head.project', x) : x;
}

/** Returns the logits (B,classes) of the second token. hidden: (B,T,C). */
const distilledLogits = (run: Run, hidden: Tensor) =>
  run.linear('taught', pickRows(run.graph, hidden, new Array(run.batch).fill(1)));

/** Returns the mean (B,C) of all tokens but the first. hidden: (B,T,C). */
function meanOfOthers({ graph, input, rows }: Run, hidden: Tensor) {
  const keep = input.keep?.filter((_, i) => i % rows > 0);
  return meanRows(graph, sliceRows(graph, hidden, 1, rows - 1), keep);
}

/** Returns the pooled hidden states: (B,C), (B,2·C), or (B,poolDim) with a pooler. hidden: (B,T,C). */
function poolTokens(run: Run, hidden: Tensor) {
  const { graph } = run;
  const { pool, pooler } = run.options;
  if (pool === 'none') return undefined;
  const x = poolRows(run, hidden);
  if (pooler === 'none') return run.pass('pooled', x, {});
  const y = run.linear('pooler', x);
  return run.pass('pooled', pooler === 'linear' || pooler === 'affine' ? y : graph.activation(y, pooler), {});
}

/** Returns the pooled hidden states before the pooler. hidden: (B,T,C). */
function poolRows(run: Run, hidden: Tensor) {
  const { graph, input } = run;
  const { pool } = run.options;
  if (pool === 'mean') return meanRows(graph, hidden, input.keep);
  if (pool === 'attention') return rarePart('attentionPool', run.caller).poolByAttention(run, hidden);
  const token = pickRows(graph, hidden, pooledTokens(run));
  return pool === 'first-mean' ? joinColumns(graph, token, meanOfOthers(run, hidden)) : token;
}

/** Returns the index of the pooled token in each sequence, (B). */
function pooledTokens({ options, input, batch, rows }: Run) {
  const { pool, endToken, poolSkip } = options;
  const { labels, keep } = input;
  const real = keep ?? (poolSkip === undefined ? undefined : labels?.map((label) => Number(label !== poolSkip)));
  return Array.from({ length: batch }, (_, b) => {
    const [from, to] = [b * rows, (b + 1) * rows];
    if (pool === 'last-row') return rows - 1;
    if (pool === 'last') return ((real?.subarray(from, to).lastIndexOf(1) ?? -1) + rows) % rows;
    if (pool !== 'end' || !labels) return 0;
    const row = labels.subarray(from, to);
    return endToken === undefined ? indexOfLargest(row) : Math.max(row.indexOf(endToken), 0);
  });
}
