// Draws a trace as SVG: both sentences, the grid, the single heads, and the colour scale.

import type { GridPart, GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import { fixed, SANS, SERIF, xml } from '../../drawing/export/svg.ts';
import { differenceAt, SIGNED, signedPlace } from '../../drawing/tokenPairs.ts';
import { ROWS, type Trace } from '../../model/trace/places.ts';
import { PALETTE } from '../../ui/palette.ts';
import { cellAt, figureOf, shownShare } from './shares.ts';
import type { Shown } from './traceFiles.ts';
import { layoutOf } from './traceLayout.ts';

const FAMILY = `font-family="${SERIF}"`;
/**
 * In SVG units: margin, width of layers' names, of a column and of a head, height of a layer, gap between the blocks.
 */
const [MARGIN, SIDE, COLUMN, HEAD, LAYER, GAP] = [24, 74, 62, 16, 46, 28];
/** Lines above and below the grid, height of a line; width of the colour scale, and number of its steps. */
const [ABOVE, BELOW, LINE, SCALE, STEPS] = [5, 4, 22, 210, 60];
/** Minimum height of a cell with a number. */
const MIN_FIGURE = 13;
const MARKS = [-100, -25, 0, 25, 100];

function rectangle(x: number, y: number, width: number, height: number, fill: string) {
  const [left, top, across, down] = [x, y, width, height].map((length) => length.toFixed(1));
  return `<rect x="${left}" y="${top}" width="${across}" height="${down}" fill="${fill}"/>`;
}
const textAt = (words: string, x: number, y: number, more: string) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${xml(words)}</text>`;

/** Returns the positions of the two blocks, and the layout of their cells. */
function geometryOf({ cells, columns, first, layers, heads }: Trace) {
  const parts = ROWS.filter((part) => part in cells) as GridPart[];
  const places = columns.slice(first).map(({ from, into }) => (from < 0 ? -1 : into));
  const [width, height, headsWidth] = [places.length * COLUMN, layers * LAYER, heads * HEAD];
  const [left, top] = [MARGIN + SIDE, MARGIN + ABOVE * LINE];
  return {
    parts,
    places,
    left,
    top,
    headsLeft: left + width + GAP,
    bottom: top + height,
    layout: layoutOf({ layers, places, heads, rows: parts }, { width, height, headsWidth }),
    whole: {
      width: left + width + GAP + Math.max(headsWidth, 180) + MARGIN,
      height: top + height + BELOW * LINE + MARGIN,
    },
  };
}
export type Geometry = ReturnType<typeof geometryOf>;

function cellOf(
  trace: Trace,
  { layout, parts, left, top, headsLeft }: Geometry,
  place: GridPlace,
  theme: Shown['theme'],
) {
  const [box, cell] = [layout.boxOf(place), cellAt(trace, place)];
  if (!box || !cell) return '';
  const isHead = place.part === 'head';
  const [x, y] = [(isHead ? headsLeft : left) + box.x, top + box.y];
  const share = shownShare(cell.share);
  const figure = isHead || box.height < MIN_FIGURE ? '' : figureOf(cell.share, place.part === parts[0]);
  const look = `font-size="12" text-anchor="middle" fill="${SIGNED[theme].isLight(share) ? '#1a181e' : '#ffffff'}"`;
  return (
    rectangle(x, y, box.width, box.height, SIGNED[theme].css(share)) +
    (figure && textAt(figure, x + box.width / 2, y + box.height / 2 + 4, look))
  );
}

function cellsOf(trace: Trace, geometry: Geometry, theme: Shown['theme']) {
  const heads = Array.from({ length: trace.heads }, (_, head) => head);
  const tokens = geometry.places.filter((place) => place >= 0);
  return [...geometry.parts, 'head' as const].flatMap((part) =>
    Array.from({ length: trace.layers }, (_, layer) =>
      (part === 'head' ? heads : tokens).map((place) => cellOf(trace, geometry, { part, layer, place }, theme)),
    ).flat(),
  );
}

function labelsOf(
  { answers, columns, first, layers, upper, lower }: Trace,
  { left, top, headsLeft }: Geometry,
  { own, theme, measure }: Shown,
) {
  const { ink2 } = PALETTE[theme];
  const [small, large] = [13, 15].map((size) => `font-size="${size}" fill="${ink2}"`);
  const italic = `${FAMILY} font-style="italic"`;
  const word = (text: string, x: number, y: number) =>
    textAt(text, x, y, `${large} ${FAMILY} text-anchor="middle"${fixed(text, 15, measure, { most: COLUMN - 4 })}`);
  const rows = [
    { name: own.upper, pieces: upper.pieces, side: 'from' as const, answer: answers[0] },
    { name: own.lower, pieces: lower.pieces, side: 'into' as const, answer: answers[1] },
  ];
  const same = columns.slice(0, first).map(({ into }) => lower.pieces[into].space + lower.pieces[into].text);
  return [
    textAt(same.join(''), MARGIN, MARGIN + LINE, `${large} ${FAMILY}${fixed(same.join(''), 15, measure)}`),
    ...rows.flatMap(({ name, pieces, side, answer }, i) => {
      const y = MARGIN + (2 + i) * LINE;
      const words = columns.slice(first).map((column) => pieces[column[side]]?.name ?? '·');
      return [
        textAt(name, MARGIN, y, small),
        ...words.map((text, j) => word(text, left + (j + 0.5) * COLUMN, y)),
        textAt(answer, headsLeft, y, `${large} ${italic}`),
      ];
    }),
    textAt(own.eachHead, headsLeft, MARGIN + 4.5 * LINE, small),
    ...Array.from({ length: layers }, (_, layer) =>
      textAt(own.layer(layer), MARGIN, top + (layers - 1 - layer) * LAYER + 15, `${small} ${italic}`),
    ),
  ];
}

/** Draws the colour scale from −100 to 100 per cent, with the name of the measure. */
function scaleOf({ answers: [a, b] }: Trace, { left, bottom }: Geometry, { own, state, theme }: Shown) {
  const y = bottom + 1.2 * LINE;
  const ink = `fill="${PALETTE[theme].ink2}"`;
  const bars = Array.from({ length: STEPS }, (_, i) => {
    const colour = SIGNED[theme].css(differenceAt((i + 0.5) / STEPS));
    return rectangle(left + (i * SCALE) / STEPS, y, SCALE / STEPS + 0.3, 10, colour);
  });
  const marks = MARKS.map((mark) => {
    const x = left + SCALE * signedPlace(mark / 100);
    const text = `${mark}${mark === 100 ? '%' : ''}`.replace('-', '−');
    return textAt(text, x, y + 25, `font-size="12" text-anchor="middle" ${ink}`);
  });
  const measure = `${own.way(b, a).join('')} · ${own.by[state.trace.by](a, b)}`;
  return [...bars, ...marks, textAt(measure, left + SCALE + 16, y + 10, `font-size="13" ${ink}`)];
}

export function drawTrace(trace: Trace, shown: Shown) {
  const geometry = geometryOf(trace);
  const { width, height } = geometry.whole;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="${SANS}">`,
    `<title>${xml(shown.own.title)}</title>`,
    `<rect width="100%" height="100%" fill="${PALETTE[shown.theme].bg}"/>`,
    ...labelsOf(trace, geometry, shown),
    ...cellsOf(trace, geometry, shown.theme),
    ...scaleOf(trace, geometry, shown),
    '</svg>',
  ].join('\n');
}
