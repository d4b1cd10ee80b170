// Writes a program that repeats the run. The program opens the model, runs it on the text with the same changes, and
// prints the weights of the head and the next token. It contains no numbers of the run.

import { editsOf, patchedHeads } from '../../model/forwardEdits.ts';
import type { About } from '../../model/protocol/protocol.ts';
import { isOfHub, type State } from '../../model/state.ts';
import { tokenPlaces } from '../../model/trace/places.ts';

/** Models that the package includes, with their names in the package. */
const INCLUDED: Record<string, string> = { whale: 'demo' };

/** Returns the name or file from which a program opens a model. `source`: file of the model. */
export const placeOfModel = (model: string, source: string) =>
  INCLUDED[model] ?? (isOfHub(model) ? `hf://${model}` : `./${source}`);

const same = (tokens: number) => Array.from({ length: tokens }, (_, t) => t);

/** Returns true if a program can run the model: it must read only text or only numbers. */
export const isRunnable = ({ kind, reads, parts }: About) =>
  kind === 'transformer' && (reads === 'text' || reads === 'numbers') && parts.length === 0;

export const literal = (value: any): string => {
  if (typeof value === 'string')
    return `'${value.replace(/[\\'\n\r\u2028\u2029]/g, (sign) => ESCAPED[sign] ?? `\\${sign}`)}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (value?.data && value.shape) return literal(rowsOf(value));
  if (value && typeof value === 'object')
    return `{ ${Object.entries(value)
      .map(([name, one]) => `${name}: ${literal(one)}`)
      .join(', ')} }`;
  return String(value);
};
const ESCAPED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\u2028': '\\u2028', '\u2029': '\\u2029' };

const rowsOf = ({ data, shape: [rows, columns] }: { data: ArrayLike<number>; shape: number[] }) =>
  Array.from({ length: rows }, (_, t) => Array.from({ length: columns }, (__, s) => data[t * columns + s]));

export const listed = (name: string, edits: object[]) =>
  edits.length === 0
    ? `const ${name} = [];`
    : `const ${name} = [\n${edits.map((e) => `  ${literal(e)},\n`).join('')}];`;

/** Returns the input of the model: a text, or token ids. */
export const inputOf = ({ reads }: Pick<About, 'reads'>, text: string) =>
  reads === 'numbers' ? `[${(text.match(/\d+/g) ?? []).join(', ')}]` : literal(text);

/** Returns lines that patch outputs of heads from the pinned run. `partners`: each token's token in the pinned run. */
function patchLines(state: State, about: About, tokens: number, partners: number[]) {
  const { pinned } = state;
  const heads = patchedHeads(state, about);
  const places = tokenPlaces(state.patch).filter(({ layer, place }) => layer < about.layers && partners[place] >= 0);
  if (!pinned || (heads.every((list) => list.length === 0) && places.length === 0)) return [];
  const names = [
    ...heads.flatMap((list, layer) => (list.length > 0 ? [`blocks.${layer}.heads`] : [])),
    ...places.map(({ part, layer }) => `blocks.${layer}.${part === 'stream' ? 'in' : part}`),
  ];
  return [
    '',
    '// These values are replaced by those in the pinned run.',
    listed('pinnedEdit', editsOf(pinned, { ...about, tokens })),
    `const pinned = model.forward(${inputOf(about, pinned.text)}, { edit: pinnedEdit, capture: ${literal(names)} });`,
    ...heads.flatMap((list, layer) =>
      list.flatMap((head) => {
        const at = `blocks.${layer}.heads`;
        const output = `pinned.captured[${literal(at)}].toArray()[0][${head}]`;
        return partners.every((s, t) => s === t)
          ? [`edit.unshift({ at: ${literal(at)}, head: ${head}, set: ${output} });`]
          : [
              `${literal(partners)}.forEach((s, token) => {`,
              `  if (s >= 0) edit.unshift({ at: ${literal(at)}, head: ${head}, token, set: ${output}[s] });`,
              '});',
            ];
      }),
    ),
    ...places.map(({ part, layer, place }) => {
      const at = `blocks.${layer}.${part === 'stream' ? 'in' : part}`;
      const rows = `pinned.captured[${literal(at)}].toArray()[0]`;
      const set =
        part === 'heads' ? `${rows}.map((head) => [head[${partners[place]}]])` : `${rows}[${partners[place]}]`;
      return `edit.unshift({ at: ${literal(at)}, token: ${place}, set: ${set} });`;
    }),
  ];
}

/** The model families with two towers, of which the page shows the text tower. */
const OF_TEXT = /^(clip|siglip)_text$/;

/** tokens: number of them; source: name of the file that was opened; partners: each token's token in the pinned run. */
export function runAgain(
  state: State,
  {
    about,
    tokens,
    title,
    source,
    partners,
  }: { about: About; tokens: number; title: string; source: string; partners?: number[] },
) {
  const { layer, head } = state;
  const weights = `blocks.${layer}.weights`;
  const place = placeOfModel(state.model, source);
  const opening = OF_TEXT.test(about.family ?? '') ? `, { tower: 'text' }` : '';
  return `// ${`${title}, as the page shows it`.replace(/[\r\n\u2028\u2029]+/g, ' ')}
import { load } from 'headlight-attention';

const hl = await load();
const model = await hl.openModel(${literal(place)}${opening});
const text = ${inputOf(about, state.text)};
${listed('edit', editsOf(state, { ...about, tokens }))}
${[...patchLines(state, about, tokens, partners ?? same(tokens)), ''].join('\n')}
const { logits, captured } = model.forward(text, { edit, capture: [${literal(weights)}] });
console.log(captured[${literal(weights)}].toArray()[0][${head}]);
${
  about.predicts
    ? `
// The guess, and its probability.
const scores = Array.from(logits.data).slice(-logits.shape.at(-1));
const best = scores.indexOf(scores.reduce((a, b) => Math.max(a, b)));
const total = scores.reduce((sum, score) => sum + Math.exp(score - scores[best]), 0);
console.log(${about.reads === 'numbers' ? 'best' : 'model.tokenizer.decode([best])'}, 1 / total);
`
    : ''
}`.replace(/\n{3,}/g, '\n\n');
}
