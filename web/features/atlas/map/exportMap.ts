// Exports the map to files: the numbers of the heads as CSV, and the drawing as SVG.

import { fixed, type Measure, SANS, xml } from '../../../drawing/export/svg.ts';
import { widthOf } from '../../../drawing/textWidth.ts';
import type { AtlasMap } from '../../../model/protocol/atlasProtocol.ts';
import type { NamedRoles } from '../../../model/protocol/protocol.ts';
import type { Session } from '../../../store/session.ts';
import { download } from '../../../ui/download.ts';
import { PALETTE, type Theme } from '../../../ui/palette.ts';
import { type AxisName, axesOf, scaleOf, shownAxes, valuesOn } from '../axes.ts';
import { SHAPES } from '../shapes.ts';
import { rolesOn, shownMap } from './shownMap.ts';

/** Sizes of the drawing in pixels. */
const [WIDTH, HEIGHT, MARGIN] = [640, 560, 56];
const SHAPE = 12;

/** The roles that the page shows; null if they are unknown. */
export type ShownRoles = NamedRoles | { roles: null; weights: null };

/** Returns a number for a file; an empty text if it is unknown. */
const figure = (x: number | null | undefined) => (Number.isFinite(x) ? Number(Number(x).toPrecision(6)) : '');

/** Returns one row per head: its role, its mean weight on the tokens of this role, its values on all axes. */
export function mapCsv(map: AtlasMap, named: ShownRoles) {
  const names = axesOf(map);
  const values = names.map((name) => valuesOn(map, name));
  const rows = rolesOn(map, named.roles).map((role, i) => {
    const [layer, head] = [Math.floor(i / map.heads), i % map.heads];
    const weight = figure(named.weights?.[layer]?.[head]);
    return [layer, head, role ?? '', weight, ...values.map((all) => figure(all[i]))];
  });
  return `${[['layer', 'head', 'role', 'role_weight', ...names], ...rows].map((row) => row.join(',')).join('\n')}\n`;
}

/** Returns the map as SVG, with axes and names. `measure` returns the width of a text in the page. */
export function mapSvg(
  map: AtlasMap,
  named: ShownRoles,
  axes: AxisName[],
  theme: Theme,
  texts: { axes: Record<string, string>; roles: Record<string, string> },
  measure?: Measure,
) {
  const { bg, ink, ink2, data, hairline } = PALETTE[theme];
  const values = axes.map((name) => valuesOn(map, name));
  const across = scaleOf(axes[0], values[0], MARGIN, WIDTH - 20);
  const up = scaleOf(axes[1], values[1], HEIGHT - MARGIN, 20);
  const [left, right, top, bottom] = [MARGIN, WIDTH - 20, 20, HEIGHT - MARGIN];
  const line = ([x1, y1, x2, y2]: number[]) =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${hairline}"/>`;
  const text = (x: number, y: number, content: string, more = '') =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${ink2}" ${more}>${xml(content)}</text>`;
  const heads = rolesOn(map, named.roles).map((role, i) => {
    const place = (scale: typeof up, value: number) =>
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

export async function saveMap(kind: 'headvis' | 'csv' | 'svg', session: Session) {
  if (kind === 'headvis') return session.atlas.saveHeadvis();
  const map = shownMap(session.atlas.map.peek(), session.run.peek(), session.atlas.measured.peek());
  if (!map) return;
  const named = { roles: session.roles.peek(), weights: session.roleWeights.peek() } as ShownRoles;
  if (kind === 'csv') return download('headlight-heads.csv', 'text/csv', mapCsv(map, named));
  const { texts } = await (session.language.peek() === 'zh' ? import('../atlas.zh.ts') : import('../atlas.en.ts'));
  const svg = mapSvg(map, named, shownAxes(map, session.state.peek().axes), session.theme.peek(), texts, widthOf);
  download('headlight-heads.svg', 'image/svg+xml', svg);
}
