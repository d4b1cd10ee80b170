// What is shown, as files: a table, arrays, a drawing.

import { writeNpy, writeSafetensors } from '../../src/js/io/formats.js';
import { formatNumber, formatWeight, shortest } from './scale.js';
import { largest } from './shrink.js';

/** @import { Head, Scale, Whole } from './types.js' */

/** What a spreadsheet takes for the beginning of a formula, in either width. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * A text as one cell. A spreadsheet would run some texts as formulas: an apostrophe before them makes them text.
 * Numbers stay numbers. Quoted where one of the usual separators, or space around it, might be misread.
 * @param {string} text
 */
function field(text) {
  const cell = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * One head: keys across, queries down, every weight as the shortest decimal of its float32.
 * @param {Pick<Whole, 'queries' | 'keys' | 'weights' | 'shape'>} whole
 * @param {{ batch: number, head: number }} which
 */
export function toCsv({ queries, keys, weights, shape: [, H, T, S] }, { batch, head }) {
  const at = (batch * H + head) * T * S;
  const rows = queries.map((query, t) => [
    field(query),
    ...Array.from(weights.subarray(at + t * S, at + (t + 1) * S), shortest),
  ]);
  return [['', ...keys.map(field)], ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** All weights, (B,H,T,S). @param {Pick<Whole, 'weights' | 'shape'>} whole */
export const toNpy = ({ weights, shape }) => writeNpy({ data: weights, shape });

/** @param {Pick<Whole, 'queries' | 'keys' | 'weights' | 'scores' | 'shape'>} whole */
export function toSafetensors({ queries, keys, weights, scores, shape }) {
  return writeSafetensors(
    { weights: { data: weights, shape }, scores: { data: scores, shape } },
    { queries: JSON.stringify(queries), keys: JSON.stringify(keys) },
  );
}

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
/** As text of XML, without the characters that it forbids. */
const xml = (/** @type {string} */ text) =>
  String(text)
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, '')
    .replace(/[&<>"']/g, (sign) => ENTITIES[sign]);

const [LEFT, TOP, BAR] = [150, 170, 12];
/** Letters that fit beside the cells, and the room that a label needs. */
const [LETTERS, LABEL] = [20, 13];
const cut = (/** @type {string} */ text) =>
  [...text].length > LETTERS ? `${[...text].slice(0, LETTERS - 1).join('')}…` : text;

/**
 * One head as a drawing that stands alone.
 * @param {object} drawn
 * @param {Head} drawn.head
 * @param {string[]} drawn.queries
 * @param {string[]} drawn.keys
 * @param {Scale} drawn.scale
 * @param {string} drawn.title
 * @param {{ text: string, paper: string, hatch: string, query: string, key: string }} drawn.colours
 */
export function toSvg({ head: { weights, visible, T, S }, queries, keys, scale, title, colours }) {
  const cell = Math.min(Math.max(Math.floor((1200 - LEFT) / Math.max(S, 1)), 4), 24);
  const [width, height] = [Math.max(LEFT + cell * S + 10, 420), TOP + cell * T + 60];
  const rgb = (/** @type {number} */ value) => `rgb(${scale.colour(value).join(' ')})`;
  const format = scale.domain[0] < 0 ? formatNumber : formatWeight;
  const most = Array.from({ length: T }, (_, t) =>
    scale.perRow ? largest(weights.subarray(t * S, (t + 1) * S)) || 1 : 1,
  );
  /** @type {(x: number, y: number, width: number, height: number, fill: string, more?: string) => string} */
  const rect = (x, y, width, height, fill, more = '/>') =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"${more}`;
  const cells = Array.from(weights, (w, i) => {
    const [t, s] = [Math.floor(i / S), i % S];
    const fill = visible?.[i] === 0 ? 'url(#hidden)' : rgb(w / most[t]);
    const title = `><title>${xml(`${queries[t]} → ${keys[s]}: ${format(w)}`)}</title></rect>`;
    return rect(LEFT + s * cell, TOP + t * cell, cell, cell, fill, title);
  });
  /** @type {(text: string, x: number, y: number, more: string) => string} */
  const label = (text, x, y, more) => `<text x="${x}" y="${y}" ${more}>${xml(text)}</text>`;
  const every = Math.ceil(LABEL / cell);
  /** @type {(tokens: string[], draw: (token: string, i: number) => string) => string} */
  const labels = (tokens, draw) =>
    tokens.flatMap((token, i) => (i % every === 0 ? [draw(cut(token), i)] : [])).join('\n');
  const keyLabel = (/** @type {string} */ key, /** @type {number} */ s) => {
    const place = `translate(${LEFT + (s + 0.65) * cell} ${TOP - 6}) rotate(-90)`;
    return label(key, 0, 0, `transform="${place}" fill="${colours.key}"`);
  };
  const queryLabel = (/** @type {string} */ query, /** @type {number} */ t) => {
    const style = `text-anchor="end" dominant-baseline="central" fill="${colours.query}"`;
    return label(query, LEFT - 6, TOP + (t + 0.5) * cell, style);
  };
  const legend = Array.from({ length: 16 }, (_, i) =>
    rect(LEFT + i * BAR, height - 40, BAR, BAR, rgb(scale.valueAt(i / 15))),
  );
  const ticks = scale.ticks.map(({ share, value }) => {
    const text = formatNumber(Number(value.toPrecision(2)));
    return label(text, LEFT + share * 16 * BAR, height - 12, 'text-anchor="middle"');
  });
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const font = `font-family="system-ui, sans-serif" font-size="12" fill="${colours.text}"`;
  const pattern = 'width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>
<title>${xml(title)}</title>
<defs><pattern id="hidden" ${pattern}><path d="M3 0V6" stroke="${colours.hatch}"/></pattern></defs>
<rect width="${width}" height="${height}" fill="${colours.paper}"/>
${label(title, 12, 22, 'font-size="15" font-weight="600"')}
${labels(keys, keyLabel)}
${labels(queries, queryLabel)}
<g shape-rendering="crispEdges">
${cells.join('\n')}
${legend.join('\n')}
</g>
${ticks.join('\n')}
</svg>
`;
}

/** A name that every file system takes. @param {string[]} parts @param {string} extension */
export function fileName(parts, extension) {
  const name = parts
    .join('-')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return `${
    [...name]
      .slice(0, 60)
      .join('')
      .replace(/[-.]+$/, '') || 'headlight'
  }.${extension}`;
}
