// What is said of the cell being read: a line, a live sentence, the steps behind it, and the table of numbers.

import { formatNumber, formatWeight, withMinus } from '../model/scale.js';
import { createPipeline } from './pipeline.js';
import { cellOf, fillTable } from './table.js';

function tokenElement(text, kind) {
  const span = document.createElement('span');
  span.className = `token ${kind}`;
  span.textContent = text;
  return span;
}

export function createReading({ $, root }) {
  const pipeline = createPipeline($('steps'), { format: formatNumber });

  /** What is said of a cell beside its weight. */
  function moreOf(cell, strings) {
    if (cell.seen === 0) return strings.reading.blind;
    if (cell.hidden) return strings.reading.hidden;
    if (!Number.isFinite(cell.weight)) return strings.reading.notFinite;
    const score = Number.isFinite(cell.masked) ? withMinus(cell.masked.toFixed(3)) : formatNumber(cell.masked);
    return strings.reading.more(score, cell.rank, cell.seen, cell.total.toFixed(3));
  }

  function sentenceOf({ query, key }, cell, strings) {
    if (cell.hidden) return strings.reading.hiddenSentence(query, key);
    if (!Number.isFinite(cell.weight)) return strings.reading.notFiniteSentence(query, key);
    return strings.reading.sentence(query, key, formatWeight(cell.weight), cell.rank, cell.seen);
  }

  function drawLine({ query, key }, cell, { strings, state }) {
    const weight = document.createElement('strong');
    weight.textContent = formatWeight(cell.weight);
    weight.id = 'weight';
    weight.dataset.value = String(cell.weight);
    const more = document.createElement('small');
    more.textContent = moreOf(cell, strings) + (state.locked ? ` · ${strings.unlock}` : '');
    $('reading').replaceChildren(
      tokenElement(query, 'q'),
      ` ${strings.reading.arrow} `,
      tokenElement(key, 'k'),
      ' ',
      weight,
      more,
    );
    if (root.activeElement === $('large')) $('announce').textContent = sentenceOf({ query, key }, cell, strings);
  }

  function drawTable({ strings, shown, state, nameOf }) {
    const { problem } = shown;
    const { rows, columns, values, region } = shown.table;
    const [first, second] = [region.queries.from, region.keys.from];
    const left =
      problem.queries.length > rows || problem.keys.length > columns ? ` ${strings.tablePart(rows, columns)}` : '';
    fillTable(
      $('table'),
      strings.table(nameOf(state.head)) + left,
      [cellOf('td', ''), ...problem.keys.slice(second, second + columns).map((key) => cellOf('th', key, 'col'))],
      Array.from({ length: rows }, (_, t) => [
        cellOf('th', problem.queries[first + t], 'row'),
        ...Array.from(values.subarray(t * columns, (t + 1) * columns), (w) => cellOf('td', formatWeight(w))),
      ]),
    );
  }

  return {
    draw(scene) {
      const { shown, state, strings, theme, colours, room } = scene;
      const { queries, keys } = shown.problem;
      const tokens = state.cell && { query: queries[state.cell.query], key: keys[state.cell.key] };
      if (tokens && shown.cell && tokens.query !== undefined && tokens.key !== undefined) {
        drawLine(tokens, shown.cell, scene);
        pipeline(
          { ...shown.cell, index: state.cell.key },
          { strings: strings.pipeline, tokens, theme, colours, width: room },
        );
      } else {
        $('reading').textContent = strings.reading.none;
        $('announce').textContent = '';
      }
      if ($('table-box').open && shown.table) drawTable(scene);
    },
  };
}
