// Writes the files of a trace: a table of its cells, a drawing, and a program that repeats the measurement.

import { shortest } from '../../ui/oklab.js';
import { field } from '../export/csv.js';
import { inputOf, listed, literal, placeOfModel } from '../export/modelProgram.js';
import { editsOf } from '../whatif/forwardEdits.js';
import { partnersOf } from './alignWords.js';
import { ROWS } from './places.js';
import { cellAt } from './shares.js';
import { drawTrace } from './traceFigure.js';

/** @import { About } from '../../store/protocol.js' */
/** @import { State } from '../../store/state.js' */
/** @import { Theme } from '../../ui/palette.js' */
/** @import { Trace } from './places.js' */
/**
 * measure: returns the width of a text in the page.
 * @typedef {{ state: State, about: About | null, own: import('./traceState.js').Texts, theme: Theme,
 *   measure?: import('../export/svg.js').Measure }} Shown
 */

/** @param {'csv' | 'svg' | 'mjs'} kind @param {Trace} trace @param {Shown} shown @returns {string} */
export function fileOf(kind, trace, shown) {
  if (kind === 'csv') return traceCsv(trace, shown.state.trace.by);
  if (kind === 'svg') return drawTrace(trace, shown);
  return traceProgram(trace, shown.state, /** @type {About} */ (shown.about));
}

/**
 * Returns one line for each place that has been measured.
 * @param {Trace} trace @param {string} by name of the measure
 */
export function traceCsv(trace, by) {
  const { answers, layers, heads, lower } = trace;
  const parts = /** @type {const} */ ([...ROWS, 'head']).filter((part) => part in trace.cells);
  const titles = ['part', 'layer', 'token', 'word', 'head', 'share', by, ...answers.map((word) => `p(${word})`)];
  const rows = parts.flatMap((part) =>
    Array.from({ length: layers * (part === 'head' ? heads : lower.pieces.length) }, (_, i) => {
      const count = part === 'head' ? heads : lower.pieces.length;
      const [layer, place] = [Math.floor(i / count), i % count];
      const cell = cellAt(trace, { part, layer, place });
      if (!cell) return [];
      const at = part === 'head' ? ['', '', place] : [place, field(lower.pieces[place].name), ''];
      return [[part, layer, ...at, ...[cell.share, cell.value, cell.a, cell.b].map((x) => shortest(Math.fround(x)))]];
    }).flat(),
  );
  return [titles.map(field), ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/**
 * Returns the lines of the program that compute the measure.
 * @param {'score' | 'probability' | 'log'} by @param {[number[], number[]]} ids
 * @param {number} at position of the prediction in both sentences, from the end: −1 is the last
 */
function measureLines(by, [a, b], at) {
  const sum = 'const sum = (row, ids) => ids.reduce((total, id) => total + Math.exp(row[id]), 0);';
  const end = at === -1 ? '' : `, ${at + 1} * logits.shape.at(-1)`;
  const row = `const rowOf = ({ logits }) => Array.from(logits.data).slice(${at} * logits.shape.at(-1)${end});`;
  if (by === 'score' && a.length === 1 && b.length === 1)
    return [`const metric = logitDifference(${a[0]}, ${b[0]}${at === -1 ? '' : `, ${at}`});`];
  const of = {
    score: `Math.log(sum(row, ${literal(a)}) / sum(row, ${literal(b)}))`,
    probability: `sum(row, ${literal(a)}) / sum(row, [...row.keys()])`,
    log: `Math.log(sum(row, ${literal(a)}) / sum(row, [...row.keys()]))`,
  }[by];
  return [sum, row, `const metric = (result) => ((row) => ${of})(rowOf(result));`];
}

/**
 * Returns a program that repeats the measurement with the model itself. It contains no number of the result.
 * @param {Trace} trace @param {State} state @param {About} about
 */
export function traceProgram(trace, state, about) {
  const { answers, columns, first, ids, lower, places, upper } = trace;
  const pinned = /** @type {import('../../store/state.js').Run} */ (state.pinned);
  const [from, into] = [upper, lower].map(({ pieces }) => pieces.length);
  const edits = [pinned, state].map((run, i) => editsOf(run, { ...about, tokens: i === 0 ? from : into }));
  const changed = edits.some((list) => list.length > 0);
  const options = from === into ? '' : `, { align: ${literal(partnersOf(columns, first))} }`;
  const comment = `// How much of “${answers[0]}” against “${answers[1]}” returns: layers × tokens, layers × heads.`;
  const names = Object.keys(trace.cells);
  return [
    comment.replace(/[\r\n\u2028\u2029]+/g, ' '),
    `import { load } from 'headlight-attention';`,
    `import { logitDifference, patchGrid } from 'headlight-attention/analysis';`,
    `const model = await (await load()).openModel(${literal(placeOfModel(state.model, about.title ?? state.model))});`,
    `const upper = ${inputOf(about, pinned.text)};`,
    `const lower = ${inputOf(about, state.text)};`,
    ...measureLines(state.trace.by, ids, places[1] - into),
    ...(changed ? changedModel(edits) : []),
    `const { grids } = await patchGrid(${changed ? 'changed' : 'model'}, upper, lower, metric${options});`,
    `for (const part of ${literal(names)}) console.log(part, grids[part].recovered);`,
    '',
  ].join('\n');
}

/** Returns lines that define the model with the changes of both runs. @param {object[][]} edits */
const changedModel = ([upper, lower]) => [
  listed('upperEdit', upper),
  listed('lowerEdit', lower),
  'const changed = {',
  '  options: model.options,',
  '  forward: (text, { edit = [], ...more }) =>',
  '    model.forward(text, { ...more, edit: [...(text === upper ? upperEdit : lowerEdit), ...edit] }),',
  '};',
];
