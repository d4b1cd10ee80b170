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

export function createReading(page) {
  const { $ } = page;
  const pipeline = createPipeline($('steps'), { format: formatNumber });

  function drawLine({ query, key }, cell) {
    const { strings, state } = page;
    const weight = document.createElement('strong');
    weight.textContent = formatWeight(cell.weight);
    weight.id = 'weight';
    weight.dataset.value = String(cell.weight);
    const more = document.createElement('small');
    if (cell.seen === 0) more.textContent = strings.reading.blind;
    else
      more.textContent = cell.hidden
        ? strings.reading.hidden
        : strings.reading.more(withMinus(cell.masked.toFixed(3)), cell.rank, cell.seen, cell.total.toFixed(3));
    if (state.locked) more.textContent += ` · ${strings.unlock}`;
    $('reading').replaceChildren(
      tokenElement(query, 'q'),
      ` ${strings.reading.arrow} `,
      tokenElement(key, 'k'),
      ' ',
      weight,
      more,
    );
    if (page.root.activeElement !== $('large')) return;
    $('announce').textContent = cell.hidden
      ? strings.reading.hiddenSentence(query, key)
      : strings.reading.sentence(query, key, formatWeight(cell.weight), cell.rank, cell.seen);
  }

  function drawTable() {
    const {
      strings,
      shown: {
        table: { rows, columns, values, region },
        problem,
      },
      state,
    } = page;
    const [first, second] = [region.queries.from, region.keys.from];
    const left =
      problem.queries.length > rows || problem.keys.length > columns ? ` ${strings.tablePart(rows, columns)}` : '';
    fillTable(
      $('table'),
      strings.table(page.headName(state.head)) + left,
      [cellOf('td', ''), ...problem.keys.slice(second, second + columns).map((key) => cellOf('th', key, 'col'))],
      Array.from({ length: rows }, (_, t) => [
        cellOf('th', problem.queries[first + t], 'row'),
        ...Array.from(values.subarray(t * columns, (t + 1) * columns), (w) => cellOf('td', formatWeight(w))),
      ]),
    );
  }

  return {
    draw(colours) {
      const { shown, state, strings } = page;
      const { queries, keys } = shown.problem;
      const tokens = state.cell && { query: queries[state.cell.query], key: keys[state.cell.key] };
      if (tokens && shown.cell && tokens.query !== undefined && tokens.key !== undefined) {
        drawLine(tokens, shown.cell);
        pipeline(
          { ...shown.cell, index: state.cell.key },
          { strings: strings.pipeline, tokens, theme: page.theme(), colours, width: page.room },
        );
      } else {
        $('reading').textContent = strings.reading.none;
        $('announce').textContent = '';
      }
      if ($('table-box').open && shown.table) drawTable();
    },
  };
}
