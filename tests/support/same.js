// Compares values with those in tests/golden/layouts.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOLDEN } from './golden.js';

const rounded = (_, x) => {
  if (x instanceof Map) return [...x];
  if (typeof x !== 'number') return x;
  return Number.isFinite(x) ? Number(x.toFixed(3)) : String(x);
};
const inShort = (text) =>
  text.replace(/-?\d+\.\d+/g, (number) => String(Number(Number(number).toFixed(2)))).replaceAll('-0 ', '0 ');

/**
 * Fails unless the values, by name, are those of tests/golden/layouts/NAME.json, rounded to a hundredth of a pixel.
 * With HEADLIGHT_SHOWN=write it writes that file instead; read the diff before you commit the file.
 * @param {string} name
 * @param {Record<string, unknown>} values
 */
export function assertSame(name, values) {
  const folder = join(GOLDEN, 'layouts');
  const file = join(folder, `${name}.json`);
  const lines = Object.entries(values).map(([key, value]) => `"${key}": ${inShort(JSON.stringify(value, rounded))}`);
  const text = `{\n${lines.join(',\n')}\n}\n`;
  if (process.env.HEADLIGHT_SHOWN === 'write') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  }
  assert.ok(existsSync(file), `${file} is missing: HEADLIGHT_SHOWN=write writes it`);
  assert.deepEqual(JSON.parse(text), JSON.parse(readFileSync(file, 'utf8')));
}
