// Compares the text and drawings of a part of the page with those in tests/golden/shown.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOLDEN } from './golden.js';
import { page, server } from './page.js';

/** Milliseconds between two readings, and the maximum number of readings of a page that differs. */
const [PAUSE, MOST] = [200, 50];

/** Returns texts that a screen reader does not read, tooltips, and descriptions of the drawings. */
const drawnIn = (/** @type {Element} */ around) => {
  const all = [...around.querySelectorAll('*')].filter((one) => one.checkVisibility({ visibilityProperty: true }));
  const own = (/** @type {Element} */ one) =>
    [...one.childNodes].map((node) => (node.nodeType === 3 ? node.nodeValue : '')).join('');
  const list = (/** @type {string} */ name, /** @type {(string | null)[]} */ texts) =>
    `${name}: ${texts
      .map((text) => text?.trim())
      .filter(Boolean)
      .join(' | ')}`;
  // Returns a canvas as 4 × 4 shades from 0 (black) to 7 (white).
  const shadesOf = (/** @type {Element} */ canvas) => {
    const small = Object.assign(document.createElement('canvas'), { width: 4, height: 4 });
    const context = /** @type {CanvasRenderingContext2D} */ (small.getContext('2d'));
    context.fillStyle = 'white';
    context.fillRect(0, 0, 4, 4);
    context.imageSmoothingQuality = 'high';
    context.drawImage(/** @type {HTMLCanvasElement} */ (canvas), 0, 0, 4, 4);
    const { data } = context.getImageData(0, 0, 4, 4);
    const shade = (/** @type {number} */ i) => Math.floor((data[i] + data[i + 1] + data[i + 2]) / 96);
    return Array.from({ length: 16 }, (_, i) => shade(4 * i)).join('');
  };
  const canvases = all.filter((one) => one.localName === 'canvas');
  const drawings = all.filter((one) => one.localName === 'svg' && !one.parentElement?.closest('svg'));
  return [
    list('hidden', all.filter((one) => one.closest('[aria-hidden=true]')).map(own)),
    list(
      'titles',
      all.map((one) => one.getAttribute('title')),
    ),
    list('canvases', canvases.map(shadesOf)),
    ...drawings.map((svg) => {
      /** @type {Record<string, number>} */
      const shapes = {};
      for (const { localName } of svg.querySelectorAll('path, rect, circle, line, text'))
        shapes[localName] = (shapes[localName] ?? 0) + 1;
      return list(
        `drawing ${svg.getAttribute('class') ?? ''}`.trim(),
        Object.entries(shapes).map(([kind, count]) => `${count} ${kind}`),
      );
    }),
  ].join('\n');
};

/** Returns a description of a part of the page. @param {string} selector */
async function readPart(selector) {
  const around = page.locator(selector).first();
  // The last announcement is removed, because it depends on the previous state.
  const said = (await around.ariaSnapshot()).replace(/^( *- status): .*$/gm, '$1').replaceAll(server.url, 'SITE/');
  return `${said}\n---\n${await around.evaluate(drawnIn)}\n`;
}

/** Reads a part until the text satisfies a condition, or until the page has had enough time for late results. */
async function readUntil(selector, isWanted) {
  for (let last = '', tries = 1; ; tries++) {
    const text = await readPart(selector);
    if (isWanted(text, last) || tries === MOST) return text;
    last = text;
    await page.evaluate((pause) => new Promise((done) => setTimeout(done, pause)), PAUSE);
  }
}

/**
 * Fails unless a part of the page has the roles, names, states and texts of tests/golden/shown/NAME.yaml. With
 * HEADLIGHT_SHOWN=write it writes that file instead; read the diff before you commit the file.
 * @param {string} name
 * @param {string} [selector] of the part
 */
export async function assertShown(name, selector = '.page') {
  const folder = join(GOLDEN, 'shown');
  const file = join(folder, `${name}.yaml`);
  if (process.env.HEADLIGHT_SHOWN === 'write') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, await readUntil(selector, (text, last) => text === last));
  }
  assert.ok(existsSync(file), `${file} is missing: HEADLIGHT_SHOWN=write writes it`);
  const wanted = readFileSync(file, 'utf8');
  const shown = await readUntil(selector, (text) => text === wanted);
  if (shown !== wanted) assert.fail(`${name} is shown differently:\n${changesOf(wanted, shown)}`);
}

/** Returns the lines that only one of two texts has, with - and +. @param {string} wanted @param {string} shown */
function changesOf(wanted, shown) {
  const [old, now] = [wanted.split('\n'), shown.split('\n')];
  const only = (lines, others, sign) => lines.filter((line) => !others.includes(line)).map((line) => sign + line);
  return [...only(old, now, '- '), ...only(now, old, '+ ')].join('\n') || 'the same lines in another order';
}
