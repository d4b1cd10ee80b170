// A trace as an SVG drawing: both sentences, the grid, the single heads, and the scale.

import { PALETTE } from '../../ui/palette.js';
import { SIGNED } from '../compare/tokenPairs.js';
import { placeOf, weightAt } from '../heatmap/colourRamp.js';
import { cellAt, figureOf, ROWS, shownShare } from './places.js';
import { layoutOf } from './traceLayout.js';

/** @import { GridPart, GridPlace } from '../../../src/js/analysis/patchGrid.js' */
/** @import { Trace } from './places.js' */
/** @import { Shown } from './traceFiles.js' */

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
/** @param {string} text */
const xml = (text) =>
  text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, '').replace(/[&<>"']/g, (sign) => ENTITIES[sign]);

const [SERIF, SANS] = ['Palatino, Georgia, serif', 'system-ui, sans-serif'];
/** Units of the drawing: margin, names of layers, width of a column and of a head, height of a layer, gap of the blocks. */
const [MARGIN, SIDE, COLUMN, HEAD, LAYER, GAP] = [24, 74, 62, 16, 46, 28];
/** Lines above the grid and below it, and the height of each. */
const [ABOVE, BELOW, LINE] = [5, 4, 22];
const STEPS = 60;

/** @param {Trace} trace @param {Shown} shown */
export function drawTrace(trace, { state, own, theme }) {
  const { columns, first, layers, heads, upper, lower, answers } = trace;
  const parts = /** @type {GridPart[]} */ (ROWS.filter((part) => part in trace.cells));
  const places = columns.slice(first).map(({ from, into }) => (from < 0 ? -1 : into));
  const [width, height] = [places.length * COLUMN, layers * LAYER];
  const headsWidth = heads * HEAD;
  const layout = layoutOf({ layers, places, heads, rows: parts }, { width, height, headsWidth });
  const [left, top] = [MARGIN + SIDE, MARGIN + ABOVE * LINE];
  const total = {
    width: left + width + GAP + Math.max(headsWidth, 180) + MARGIN,
    height: top + height + BELOW * LINE + MARGIN,
  };
  const colours = SIGNED[theme];
  const { bg, ink, ink2 } = PALETTE[theme];
  const text = (/** @type {string} */ words, /** @type {number} */ x, /** @type {number} */ y, more = '', size = 13) =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" fill="${ink2}" ${more}>${xml(words)}</text>`;
  const cellOf = (/** @type {GridPlace} */ place) => {
    const box = layout.boxOf(place);
    const cell = cellAt(trace, place);
    if (!box || !cell) return '';
    const isHead = place.part === 'head';
    const [x, y] = [left + (isHead ? width + GAP : 0) + box.x, top + box.y];
    const share = shownShare(cell.share);
    const figure = figureOf(cell.share, place.part === parts[0]);
    const fill = colours.isLight(share) ? '#1a181e' : '#ffffff';
    return [
      `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${box.width.toFixed(1)}" height="${box.height.toFixed(1)}" fill="${colours.css(share)}"/>`,
      figure && box.height >= 13 && !isHead
        ? `<text x="${(x + box.width / 2).toFixed(1)}" y="${(y + box.height / 2 + 4).toFixed(1)}" font-size="12" text-anchor="middle" fill="${fill}">${figure}</text>`
        : '',
    ].join('');
  };
  const sentence = (
    /** @type {Trace['upper']} */ { pieces },
    /** @type {'from' | 'into'} */ side,
    /** @type {number} */ y,
  ) =>
    columns
      .slice(first)
      .map((column, i) =>
        text(
          pieces[column[side]]?.name ?? '·',
          left + (i + 0.5) * COLUMN,
          y,
          `text-anchor="middle" font-family="${SERIF}"`,
          15,
        ),
      )
      .join('');
  const shared = columns
    .slice(0, first)
    .map(({ into }) => lower.pieces[into])
    .map(({ space, text: word }) => space + word);
  const lines = [
    text(shared.join(''), MARGIN, MARGIN + LINE, `font-family="${SERIF}"`, 15),
    text(own.upper, MARGIN, MARGIN + 2 * LINE),
    sentence(upper, 'from', MARGIN + 2 * LINE),
    text(answers[0], left + width + GAP, MARGIN + 2 * LINE, `font-family="${SERIF}" font-style="italic"`, 15),
    text(own.lower, MARGIN, MARGIN + 3 * LINE),
    sentence(lower, 'into', MARGIN + 3 * LINE),
    text(answers[1], left + width + GAP, MARGIN + 3 * LINE, `font-family="${SERIF}" font-style="italic"`, 15),
    text(own.eachHead, left + width + GAP, MARGIN + 4.5 * LINE),
    ...Array.from({ length: layers }, (_, layer) =>
      text(
        own.layer(layer),
        MARGIN,
        top + (layers - 1 - layer) * LAYER + 15,
        `font-family="${SERIF}" font-style="italic"`,
      ),
    ),
  ];
  const cells = [...parts, /** @type {const} */ ('head')].flatMap((part) =>
    Array.from({ length: layers }, (_, layer) =>
      (part === 'head' ? Array.from({ length: heads }, (__, head) => head) : places.filter((place) => place >= 0)).map(
        (place) => cellOf({ part, layer, place }),
      ),
    ).flat(),
  );
  const [scaleY, scaleWidth] = [top + height + 1.2 * LINE, 210];
  const scale = Array.from({ length: STEPS }, (_, i) => {
    const at = (2 * (i + 0.5)) / STEPS - 1;
    const colour = colours.css(Math.sign(at) * weightAt(Math.abs(at)));
    return `<rect x="${(left + (i * scaleWidth) / STEPS).toFixed(1)}" y="${scaleY}" width="${(scaleWidth / STEPS + 0.3).toFixed(1)}" height="10" fill="${colour}"/>`;
  });
  const marks = [-100, -25, 0, 25, 100].map((mark) =>
    text(
      `${mark}`.replace('-', '−') + (mark === 100 ? '%' : ''),
      left + scaleWidth * (0.5 + 0.5 * Math.sign(mark) * placeOf(Math.abs(mark) / 100)),
      scaleY + 25,
      'text-anchor="middle"',
      12,
    ),
  );
  const about = own.by[state.trace.by](answers[0], answers[1]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${total.width.toFixed(0)}" height="${total.height.toFixed(0)}" font-family="${SANS}">`,
    `<title>${xml(own.title)}</title>`,
    `<rect width="100%" height="100%" fill="${bg}"/>`,
    ...lines,
    ...cells,
    ...scale,
    ...marks,
    text(
      `${own.way(answers[1], answers[0]).join('')} · ${about}`,
      left + scaleWidth + 16,
      scaleY + 10,
      `stroke="none" color="${ink}"`,
    ),
    '</svg>',
  ].join('\n');
}
