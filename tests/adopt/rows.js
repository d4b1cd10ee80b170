// The rows of the table of platforms, in order. Each is a folder of tests/adopt/rows: package.json with its
// dependencies, the program, and row.js, which describes how it is run.

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
 * @property {string} title where the package runs
 * @property {string} what is run
 * @property {'yes' | 'no' | '—'} threads the expected result: if threads start; — if they are not available
 * @property {'yes' | 'no' | '—'} view if `headlight-attention/view` is shown
 * @property {string} note what a user must know or do
 * @property {boolean} [quick] its dependencies are installed for the tests anyway
 * @property {(place: import('./place.js').Place) => Promise<void>} run throws if the row does not work
 */

/** @type {Row[]} */
export const rows = await Promise.all(
  NAMES.map(async (name) => ({ name, ...(await import(`./rows/${name}/row.js`)).default })),
);

/** The lines of the table in Markdown. @param {Row[]} shown @param {Record<string, string>} [failed] why, by name */
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
