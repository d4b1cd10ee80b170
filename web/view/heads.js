// All heads side by side, and what each does in numbers.

import { meanOver, rankHeads, STATISTICS } from '../model/stats.js';
import { drawThumbnail } from './heatmap.js';
import { cellOf, fillTable } from './table.js';

/** How large a head is drawn, in CSS pixels: smaller where there are many. */
export const sizeFor = (heads) => (heads <= 16 ? 104 : 60);

export function createHeads(page) {
  const { $ } = page;
  let order = { key: null, descending: true };

  /** One head alone, or all of them again. */
  function solo(head) {
    const { state } = page;
    const others = Array.from({ length: state.heads }, (_, h) => h).filter((h) => h !== head);
    page.update({ head, off: String(state.off) === String(others) ? [] : others });
  }

  function drawGrid(scale, colours) {
    const { state, shown } = page;
    const [, H, T, S] = shown.problem.shape;
    const grid = $('grid');
    while (grid.children.length > H) grid.lastChild.remove();
    while (grid.children.length < H) {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(document.createElement('canvas'), document.createElement('span'));
      button.firstChild.setAttribute('aria-hidden', 'true');
      const head = grid.children.length;
      button.onclick = () => page.update({ head });
      button.ondblclick = () => solo(head);
      button.onkeydown = (event) => {
        if (event.key !== 'Enter' || !event.shiftKey) return;
        event.preventDefault();
        solo(head);
      };
      grid.append(button);
    }
    grid.classList.toggle('many', H > 16);
    const marked = [...(state.cell ? [state.cell.query] : []), ...state.also];
    const { rows, columns, values } = shown.heads;
    [...grid.children].forEach((button, head) => {
      button.setAttribute('aria-pressed', String(head === state.head));
      button.classList.toggle('off', state.off.includes(head));
      button.lastChild.textContent = H > 16 ? String(head + 1) : page.headName(head);
      drawThumbnail(
        button.firstChild,
        { rows, columns, values: values[head] },
        { marked, T, S, scale, size: sizeFor(H), colours },
      );
    });
  }

  function drawStatistics() {
    const {
      strings,
      shown: { statistics },
    } = page;
    const heads = STATISTICS.map(({ key }) => {
      const { name, formula } = strings.statistics[key];
      const button = Object.assign(document.createElement('button'), {
        type: 'button',
        textContent: name,
        title: formula,
      });
      button.setAttribute('aria-description', formula);
      button.onclick = () => {
        order = { key, descending: order.key === key ? !order.descending : true };
        page.redraw();
      };
      const cell = cellOf('th', button, 'col');
      if (order.key === key) cell.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending');
      return cell;
    });
    const focused = [...$('statistics').querySelectorAll('button')].indexOf(page.root.activeElement);
    const written = (value) =>
      value === null
        ? Object.assign(cellOf('td', '·'), { title: strings.undefinedStatistic })
        : cellOf('td', String(Number(value.toPrecision(3))));
    const sorted = order.key ? rankHeads(statistics, order.key, order.descending) : statistics.map((_, head) => head);
    fillTable(
      $('statistics'),
      strings.ui.statistics,
      [cellOf('th', strings.statisticsHead, 'col'), ...heads],
      [
        ...sorted.map((head) => [
          cellOf('th', page.headName(head), 'row'),
          ...STATISTICS.map(({ key }) => written(statistics[head][key])),
        ]),
        [cellOf('th', strings.meanOfHeads, 'row'), ...STATISTICS.map(({ key }) => written(meanOver(statistics, key)))],
      ],
    );
    if (focused >= 0) $('statistics').querySelectorAll('button')[focused].focus();
  }

  return {
    clear: (empty) => empty && $('grid').replaceChildren(),
    draw(scale, colours) {
      drawGrid(scale, colours);
      if ($('statistics-box').open && page.shown.statistics) drawStatistics();
    },
  };
}
