// The large picture as a drawing that stands alone: title, labels, cells, legend. Where cells are many they are drawn
// in runs of equal colour, so that the file stays small.

import { PALETTE } from './palette.js';
import { placeOf, RAMP, weightAt } from './ramp.js';

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
/** As text of XML, without the characters that it forbids. @param {string} text */
const xml = (text) =>
  text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, '').replace(/[&<>"']/g, (sign) => ENTITIES[sign]);

const SERIF = 'Palatino, Georgia, serif';
const SANS = 'system-ui, sans-serif';
const [MARGIN, SIDE, LEGEND] = [24, 640, 220];
const MOST_TEXT = 90;

/**
 * @param {object} drawn
 * @param {Float32Array} drawn.weights (T,S)
 * @param {string[]} drawn.names of the tokens that ask
 * @param {string[]} [drawn.keys] of those that answer, where they are others
 * @param {string} drawn.title
 * @param {string} drawn.about the text, under the title
 * @param {'light' | 'dark'} drawn.theme
 */
export function figureOf({ weights, names, keys = names, title, about, theme }) {
  const [T, S] = [names.length, keys.length];
  const [colours, ramp] = [PALETTE[theme], RAMP[theme]];
  const cell = Math.max(Math.floor(SIDE / Math.max(T, S)), 1);
  const size = Math.min(Math.max(0.6 * cell, 8), 15);
  const longest = Math.min(
    [...names, ...keys].reduce((most, name) => Math.max(most, [...name].length), 0),
    16,
  );
  const labels = cell >= 9;
  const left = MARGIN + (labels ? Math.ceil(0.56 * size * longest) + 12 : 0);
  const full = T !== S || names.some((_, t) => keys.some((__, s) => s > t && weights[t * S + s] > 0));
  const top = 84 + (full ? Math.ceil(0.5 * size * longest) : 0) + 20;
  const [side, wide] = [cell * T, cell * S];
  const [width, height] = [left + wide + MARGIN + 60, top + side + 70];
  const seen = (/** @type {number} */ t, /** @type {number} */ s) => full || s <= t || weights[t * S + s] > 0;

  /** @type {string[]} */
  const cells = [];
  for (let t = 0; t < T; t++)
    for (let s = 0; s < S; s++) {
      if (!seen(t, s)) continue;
      const fill = Number.isNaN(weights[t * S + s]) ? colours.ink : ramp.css(weights[t * S + s]);
      let end = s + 1;
      if (S > 64) while (end < S && seen(t, end) && ramp.css(weights[t * S + end]) === fill) end++;
      const gap = Math.max(T, S) > 40 ? 0 : 1;
      cells.push(
        `<rect x="${left + s * cell}" y="${top + t * cell}" width="${(end - s) * cell - gap}" ` +
          `height="${cell - gap}" fill="${fill}"/>`,
      );
      s = end - 1;
    }
  const text = (
    /** @type {string} */ words,
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {string} */ more,
  ) => `<text x="${x}" y="${y}" ${more}>${xml(words)}</text>`;
  const cut = (/** @type {string} */ name) => ([...name].length > 16 ? `${[...name].slice(0, 15).join('')}…` : name);
  const style = `font-family="${SERIF}" font-size="${size}" fill="${colours.ink2}"`;
  const rows = labels
    ? names.map((name, t) =>
        text(cut(name), left - 8, top + (t + 0.5) * cell + 0.35 * size, `${style} text-anchor="end"`),
      )
    : [];
  const columns = labels
    ? keys.map((name, s) => {
        const [x, y] = [left + s * cell + (full ? cell / 2 : 2), top + (full ? 0 : s * cell) - 5];
        return text(cut(name), x, y, `${style}${full ? ` transform="rotate(-45 ${x} ${y})"` : ''}`);
      })
    : [];
  const base = top + side + 24;
  const steps = 55;
  const bar = Array.from(
    { length: steps },
    (_, i) =>
      `<rect x="${left + (i * LEGEND) / steps}" y="${base}" width="${LEGEND / steps + 0.5}" height="10" ` +
      `fill="${ramp.css(weightAt(i / (steps - 1)))}"/>`,
  );
  const marks = [0, 0.1, 0.25, 0.5, 1].map((mark) =>
    text(
      String(mark),
      left + placeOf(mark) * LEGEND,
      base + 26,
      `font-family="${SANS}" font-size="12" fill="${colours.ink2}" text-anchor="middle"`,
    ),
  );
  const line = [...about.replace(/\s+/g, ' ')];
  const shown = line.length > MOST_TEXT ? `${line.slice(0, MOST_TEXT - 1).join('')}…` : line.join('');
  const extent = `width="${width}" height="${height}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${extent} viewBox="0 0 ${width} ${height}">
<title>${xml(`${title}: ${shown}`)}</title>
<rect ${extent} fill="${colours.bg}"/>
${text(title, MARGIN, 40, `font-family="${SERIF}" font-size="24" fill="${colours.ink}"`)}
${text(shown, MARGIN, 64, `font-family="${SERIF}" font-size="14" fill="${colours.ink2}"`)}
<g shape-rendering="crispEdges">
${cells.join('\n')}
${bar.join('\n')}
</g>
${rows.join('\n')}
${columns.join('\n')}
${marks.join('\n')}
</svg>
`;
  return { svg, width, height };
}
