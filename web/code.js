// What is shown as a program: the queries, keys and values of one head, the options, and the call.

import { shortest } from './scale.js';

function matrix(name, { data, shape: [, H, N, D] }, batch, head) {
  const from = (batch * H + head) * N * D;
  const rows = Array.from({ length: N }, (_, n) => `  [${Array.from(data.subarray(from + n * D, from + (n + 1) * D), shortest).join(', ')}],`);
  return `const ${name} = [\n${rows.join('\n')}\n];`;
}

/** Options of one batch entry, as source text. */
function written(options, batch) {
  const own = { ...options };
  if (own.validLens) own.validLens = [own.validLens[batch]];
  if (own.keyPadding) own.keyPadding = [own.keyPadding[batch]];
  return Object.entries(own).map(([name, value]) => {
    if (!value.shape) return `${name}: ${JSON.stringify(value)}`;
    const [T, S] = value.shape;
    return `${name}: [${Array.from({ length: T }, (_, t) => `\n    [${value.data.subarray(t * S, (t + 1) * S).join(', ')}]`).join(',')},\n  ]`;
  });
}

/**
 * @param result an answer of the worker
 * @param options those of attention that gave it
 */
export function toProgram(result, options, { batch, head, title }) {
  const { q, k, v } = result.steps;
  return `// ${title.replace(/[\r\n\u2028\u2029]+/g, ' ')}
// queries: ${JSON.stringify(result.queries)}
// keys: ${JSON.stringify(result.keys)}
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
