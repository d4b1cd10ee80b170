// Runs a model on frames of sound. The attention weights of all layers together may not fit into memory, so the shown
// rows and columns of each layer's weights are copied while that layer is computed. If these weights are still too
// many, only those of the chosen layer are kept, and the heads of all layers are kept as small pictures.

import type { Edit } from '../../../src/js/models/edits.ts';
import type { ModelInput } from '../../../src/js/models/input.ts';
import { stackAt } from '../../model/forwardEdits.ts';
import type { PooledHead } from '../../model/protocol/protocol.ts';
import { capturesFor, forward, type Values } from '../run/runModel.ts';
import { optionsOf } from '../run/scoreSteps.ts';
import { MAX_WEIGHTS, POOLED, pooled } from '../sources/showWeights.ts';
import type { Hl, Numbers, TransformerSource } from '../sources/types.ts';

/** `tokens`: the number of tokens of the decoder. */
export function runFrames(
  hl: Hl,
  source: TransformerSource,
  input: ModelInput,
  edits: Edit[],
  { part, layer, tokens }: { part: string; layer: number; tokens: number },
  { shown }: { shown: number },
): Values {
  const captures = capturesFor(source, part, layer);
  const { layers, numHeads, encoder } = optionsOf(source.model, part);
  if (part === 'decoder' && encoder) return forward(hl, source, input, edits, captures);
  const [T, S] = [part === 'cross' ? tokens : shown, shown];
  const all = `${stackAt(part, '*')}weights` as Edit['at'];
  const at = stackAt(part, layer);
  const isLarge = layers * numHeads * T * S > MAX_WEIGHTS;
  const read: Record<string, Numbers> = {};
  const pictures: PooledHead[] = [];
  let reached = 0;
  const readWeights = (value: Numbers, name: string) => {
    const l = reached++;
    const first = firstOf(value, T, S);
    if (!isLarge || l === layer) read[name] = first;
    if (l === layer) read[`${at}unseen`] = restOf(value, T, S, (weight) => weight);
    if (isLarge) pictures.push(...picturesOf(first, l));
  };
  const values = forward(
    hl,
    source,
    input,
    [...edits, { at: all, change: readWeights }],
    captures.filter((name) => name !== all),
  );
  const scores = values.captured[`${at}scores`];
  const { captured } = values;
  for (const name of ['query', 'key', 'value'])
    captured[at + name] = rowsOf(captured[at + name], name === 'query' ? T : S);
  Object.assign(captured, read, {
    [`${at}scores`]: firstOf(scores, T, S),
    [`${at}rest`]: restOf(scores, T, S, Math.exp),
  });
  return { ...values, ...(isLarge && { pictures }) };
}

/** Returns small pictures of a layer's heads. The weights are (1,H,T,S). */
function picturesOf({ data, shape: [, heads, T, S] }: Numbers, layer: number) {
  return Array.from({ length: heads }, (_, head) => ({
    layer,
    head,
    ...pooled(data.subarray(head * T * S, (head + 1) * T * S), T, S, POOLED),
  }));
}

/** Copies the first rows of each head of (1,H,N,D). */
function rowsOf({ data, shape: [, heads, N, D] }: Numbers, count: number): Numbers {
  const first = new Float32Array(heads * count * D);
  for (let h = 0; h < heads; h++) first.set(data.subarray(h * N * D, (h * N + count) * D), h * count * D);
  return { data: first, shape: [1, heads, count, D] };
}

/** Copies T rows and S columns of each head of (1,H,N,M). */
function firstOf({ data, shape: [, heads, N, M] }: Numbers, T: number, S: number): Numbers {
  const first = new Float32Array(heads * T * S);
  for (let h = 0; h < heads; h++)
    for (let t = 0; t < T; t++) {
      const from = (h * N + t) * M;
      first.set(data.subarray(from, from + S), (h * T + t) * S);
    }
  return { data: first, shape: [1, heads, T, S] };
}

/** Sums, for each shown row of (1,H,N,M), a function of the numbers over column S and all later, hidden columns. */
function restOf({ data, shape: [, heads, N, M] }: Numbers, T: number, S: number, each: (x: number) => number): Numbers {
  const sums = new Float32Array(heads * T);
  for (let h = 0; h < heads; h++)
    for (let t = 0; t < T; t++) {
      let sum = 0;
      for (let s = S; s < M; s++) sum += each(data[(h * N + t) * M + s]);
      sums[h * T + t] = sum;
    }
  return { data: sums, shape: [1, heads, T] };
}
