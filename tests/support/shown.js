// Compares the structure, numbers and drawings of a part of the page with those in tests/golden/shown. The wording of a
// text is not compared, so that a new wording changes no file.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOLDEN } from './golden.js';
import { page, server } from './page.js';

/** Milliseconds between two readings, and the maximum number of readings of a page that differs. */
const [PAUSE, MOST] = [200, 50];

/** Returns the texts that a screen reader does not read, the tooltips, and descriptions of the drawings. */
const drawnIn = (/** @type {Element} */ around) => {
  const all = [...around.querySelectorAll('*')].filter((one) => one.checkVisibility({ visibilityProperty: true }));
  const own = (/** @type {Element} */ one) =>
    [...one.childNodes].map((node) => (node.nodeType === 3 ? node.nodeValue : '')).join('');
  const filled = (/** @type {(string | null)[]} */ texts) => texts.map((text) => text?.trim()).filter(Boolean);
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
  const shapesIn = (/** @type {Element} */ svg) => {
    /** @type {Record<string, number>} */
    const shapes = {};
    for (const { localName } of svg.querySelectorAll('path, rect, circle, line, text'))
      shapes[localName] = (shapes[localName] ?? 0) + 1;
    return Object.entries(shapes).map(([kind, count]) => `${count} ${kind}`);
  };
  const describe = (/** @type {Element} */ svg) =>
    `${`drawing ${svg.getAttribute('class') ?? ''}`.trim()}: ${shapesIn(svg).join(' | ')}`;
  return {
    hidden: filled(all.filter((one) => one.closest('[aria-hidden=true]')).map(own)),
    titles: filled(all.map((one) => one.getAttribute('title'))),
    drawings: [`canvases: ${canvases.map(shadesOf).join(' | ')}`, ...drawings.map(describe)],
  };
};

const numbersIn = (/** @type {string} */ text) => (text.match(/[<−-]?\d+(?:[.,]\d+)*%?/g) ?? []).join(' ');

/**
 * Returns the role, states and numbers in a line of an ARIA snapshot, with its indentation. The line is
 * `- role "name" [state]: text`, and may be quoted up to the colon.
 */
function structureOf(/** @type {string} */ line) {
  const [, indent, role, rest] = /** @type {RegExpExecArray} */ (/^( *)- '?([\w/]+)(.*)$/.exec(line));
  if (role === '/url') return `${indent}- ${role}${rest}`;
  const [, name, states, text] = /** @type {RegExpExecArray} */ (
    /^( "(?:[^"\\]|\\.)*")?((?: \[[^\]]*\])*)'?(.*)$/.exec(rest)
  );
  // The last announcement depends on the previous state.
  const numbers = role === 'status' ? '' : numbersIn(`${name ?? ''} ${text}`);
  return [`${indent}- ${role}${states}`, numbers].filter(Boolean).join(': ');
}

/** Returns a description of a part of the page. @param {string} selector */
async function readPart(selector) {
  const around = page.locator(selector).first();
  const said = (await around.ariaSnapshot()).replaceAll(server.url, 'SITE/').split('\n').map(structureOf);
  const { hidden, titles, drawings } = await around.evaluate(drawnIn);
  const texts = [`hidden: ${hidden.length} texts: ${numbersIn(hidden.join(' '))}`, `titles: ${titles.length}`];
  return `${[...said, '---', ...texts, ...drawings].join('\n')}\n`;
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
 * Fails unless a part of the page has the roles, states, numbers and shapes of tests/golden/shown/NAME.yaml. With
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
