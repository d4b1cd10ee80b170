// Exports the map to files: the numbers of the heads as CSV, and the drawing as SVG.

import { download } from '../../ui/download.js';
import { PALETTE } from '../../ui/palette.js';
import { axesOf, scaleOf, valuesOn } from './axes.js';
import { SHAPES } from './shapes.js';
import { usualRoles } from './usualRole.js';

/** @import { AtlasMap } from '../../store/atlasProtocol.js' */
/** @import { Theme } from '../../ui/palette.js' */
/** @import { AxisName } from './axes.js' */

/** Sizes of the drawing in pixels. */
const [WIDTH, HEIGHT, MARGIN] = [640, 560, 56];
const SHAPE = 12;

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/**
 * Returns one row for each head. A column that HeadVis also exports has the same name as in HeadVis.
 * @param {AtlasMap} map
 */
export function mapCsv(map) {
  const names = axesOf(map);
  const values = names.map((name) => valuesOn(map, name));
  const rows = usualRoles(map).map((role, i) => [
    Math.floor(i / map.heads),
    i % map.heads,
    role ?? '',
    ...values.map((all) => (Number.isFinite(all[i]) ? Number(all[i].toPrecision(6)) : '')),
  ]);
  return `${[['layer', 'head', 'role', ...names], ...rows].map((row) => row.join(',')).join('\n')}\n`;
}

/**
 * Returns the map as SVG, with its axes and the name of each head.
 * @param {AtlasMap} map
 * @param {AxisName[]} axes
 * @param {Theme} theme
 * @param {{ axes: Record<string, string> }} texts
 */
export function mapSvg(map, axes, theme, texts) {
  const { bg, ink, ink2, data, hairline } = PALETTE[theme];
  const values = axes.map((name) => valuesOn(map, name));
  const across = scaleOf(axes[0], values[0], MARGIN, WIDTH - 20);
  const up = scaleOf(axes[1], values[1], HEIGHT - MARGIN, 20);
  const [left, right, top, bottom] = [MARGIN, WIDTH - 20, 20, HEIGHT - MARGIN];
  const line = (/** @type {number[]} */ [x1, y1, x2, y2]) =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${hairline}"/>`;
  const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ content, more = '') =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${ink2}" ${more}>${escaped(content)}</text>`;
  const heads = usualRoles(map).map((role, i) => {
    const place = (/** @type {typeof up} */ scale, /** @type {number} */ value) =>
      scale.at(Number.isFinite(value) ? value : scale.least).toFixed(1);
    const [x, y] = [place(across, values[0][i]), place(up, values[1][i])];
    const look = role ? `fill="${data}"` : `fill="none" stroke="${ink2}" stroke-width="0.08"`;
    const name = `${Math.floor(i / map.heads)}.${i % map.heads}`;
    const shape = `<path transform="scale(${SHAPE})" d="${SHAPES[role ?? 'none']}" ${look}/>`;
    return `<g transform="translate(${x} ${y})">${shape}${text(10, 4, name, 'font-size="10"')}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${bg}"/>`,
    ...across.ticks.flatMap(({ value, at }) => [
      line([at, top, at, bottom]),
      text(at, bottom + 18, String(value), 'text-anchor="middle"'),
    ]),
    ...up.ticks.flatMap(({ value, at }) => [
      line([left, at, right, at]),
      text(left - 8, at + 4, String(value), 'text-anchor="end"'),
    ]),
    text(right, HEIGHT - 16, texts.axes[axes[0]], `text-anchor="end" style="fill:${ink}"`),
    text(left, 12, texts.axes[axes[1]], `style="fill:${ink}"`),
    ...heads,
    '</svg>',
    '',
  ].join('\n');
}

/** @param {AtlasMap} map */
export const saveCsv = (map) => download('headlight-heads.csv', 'text/csv', mapCsv(map));

/**
 * @param {AtlasMap} map
 * @param {AxisName[]} axes
 * @param {Theme} theme
 * @param {{ axes: Record<string, string> }} texts
 */
export const saveSvg = (map, axes, theme, texts) =>
  download('headlight-heads.svg', 'image/svg+xml', mapSvg(map, axes, theme, texts));
