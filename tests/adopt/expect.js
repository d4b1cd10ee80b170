// The output that the programs of the rows must print.

import assert from 'node:assert/strict';

const COMPUTED = { shape: [1, 200, 128], rows: true, formats: true, same: true };
/**
 * Expected `view` of a page with a heatmap and the demo model: the number of `.figure` elements of the heatmap and of
 * heads.
 */
export const BOTH = [3, 20];
/** Expected `view` of a page with a heatmap only. */
export const HEATMAP = [3];

/**
 * @param {any} said
 * @param {{ threads?: number, view?: number[], note?: RegExp }} [expected]
 */
export function expectComputed({ threads, note, view, ...said }, expected = {}) {
  assert.deepEqual(said, COMPUTED);
  assert.equal(threads, expected.threads ?? 2, note);
  assert.match(note, expected.note ?? /^$/);
  assert.deepEqual(view, expected.view);
}

/** Returns the last line that a program printed. @param {string} stdout */
export const lastLine = (stdout) => JSON.parse(stdout.trim().split('\n').at(-1) ?? '');

/** Returns the row of a version of Node. @param {number} version @param {string} [note] */
export const nodeRow = (version, note = '') => ({
  title: `Node ${version}`,
  what: '`import`, `require`',
  threads: 'yes',
  view: '—',
  note,
  async run(/** @type {import('./place.js').Place} */ place) {
    assert.match(await place.run(place.bin('node'), ['--version']), new RegExp(`^v${version}\\.`));
    for (const program of ['print.js', 'use.cjs'])
      expectComputed(lastLine(await place.run(place.bin('node'), [program])));
  },
});
