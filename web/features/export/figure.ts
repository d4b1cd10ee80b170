// Writes the displayed picture as an SVG drawing with title, labels, cells and legend. It is one picture, two side by
// side, or their difference.

import { marksOf, RAMP, weightAt } from '../../drawing/colourRamp.ts';
import { fixed, type Measure, SANS, SERIF, xml } from '../../drawing/export/svg.ts';
import {
  differenceAt,
  differenceOf,
  type RunPair,
  SIGNED,
  type Side,
  signedPlace,
  weightIn,
} from '../../drawing/tokenPairs.ts';
import type { Palette } from '../../drawing/types.ts';
import { PALETTE, type Theme } from '../../ui/palette.ts';
export type Colours = (typeof RAMP)[Theme] | (typeof SIGNED)[Theme];
/** One picture of a drawing. Its grid may have more rows and columns than the picture has tokens. */
export type Panel = {
  title?: string;
  /** text under the title */
  about?: string;
  /** of the queries */
  names: string[];
  keys: string[];
  /** true if cells above the diagonal are drawn */
  full: boolean;
  /** of a cell, undefined if the cell does not exist */
  value: (t: number, s: number) => number | undefined;
  /** true if only one of two runs has a value in the cell, which is then drawn as a dot */
  isUnpaired?: (t: number, s: number) => boolean;
  rows?: { n: number; at: (t: number) => number };
  columns?: { n: number; at: (s: number) => number };
};
/** Draws many cells as an image with one pixel for each cell, and returns the data address of the image. */
export type Raster = (panel: Panel, colours: { pixel: (value: number) => number }) => string;
export type { Measure } from '../../drawing/export/svg.ts';

/** Cells smaller than this have no number. */
const MIN_FIGURE_CELL = 24;
/** Margin, side of a picture and width of the legend in SVG units, and number of colour steps in the legend. */
const [MARGIN, SIDE, LEGEND, STEPS] = [24, 640, 220, 55];
/** Maximum length of a text and of a name, in characters. */
const [MAX_TEXT, MAX_NAME] = [90, 16];
/** More cells than this are drawn as an image, because as many rectangles would make the file too large. */
const MAX_RECTANGLES = 20_000;

/** Marks of the legend of differences. */
const SIGNED_MARKS = [-1, -0.25, 0, 0.25, 1].map((mark) => ({
  text: mark === 0 ? '0' : `${mark < 0 ? '−' : '+'}${Math.abs(mark)}`,
  place: signedPlace(mark),
}));

function cut(text: string, most: number) {
  const letters = [...text.replace(/\s+/g, ' ')];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : letters.join('');
}
const textAt = (words: string, x: number, y: number, more: string) =>
  `<text x="${x}" y="${y}" ${more}>${xml(words)}</text>`;
const rectangle = (x: number, y: number, width: number, height: number, fill: string) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`;

function geometryOf({ names, keys, full, rows, columns }: Panel) {
  const [n, m] = [rows?.n ?? names.length, columns?.n ?? keys.length];
  const fit = SIDE / Math.max(n, m);
  const cell = fit >= 1 ? Math.floor(fit) : fit;
  const size = Math.min(Math.max(0.6 * cell, 8), 15);
  const longest = Math.min(
    [...names, ...keys].reduce((most, name) => Math.max(most, [...name].length), 0),
    MAX_NAME,
  );
  const labels = cell >= 9;
  return {
    cell,
    size,
    labels,
    gap: Math.max(n, m) > 40 ? 0 : 1,
    left: labels ? Math.ceil(0.56 * size * longest) + 12 : 0,
    above: (full ? Math.ceil(0.5 * size * longest) : 0) + 20,
    wide: cell * m,
    side: cell * n,
  };
}

/** Draws the cells of a picture whose top left corner is x, y. */
function cellsOf(
  panel: Panel,
  { cell, gap, wide, side }: ReturnType<typeof geometryOf>,
  x: number,
  y: number,
  { colours, palette, raster }: { colours: Colours; palette: Palette; raster?: Raster },
) {
  const { names, keys, value, isUnpaired, rows, columns } = panel;
  const [T, S] = [names.length, keys.length];
  if (raster && T * S > MAX_RECTANGLES)
    return [
      `<image x="${x}" y="${y}" width="${wide}" height="${side}" preserveAspectRatio="none" ` +
        `style="image-rendering:pixelated" href="${raster(panel, colours)}"/>`,
    ];
  const fillOf = (w: number) => (Number.isNaN(w) ? palette.ink : colours.css(w));
  const [down, across] = [rows?.at, columns?.at].map((at) => (i: number) => (at?.(i) ?? i) * cell);
  const cells: string[] = [];
  for (let t = 0; t < T; t++)
    for (let s = 0; s < S; s++) {
      const [left, top] = [x + across(s), y + down(t)];
      const w = value(t, s);
      if (w === undefined) {
        if (isUnpaired?.(t, s)) cells.push(rectangle(left + cell / 2 - 1, top + cell / 2 - 1, 2, 2, palette.ink3));
        continue;
      }
      const fill = fillOf(w);
      let end = s + 1;
      const same = (next: number | undefined) => next !== undefined && fillOf(next) === fill;
      // In a large picture, neighbouring cells of a row with the same colour are one rectangle.
      if (S > 64 && !columns) while (end < S && same(value(t, end))) end++;
      cells.push(rectangle(left, top, (end - s) * cell - gap, cell - gap, fill));
      s = end - 1;
    }
  return cells;
}

function figuresOf(
  { names, keys, value, rows, columns }: Panel,
  { cell }: ReturnType<typeof geometryOf>,
  x: number,
  y: number,
  colours: Colours,
) {
  if (cell < MIN_FIGURE_CELL) return [];
  const size = Math.min(0.36 * cell, 13);
  return names.flatMap((_, t) =>
    keys.flatMap((__, s) => {
      const w = value(t, s);
      if (w === undefined || Number.isNaN(w)) return [];
      const [left, top] = [x + ((columns?.at(s) ?? s) + 0.5) * cell, y + ((rows?.at(t) ?? t) + 0.5) * cell];
      const ink = (colours.isLight?.(w) ?? Math.abs(w) < 0.5) ? '#1a181e' : '#ffffff';
      const style = `font-family="${SANS}" font-size="${size.toFixed(1)}" fill="${ink}" text-anchor="middle"`;
      const words = Math.abs(w) >= 0.995 ? w.toFixed(1) : w.toFixed(2).replace(/^(-?)0/, '$1');
      return [textAt(words.replace('-', '−'), left, top + 0.35 * size, style)];
    }),
  );
}

function axesOf(
  axes: [string, string] | undefined,
  { side, wide, labels }: ReturnType<typeof geometryOf>,
  x: number,
  y: number,
  palette: Palette,
) {
  if (!axes) return [];
  const style = (fill: string) => `font-family="${SERIF}" font-size="13" font-style="italic" fill="${fill}"`;
  const low = y + side + 16;
  return [
    textAt(`↑ ${axes[0]}`, labels ? x - 8 : x - 4, low, `${style(palette.query)} text-anchor="end"`),
    textAt(`${axes[1]} →`, x + wide, low, `${style(palette.key)} text-anchor="end"`),
  ];
}

/** Writes the queries' names left of the rows, and the keys' names above the first cells of the columns. */
function labelsOf(
  { names, keys, full, rows, columns }: Panel,
  { cell, size, labels }: ReturnType<typeof geometryOf>,
  x: number,
  y: number,
  palette: Palette,
  measure?: Measure,
) {
  if (!labels) return [];
  const style = `font-family="${SERIF}" font-size="${size}" fill="${palette.ink2}"`;
  const row = (t: number) => rows?.at(t) ?? t;
  return [
    ...names.map((name, t) =>
      textAt(
        cut(name, MAX_NAME),
        x - 8,
        y + (row(t) + 0.5) * cell + 0.35 * size,
        `${style} text-anchor="end"${fixed(cut(name, MAX_NAME), size, measure)}`,
      ),
    ),
    ...keys.map((name, s) => {
      const stairs = full ? 0 : row(Math.min(s, names.length - 1)) * cell;
      const [left, top] = [x + (columns?.at(s) ?? s) * cell + (full ? cell / 2 : 2), y + stairs - 5];
      const turned = full ? ` transform="rotate(-45 ${left} ${top})"` : '';
      return textAt(cut(name, MAX_NAME), left, top, `${style}${turned}${fixed(cut(name, MAX_NAME), size, measure)}`);
    }),
  ];
}

function drawingOf({
  title,
  about,
  theme,
  panels,
  signs = false,
  raster,
  axes,
  figures,
  measure,
  ramp,
  scale,
}: {
  title: string;
  about: string;
  theme: Theme;
  /** one picture, or two side by side */
  panels: Panel[];
  /** true if the values are differences */
  signs?: boolean;
  raster?: Raster;
  /** names of the axes */
  axes?: [rows: string, columns: string];
  /** true if the weights are written in their cells */
  figures?: boolean;
  measure?: Measure;
  /** colours of weights, by default those from 0 to 1 */
  ramp?: Colours;
  /** marks of the legend */
  scale?: { text: string; place: number }[];
}) {
  const palette = PALETTE[theme];
  const colours = signs ? SIGNED[theme] : (ramp ?? RAMP[theme]);
  const shades = signs ? SIGNED[theme] : RAMP[theme];
  const sizes = panels.map(geometryOf);
  const heading = panels.some((panel) => panel.title) ? 52 : 0;
  const top = 84 + heading + Math.max(...sizes.map(({ above }) => above));
  const high = Math.max(...sizes.map(({ side }) => side));
  let x = MARGIN;
  const places = sizes.map(({ left, wide }) => {
    const at = x + left;
    x = at + wide + MARGIN + 60;
    return at;
  });
  const [width, height] = [Math.max(x, MARGIN + 420), top + high + 70];
  const ink = (size: number, fill: string) => `font-family="${SERIF}" font-size="${size}" fill="${fill}"`;
  const [legend, base] = [places[0], top + high + 24];
  const bar = Array.from({ length: STEPS }, (_, i) => {
    const place = i / (STEPS - 1);
    const value = signs ? differenceAt(place) : weightAt(place);
    return rectangle(legend + (i * LEGEND) / STEPS, base, LEGEND / STEPS + 0.5, 10, shades.css(value));
  });
  const marks = (signs ? SIGNED_MARKS : (scale ?? marksOf('fixed', 1))).map(({ text, place }) => {
    const style = `font-family="${SANS}" font-size="12" fill="${palette.ink2}" text-anchor="middle"`;
    return textAt(text, legend + place * LEGEND, base + 26, style);
  });
  const shown = cut(about, MAX_TEXT);
  const headings = panels.flatMap((panel, i) =>
    panel.title
      ? [
          textAt(panel.title, places[i], 108, ink(18, palette.ink)),
          textAt(cut(panel.about ?? '', MAX_TEXT), places[i], 128, ink(13, palette.ink2)),
        ]
      : [],
  );
  const extent = `width="${width}" height="${height}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${extent} viewBox="0 0 ${width} ${height}">
<title>${xml(shown ? `${title}: ${shown}` : title)}</title>
<rect ${extent} fill="${palette.bg}"/>
${textAt(title, MARGIN, 40, ink(24, palette.ink))}
${textAt(shown, MARGIN, 64, ink(14, palette.ink2))}
${headings.join('\n')}
<g shape-rendering="crispEdges">
${panels.flatMap((panel, i) => cellsOf(panel, sizes[i], places[i], top, { colours, palette, raster })).join('\n')}
${bar.join('\n')}
</g>
${panels.flatMap((panel, i) => labelsOf(panel, sizes[i], places[i], top, palette, measure)).join('\n')}
${panels.flatMap((_, i) => axesOf(axes, sizes[i], places[i], top, palette)).join('\n')}
${figures ? panels.flatMap((panel, i) => figuresOf(panel, sizes[i], places[i], top, colours)).join('\n') : ''}
${marks.join('\n')}
</svg>
`;
  return { svg, width, height };
}

export function figureOf({
  weights,
  names,
  keys = names,
  ...drawn
}: {
  /** (T,S) */
  weights: Float32Array;
  /** of the queries */
  names: string[];
  /** names of the keys, if they are other tokens */
  keys?: string[];
  title: string;
  about: string;
  theme: Theme;
  raster?: Raster;
  axes?: [rows: string, columns: string];
  figures?: boolean;
  measure?: Measure;
  ramp?: Colours;
  scale?: { text: string; place: number }[];
}) {
  const [T, S] = [names.length, keys.length];
  const full = T !== S || names.some((_, t) => keys.some((__, s) => s > t && weights[t * S + s] > 0));
  const value = (t: number, s: number) => (full || s <= t || weights[t * S + s] > 0 ? weights[t * S + s] : undefined);
  return drawingOf({ ...drawn, panels: [{ names, keys, value, full }] });
}

/** Draws two runs side by side, or their difference. */
export function comparisonOf({
  runs,
  way,
  sides,
  ...drawn
}: {
  runs: RunPair & { old: Side };
  way: 'beside' | 'difference';
  /** heading of the current run and of the pinned run */
  sides: { title: string; about: string }[];
  title: string;
  about: string;
  theme: Theme;
  raster?: Raster;
  axes?: [rows: string, columns: string];
  figures?: boolean;
  measure?: Measure;
}) {
  const { now, old, full, rows, columns } = runs;
  if (way === 'difference') return drawingOf({ ...drawn, signs: true, panels: [{ ...differenceOf(runs), full }] });
  const places = [
    { of: now, row: rows.rowNow, column: columns.rowNow },
    { of: old, row: rows.rowOld, column: columns.rowOld },
  ];
  const panels = places.map(({ of, row, column }, i) => ({
    ...sides[i],
    names: of.names,
    keys: of.keys,
    full,
    value: (t: number, s: number) => weightIn(of, full, { t, s }),
    rows: { n: rows.n, at: row },
    columns: { n: columns.n, at: column },
  }));
  return drawingOf({ ...drawn, panels });
}
