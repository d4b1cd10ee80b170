// The rows of the table of adoption in their order. Each is a folder of tests/adopt/rows: package.json with what it
// installs, the program, and row.js, which says what is done with it.

const NAMES = [
  'node20',
  'node22',
  'node24',
  'bun',
  'deno',
  'static',
  'isolated',
  'origin',
  'module-worker',
  'service-worker',
  'vite',
  'webpack',
  'rollup',
  'rolldown',
  'esbuild',
  'parcel',
  'react',
  'next',
  'sveltekit',
  'vue',
  'vitest',
  'jest',
  'transformers',
  'typescript',
];

/**
 * @typedef {object} Row
 * @property {string} name of its folder
 * @property {string} title where the package is used
 * @property {string} what is done there
 * @property {'yes' | 'no' | '—'} threads what is expected: whether they start, — where there are none to ask for
 * @property {'yes' | 'no' | '—'} view whether `headlight-attention/view` is shown
 * @property {string} note what one has to know or to do
 * @property {boolean} [quick] what it installs is installed for the tests anyway
 * @property {(place: import('./place.js').Place) => Promise<void>} run throws where it does not work
 */

/** @type {Row[]} */
export const rows = await Promise.all(
  NAMES.map(async (name) => ({ name, ...(await import(`./rows/${name}/row.js`)).default })),
);

/** The lines of the table. @param {Row[]} shown @param {Record<string, string>} [failed] why, by name */
export function makeTable(shown, failed = {}) {
  const cells = shown.map(({ name, title, what, threads, view, note }) => [
    title,
    what,
    ...(failed[name] ? ['**no**', '', '', failed[name]] : ['yes', threads, view, note]),
  ]);
  const lines = [['where', 'what is run', 'works', 'threads', 'view', 'to know'], ...cells];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  const [head, ...body] = lines.map((line) => `| ${line.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`);
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n');
}
