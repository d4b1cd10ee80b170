// All heads side by side, and what each does in numbers.

import { meanOver, rankHeads, STATISTICS } from '../model/stats.js';
import { drawThumbnail } from './heatmap.js';
import { cellOf, fillTable } from './table.js';

/** How large a head is drawn, in CSS pixels: smaller where there are many. */
export const sizeFor = (heads) => (heads <= 16 ? 104 : 60);

export function createHeads({ $, root, store, update, redraw }) {
  /** @type {{ key: string | null, descending: boolean }} */
  let order = { key: null, descending: true };

  /** One head alone, or all of them again. */
  function solo(head) {
    const { state } = store.get();
    const others = Array.from({ length: state.heads }, (_, h) => h).filter((h) => h !== head);
    update({ head, off: String(state.off) === String(others) ? [] : others });
  }

  function drawGrid({ state, shown, scale, colours, nameOf }) {
    const [, H, T, S] = shown.problem.shape;
    const grid = $('grid');
    while (grid.children.length > H) grid.lastChild.remove();
    while (grid.children.length < H) {
      const button = document.createElement('button');
      button.type = 'button';
      const canvas = document.createElement('canvas');
      canvas.setAttribute('aria-hidden', 'true');
      button.append(canvas, document.createElement('span'));
      const head = grid.children.length;
      button.onclick = () => update({ head });
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
      button.lastChild.textContent = H > 16 ? String(head + 1) : nameOf(head);
      drawThumbnail(
        button.firstChild,
        { rows, columns, values: values[head] },
        { marked, T, S, scale, size: sizeFor(H), colours },
      );
    });
  }

  function drawStatistics({ strings, shown: { statistics }, nameOf }) {
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
        redraw();
      };
      const cell = cellOf('th', button, 'col');
      if (order.key === key) cell.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending');
      return cell;
    });
    const focused = [...$('statistics').querySelectorAll('button')].indexOf(root.activeElement);
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
          cellOf('th', nameOf(head), 'row'),
          ...STATISTICS.map(({ key }) => written(statistics[head][key])),
        ]),
        [cellOf('th', strings.meanOfHeads, 'row'), ...STATISTICS.map(({ key }) => written(meanOver(statistics, key)))],
      ],
    );
    if (focused >= 0) $('statistics').querySelectorAll('button')[focused].focus();
  }

  return {
    clear: (empty) => empty && $('grid').replaceChildren(),
    draw(scene) {
      drawGrid(scene);
      if ($('statistics-box').open && scene.shown.statistics) drawStatistics(scene);
    },
  };
}
