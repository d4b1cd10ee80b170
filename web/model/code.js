// What is shown as a program: the queries, keys and values of one head, the options, and the call.

import { optionsOf } from './examples.js';
import { shortest } from './scale.js';

/** @import { Options, Tensor, Whole } from './types.js' */

/** @param {string} name @param {Tensor} tensor @param {number} batch @param {number} head */
function matrix(name, { data, shape: [, H, N, D] }, batch, head) {
  const from = (batch * H + head) * N * D;
  const rows = Array.from(
    { length: N },
    (_, n) => `  [${Array.from(data.subarray(from + n * D, from + (n + 1) * D), shortest).join(', ')}],`,
  );
  return `const ${name} = [\n${rows.join('\n')}\n];`;
}

/**
 * Options of one batch entry, as source text.
 * @param {Options} options
 * @param {number} batch
 */
function written(options, batch) {
  return Object.entries(optionsOf(options, batch)).map(([name, value]) => {
    if (typeof value !== 'object' || Array.isArray(value)) return `${name}: ${JSON.stringify(value)}`;
    const [T, S] = value.shape;
    const rows = Array.from({ length: T }, (_, t) => `\n    [${value.data.subarray(t * S, (t + 1) * S).join(', ')}]`);
    return `${name}: [${rows.join(',')},\n  ]`;
  });
}

/**
 * @param {Whole} whole what a solution has of the whole batch
 * @param {Options} options those of attention that gave it
 * @param {{ batch: number, head: number, title: string }} shown
 */
export function toProgram({ queries, keys, q, k, v }, options, { batch, head, title }) {
  return `// ${title.replace(/[\r\n\u2028\u2029]+/g, ' ')}
// queries: ${JSON.stringify(queries)}
// keys: ${JSON.stringify(keys)}
import { load } from 'headlight';

const hl = await load();
${matrix('query', q, batch, head)}
${matrix('key', k, batch, head)}
${matrix('value', v, batch, head)}
const { output, weights } = hl.attention([query], [key], [value], {
  ${[...written(options, batch), 'weights: true'].join(',\n  ')},
});
console.log(weights.toArray()[0][0]);
console.log(output.toArray()[0]);
`;
}
