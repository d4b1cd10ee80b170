// Writes a program that computes the weights of the shown head. It contains the queries, keys and values, the mask, the
// bias of the scores, and the call. The program is in JavaScript with this package, or in Python with PyTorch.

import type { HeadValues } from '../../model/protocol/protocol.ts';
import type { Step } from '../../model/score.ts';
import type { RunWithValues } from '../../model/types.ts';
import { shortest } from '../../ui/oklab.ts';

/** Maximum relative rounding error of a dot product that is summed in another order. */
const ROUNDING = 1e-3;

/** Returns the factor on the dot product of query and key. */
const factorOf = (steps: readonly Step[]) =>
  steps.reduce(
    (x, step) => (step.kind === 'scale' ? x * step.scale : step.kind === 'temperature' ? x / step.by : x),
    1,
  );

export function partsOf({
  values: { width, valueWidth = width, query, key, value, scores, steps, sink },
  T,
  S,
}: {
  values: HeadValues;
  T: number;
  S: number;
}) {
  const scale = factorOf(steps);
  const visible = Uint8Array.from(scores, (score: number) => Number(score !== Number.NEGATIVE_INFINITY));
  // The bias is the part of a score that is not the scaled dot product: distances, soft caps and other biases.
  const added = new Float32Array(T * S);
  let most = 0;
  for (let t = 0; t < T; t++)
    for (let s = 0; s < S; s++) {
      if (!visible[t * S + s]) continue;
      let sum = 0;
      for (let d = 0; d < width; d++) sum += query[t * width + d] * key[s * width + d];
      added[t * S + s] = scores[t * S + s] - sum * scale;
      most = Math.max(most, Math.abs(added[t * S + s]) / (1 + Math.abs(scores[t * S + s])));
    }
  return {
    scale,
    sink: sink ?? null,
    query: { data: query, shape: [T, width] },
    key: { data: key, shape: [S, width] },
    value: { data: value, shape: [S, valueWidth] },
    visible: visible.includes(0) ? { data: visible, shape: [T, S] } : null,
    added: most > ROUNDING ? { data: added, shape: [T, S] } : null,
  };
}

export type Matrix = { data: Float32Array | Uint8Array; shape: number[] };
function rows({ data, shape: [N, D] }: Matrix, indent: string) {
  const row = (n: number) => Array.from(data.subarray(n * D, (n + 1) * D), shortest).join(', ');
  return Array.from({ length: N }, (_, n) => `${indent}[${row(n)}],`).join('\n');
}
/** Returns a text without line breaks, for a comment. */
const line = (text: string) => text.replace(/[\r\n\u2028\u2029]+/g, ' ');

export function inJavaScript(
  run: RunWithValues,
  { title, queries, keys }: { title: string; queries: string[]; keys: string[] },
) {
  const { scale, sink, query, key, value, visible, added } = partsOf(run);
  const matrix = (name: string, m: Matrix) => `const ${name} = [\n${rows(m, '  ')}\n];\n`;
  const inputs = [
    matrix('query', query),
    matrix('key', key),
    matrix('value', value),
    visible ? `// 1 for a visible key.\n${matrix('mask', visible)}` : '',
    added ? `// The bias that the model adds to the scores.\n${matrix('bias', added)}` : '',
  ].join('');
  const joins = sink === null ? '' : `\n  sinks: [${sink}],`;
  return `// ${line(title)}
// queries: ${line(JSON.stringify(queries))}
// keys: ${line(JSON.stringify(keys))}
import { load } from 'headlight-attention';

const hl = await load();
${inputs}const { output, weights } = hl.attention([query], [key], [value], {
  scale: ${scale},${visible ? '\n  mask,' : ''}${added ? '\n  bias,' : ''}${joins}
  weights: true,
});
console.log(weights.toArray()[0][0]);
console.log(output.toArray()[0]);
`;
}

/** Returns the lines that compute the softmax. A sink is one more key without a value. */
const weightsInPython = (sink: number | null) =>
  sink === null
    ? 'weights = scores.softmax(-1).nan_to_num(0)'
    : `sink = torch.full((len(scores), 1), ${sink})\nweights = torch.cat([scores, sink], -1).softmax(-1)[:, :-1]`;

export function inPython(
  run: RunWithValues,
  { title, queries, keys }: { title: string; queries: string[]; keys: string[] },
) {
  const { scale, sink, query, key, value, visible, added } = partsOf(run);
  const matrix = (name: string, m: Matrix) => `${name} = torch.tensor([\n${rows(m, '    ')}\n], dtype=torch.float32)\n`;
  const inputs = [
    matrix('query', query),
    matrix('key', key),
    matrix('value', value),
    visible ? `# 1 for a visible key.\n${matrix('mask', visible)}` : '',
    added ? `# The bias that the model adds to the scores.\n${matrix('bias', added)}` : '',
  ].join('');
  return `# ${line(title)}
# queries: ${line(JSON.stringify(queries))}
# keys: ${line(JSON.stringify(keys))}
import torch

${inputs}scores = query @ key.T * ${scale}${added ? ' + bias' : ''}
${visible ? 'scores = scores.masked_fill(mask == 0, float("-inf"))\n' : ''}${weightsInPython(sink)}
output = weights @ value
print(weights)
print(output)
`;
}
