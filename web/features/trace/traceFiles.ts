// Writes the files of a trace: a table of its cells, a drawing, and a program that repeats the measurement.

import { field } from '../../drawing/export/csv.ts';
import type { Measure } from '../../drawing/export/svg.ts';
import { editsOf } from '../../model/forwardEdits.ts';
import type { About } from '../../model/protocol/protocol.ts';
import type { Run, State } from '../../model/state.ts';
import { partnersOf } from '../../model/trace/alignWords.ts';
import { ROWS, type Trace } from '../../model/trace/places.ts';
import { shortest } from '../../ui/oklab.ts';
import type { Theme } from '../../ui/palette.ts';
import { inputOf, listed, literal, placeOfModel } from '../export/modelProgram.ts';
import { cellAt } from './shares.ts';
import { drawTrace } from './traceFigure.ts';
import type { Texts } from './traceState.ts';
/** measure: returns the width of a text in the page. */
export type Shown = { state: State; about: About | null; own: Texts; theme: Theme; measure?: Measure };

export function fileOf(kind: 'csv' | 'svg' | 'mjs', trace: Trace, shown: Shown): string {
  if (kind === 'csv') return traceCsv(trace, shown.state.trace.by);
  if (kind === 'svg') return drawTrace(trace, shown);
  return traceProgram(trace, shown.state, shown.about as About);
}

/** Returns one line for each place that has been measured. `by`: the measure. */
export function traceCsv(trace: Trace, by: string) {
  const { answers, layers, heads, lower } = trace;
  const parts = ([...ROWS, 'head'] as const).filter((part) => part in trace.cells);
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

/** Returns the program's lines for the measure. `at`: the prediction in both sentences from the end, −1 is the last. */
function measureLines(by: 'score' | 'probability' | 'log', [a, b]: [number[], number[]], at: number) {
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

/** Returns a program that repeats the measurement with the model itself. It contains no number of the result. */
export function traceProgram(trace: Trace, state: State, about: About) {
  const { answers, columns, first, ids, lower, places, upper } = trace;
  const pinned = state.pinned as Run;
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

/** Returns lines that define the model with the changes of both runs. */
const changedModel = ([upper, lower]: object[][]) => [
  listed('upperEdit', upper),
  listed('lowerEdit', lower),
  'const changed = {',
  '  options: model.options,',
  '  forward: (text, { edit = [], ...more }) =>',
  '    model.forward(text, { ...more, edit: [...(text === upper ? upperEdit : lowerEdit), ...edit] }),',
  '};',
];
