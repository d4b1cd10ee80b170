// What is shown, as files: a table, arrays, a drawing.

import { writeNpy, writeSafetensors } from '../../src/js/io/formats.js';
import { formatNumber, formatWeight, shortest } from './scale.js';
import { largest } from './shrink.js';

/** What a spreadsheet takes for the beginning of a formula, in either width. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * A text as one cell. A spreadsheet would run some texts as formulas: an apostrophe before them makes them text.
 * Numbers stay numbers. Quoted where one of the usual separators, or space around it, might be misread.
 */
function field(text) {
  const cell = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** One head: keys across, queries down, every weight as the shortest decimal of its float32. */
export function toCsv({ queries, keys, weights, shape: [, H, T, S] }, { batch, head }) {
  const at = (batch * H + head) * T * S;
  const rows = queries.map((query, t) => [
    field(query),
    ...Array.from(weights.subarray(at + t * S, at + (t + 1) * S), shortest),
  ]);
  return [['', ...keys.map(field)], ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** All weights, (B,H,T,S). */
export const toNpy = ({ weights, shape }) => writeNpy({ data: weights, shape });

export function toSafetensors({ queries, keys, weights, scores, shape }) {
  return writeSafetensors(
    { weights: { data: weights, shape }, scores: { data: scores, shape } },
    { queries: JSON.stringify(queries), keys: JSON.stringify(keys) },
  );
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
/** As text of XML, without the characters that it forbids. */
const xml = (text) =>
  String(text)
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, '')
    .replace(/[&<>"']/g, (sign) => ENTITIES[sign]);

const [LEFT, TOP, BAR] = [150, 170, 12];
/** Letters that fit beside the cells, and the room that a label needs. */
const [LETTERS, LABEL] = [20, 13];
const cut = (text) => ([...text].length > LETTERS ? `${[...text].slice(0, LETTERS - 1).join('')}…` : text);

/** One head as a drawing that stands alone. */
export function toSvg({ head: { weights, visible, T, S }, queries, keys, scale, title, colours }) {
  const cell = Math.min(Math.max(Math.floor((1200 - LEFT) / Math.max(S, 1)), 4), 24);
  const [width, height] = [Math.max(LEFT + cell * S + 10, 420), TOP + cell * T + 60];
  const rgb = (value) => `rgb(${scale.colour(value).join(' ')})`;
  const format = scale.domain[0] < 0 ? formatNumber : formatWeight;
  const most = Array.from({ length: T }, (_, t) =>
    scale.perRow ? largest(weights.subarray(t * S, (t + 1) * S)) || 1 : 1,
  );
  const cells = Array.from(weights, (w, i) => {
    const [t, s] = [Math.floor(i / S), i % S];
    const hidden = visible?.[i] === 0;
    return `<rect x="${LEFT + s * cell}" y="${TOP + t * cell}" width="${cell}" height="${cell}" fill="${hidden ? 'url(#hidden)' : rgb(w / most[t])}"><title>${xml(`${queries[t]} → ${keys[s]}: ${format(w)}`)}</title></rect>`;
  });
  const label = (text, x, y, more) => `<text x="${x}" y="${y}" ${more}>${xml(text)}</text>`;
  const every = Math.ceil(LABEL / cell);
  const labels = (tokens, draw) =>
    tokens.flatMap((token, i) => (i % every === 0 ? [draw(cut(token), i)] : [])).join('\n');
  const legend = Array.from(
    { length: 16 },
    (_, i) =>
      `<rect x="${LEFT + i * BAR}" y="${height - 40}" width="${BAR}" height="${BAR}" fill="${rgb(scale.valueAt(i / 15))}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${colours.text}">
<title>${xml(title)}</title>
<defs><pattern id="hidden" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M3 0V6" stroke="${colours.hatch}"/></pattern></defs>
<rect width="${width}" height="${height}" fill="${colours.paper}"/>
${label(title, 12, 22, 'font-size="15" font-weight="600"')}
${labels(keys, (key, s) => label(key, 0, 0, `transform="translate(${LEFT + (s + 0.65) * cell} ${TOP - 6}) rotate(-90)" fill="${colours.key}"`))}
${labels(queries, (query, t) => label(query, LEFT - 6, TOP + (t + 0.5) * cell, `text-anchor="end" dominant-baseline="central" fill="${colours.query}"`))}
<g shape-rendering="crispEdges">
${cells.join('\n')}
${legend.join('\n')}
</g>
${scale.ticks.map(({ share, value }) => label(formatNumber(Number(value.toPrecision(2))), LEFT + share * 16 * BAR, height - 12, 'text-anchor="middle"')).join('\n')}
</svg>
`;
}

/** A name that every file system takes. */
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
