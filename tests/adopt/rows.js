// The rows of the table of platforms, in order. Each row is a folder in tests/adopt/rows with package.json, which lists
// the dependencies, the program, and row.js, which describes how the program is run.

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
  'next-server',
  'sveltekit',
  'vue',
  'vitest',
  'jest',
  'transformers',
  'typescript',
];

/**
 * @typedef {object} Row
 * @property {string} name of the row's folder
 * @property {string} title where the package runs
 * @property {string} what the row runs, such as `import` and `require`
 * @property {'yes' | 'no' | '—'} threads the expected result: whether threads start, or — if the platform has no
 * threads
 * @property {'yes' | 'no' | '—'} view whether the page shows `headlight-attention/view`, or — if the platform has no
 * page
 * @property {string} note what a user must know or do
 * @property {boolean} [quick] true if the dependencies of the row are installed for the tests anyway
 * @property {(place: import('./place.js').Place) => Promise<void>} run throws if the row does not work
 */

/** @type {Row[]} */
export const rows = await Promise.all(
  NAMES.map(async (name) => ({ name, ...(await import(`./rows/${name}/row.js`)).default })),
);

/**
 * Returns the table in Markdown.
 * @param {Row[]} shown
 * @param {Record<string, string>} [failed] reasons, by name of the row
 */
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
