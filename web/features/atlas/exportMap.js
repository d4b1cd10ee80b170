// Exports the map to files: the numbers of the heads as CSV, and the drawing as SVG.

import { download } from '../../ui/download.js';
import { PALETTE } from '../../ui/palette.js';
import { fixed, SANS, xml } from '../export/svg.js';
import { widthOf } from '../heatmap/textWidth.js';
import { axesOf, scaleOf, shownAxes, valuesOn } from './axes.js';
import { SHAPES } from './shapes.js';
import { rolesOn, shownMap } from './shownMap.js';

/** @import { AtlasMap } from '../../store/atlasProtocol.js' */
/** @import { NamedRoles } from '../../store/protocol.js' */
/** @import { Session } from '../../store/session.js' */
/** @import { Theme } from '../../ui/palette.js' */
/** @import { AxisName } from './axes.js' */

/** Sizes of the drawing in pixels. */
const [WIDTH, HEIGHT, MARGIN] = [640, 560, 56];
const SHAPE = 12;

/**
 * The roles that the page shows; null if they are unknown.
 * @typedef {NamedRoles | { roles: null, weights: null }} ShownRoles
 */

/** Returns a number for a file; an empty text if it is unknown. @param {number | null | undefined} x */
const figure = (x) => (Number.isFinite(x) ? Number(Number(x).toPrecision(6)) : '');

/**
 * Returns one row for each head: its role, the mean weight that it gives to the tokens of this role, and its values on
 * all axes.
 * @param {AtlasMap} map
 * @param {ShownRoles} named
 */
export function mapCsv(map, named) {
  const names = axesOf(map);
  const values = names.map((name) => valuesOn(map, name));
  const rows = rolesOn(map, named.roles).map((role, i) => {
    const [layer, head] = [Math.floor(i / map.heads), i % map.heads];
    const weight = figure(named.weights?.[layer]?.[head]);
    return [layer, head, role ?? '', weight, ...values.map((all) => figure(all[i]))];
  });
  return `${[['layer', 'head', 'role', 'role_weight', ...names], ...rows].map((row) => row.join(',')).join('\n')}\n`;
}

/**
 * Returns the map as SVG, with its axes and the name of each head.
 * @param {AtlasMap} map
 * @param {ShownRoles} named
 * @param {AxisName[]} axes
 * @param {Theme} theme
 * @param {{ axes: Record<string, string>, roles: Record<string, string> }} texts
 * @param {import('../export/svg.js').Measure} [measure] returns the width of a text in the page
 */
export function mapSvg(map, named, axes, theme, texts, measure) {
  const { bg, ink, ink2, data, hairline } = PALETTE[theme];
  const values = axes.map((name) => valuesOn(map, name));
  const across = scaleOf(axes[0], values[0], MARGIN, WIDTH - 20);
  const up = scaleOf(axes[1], values[1], HEIGHT - MARGIN, 20);
  const [left, right, top, bottom] = [MARGIN, WIDTH - 20, 20, HEIGHT - MARGIN];
  const line = (/** @type {number[]} */ [x1, y1, x2, y2]) =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${hairline}"/>`;
  const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ content, more = '') =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${ink2}" ${more}>${xml(content)}</text>`;
  const heads = rolesOn(map, named.roles).map((role, i) => {
    const place = (/** @type {typeof up} */ scale, /** @type {number} */ value) =>
      scale.at(Number.isFinite(value) ? value : scale.least).toFixed(1);
    const [x, y] = [place(across, values[0][i]), place(up, values[1][i])];
    const look = role ? `fill="${data}"` : `fill="none" stroke="${ink2}" stroke-width="0.08"`;
    const name = `${Math.floor(i / map.heads)}.${i % map.heads}${role ? ` ${texts.roles[role]}` : ''}`;
    const shape = `<path transform="scale(${SHAPE})" d="${SHAPES[role ?? 'none']}" ${look}/>`;
    const small = `font-size="10"${fixed(name, 10, measure, { font: SANS })}`;
    return `<g transform="translate(${x} ${y})">${shape}${text(10, 4, name, small)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="${SANS}" font-size="12">`,
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

/**
 * Saves the map as a file.
 * @param {'headvis' | 'csv' | 'svg'} kind
 * @param {Session} session
 */
export async function saveMap(kind, session) {
  if (kind === 'headvis') return session.atlas.saveHeadvis();
  const map = shownMap(session.atlas.map.peek(), session.run.peek(), session.atlas.measured.peek());
  if (!map) return;
  const named = /** @type {ShownRoles} */ ({ roles: session.roles.peek(), weights: session.roleWeights.peek() });
  if (kind === 'csv') return download('headlight-heads.csv', 'text/csv', mapCsv(map, named));
  const { texts } = await (session.language.peek() === 'zh' ? import('./atlas.zh.js') : import('./atlas.en.js'));
  const svg = mapSvg(map, named, shownAxes(map, session.state.peek().axes), session.theme.peek(), texts, widthOf);
  download('headlight-heads.svg', 'image/svg+xml', svg);
}
