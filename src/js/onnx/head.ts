// Builds the output head of a transformer: logits, pooled output, and heads on the pooled output.

import { attentionPool } from './attentionPool.ts';
import { activate, softcap, times, type Value } from './operators.ts';

import type { Stack } from './stack.ts';

export type Results = { logits?: Value; pooled?: Value; relationship?: Value };

/**
 * @param hidden (B,T,C)
 * @param last true if only the logits of the last token are computed
 */
export function head(stack: Stack, hidden: Value, last: boolean): Results {
  const { graph, options } = stack;
  const row = pool(stack, hidden);
  const pooled = row && flat(stack, row);
  const relationship = options.relationship > 0 && row ? flat(stack, stack.linear('relationship', row)) : undefined;
  if (options.head === 'none') return { pooled, relationship };
  if (options.head === 'pooled') {
    const own = stack.linear('head', beforeHead(stack, row as Value));
    if (!options.taught) return { pooled, relationship, logits: flat(stack, own) };
    const taught = stack.linear('taught', rowOf(stack, hidden, 1));
    return { pooled, relationship, logits: flat(stack, times(graph, graph.op('Add', [own, taught]), 1 / 2)) };
  }
  const { tied, logitSoftcap } = options;
  const rows = last ? graph.op('Slice', [hidden, graph.ints(-1), graph.ints(2 ** 31 - 1), graph.ints(1)]) : hidden;
  const x = times(graph, beforeHead(stack, rows), options.logitScale);
  const logits = stack.linear(tied ? 'embedding.table' : 'head.weight', x, 'head.bias');
  return { pooled, relationship, logits: logitSoftcap > 0 ? softcap(graph, logits, logitSoftcap) : logits };
}

/** Applies the layers between the final norm and the head. */
function beforeHead(stack: Stack, x: Value) {
  const { headTransform, headActivation } = stack.options;
  if (headTransform !== 'none')
    return stack.norm('head.norm', activate(stack.graph, stack.linear('head.dense', x), headActivation));
  return stack.weight('head.project.weight') ? stack.linear('head.project', x) : x;
}

// onnxruntime transforms products of (B,C) with int8 weights to a graph that it then rejects. So pooled rows stay
// (B,1,C) until the end.

/** Returns one row of every sequence, (B,1,C). */
const rowOf = ({ graph }: Stack, hidden: Value, which: number) =>
  graph.op('Gather', [hidden, graph.ints(which)], { axis: 1 });

/** Removes the token axis of a row (B,1,C). */
const flat = ({ graph }: Stack, row: Value) => graph.op('Squeeze', [row, graph.ints(1)]);

/** Returns the pooled row, (B,1,C). */
function pool(stack: Stack, hidden: Value) {
  const { graph } = stack;
  const { pool: where, pooler } = stack.options;
  if (where === 'none') return undefined;
  const x =
    where === 'mean'
      ? meanOf(stack, hidden, keptOf(stack))
      : where === 'first-mean'
        ? firstAndMean(stack, hidden)
        : where === 'end' && stack.inputs.ids
          ? graph.op('Unsqueeze', [graph.op('GatherND', [hidden, endOf(stack)], { batch_dims: 1 }), graph.ints(1)])
          : where === 'last'
            ? lastOf(stack, hidden)
            : where === 'attention'
              ? attentionPool(stack, hidden, keptOf(stack))
              : rowOf(stack, hidden, where === 'last-row' ? -1 : 0);
  if (pooler === 'none') return x;
  const y = stack.linear('pooler', x);
  return pooler === 'linear' || pooler === 'affine' ? y : activate(graph, y, pooler);
}

/** Returns the row of the last real token, (B,1,C). */
function lastOf(stack: Stack, hidden: Value) {
  const { graph } = stack;
  const keep = keptOf(stack) ?? keptByLabel(stack);
  if (!keep) return rowOf(stack, hidden, -1);
  const last = graph.op('ArgMax', [graph.cast(keep, 'int32')], { axis: 1, keepdims: 1, select_last_index: 1 });
  return graph.op('Unsqueeze', [graph.op('GatherND', [hidden, last], { batch_dims: 1 }), graph.ints(1)]);
}

/** Returns the mask of real tokens without the past, (B,T), or undefined if there is no input keep. */
function keptOf({ graph, inputs: { keep }, past, keys }: Stack) {
  return keep && past ? graph.op('Slice', [keep, past, keys, graph.ints(1)]) : keep;
}

/** Returns the mask of tokens other than poolSkip, for models without the input keep. */
function keptByLabel({ graph, inputs: { ids }, options: { poolSkip } }: Stack) {
  if (poolSkip === undefined || !ids) return undefined;
  return graph.op('Not', [graph.op('Equal', [ids, graph.int(poolSkip)])]);
}

/** Returns the first row, concatenated with the mean of the other rows, (B,1,2·C). */
function firstAndMean(stack: Stack, hidden: Value) {
  const { graph } = stack;
  const others = (x: Value) => graph.op('Slice', [x, graph.ints(1), graph.ints(2 ** 31 - 1), graph.ints(1)]);
  const keep = keptOf(stack);
  const mean = meanOf(stack, others(hidden), keep && others(keep));
  return graph.op('Concat', [rowOf(stack, hidden, 0), mean], { axis: 2 });
}

/** Returns the mean of the rows of real tokens, (B,1,C). */
function meanOf({ graph }: Stack, hidden: Value, keep: Value | undefined) {
  if (!keep) return graph.reduce('ReduceMean', hidden, [1]);
  const real = graph.op('Unsqueeze', [graph.cast(keep, 'float'), graph.ints(2)]);
  const sum = graph.reduce('ReduceSum', graph.op('Mul', [hidden, real]), [1]);
  return graph.op('Div', [sum, graph.op('Max', [graph.reduce('ReduceSum', real, [1]), graph.float(1)])]);
}

/** Returns the position of the first end token, or of the largest id if the model has no end token, (B,1). */
function endOf({ graph, inputs, options: { endToken } }: Stack) {
  const ids = inputs.ids as Value;
  const found = endToken === undefined ? ids : graph.op('Equal', [ids, graph.int(endToken)]);
  return graph.op('ArgMax', [graph.cast(found, 'int32')], { axis: 1, keepdims: 1 });
}
