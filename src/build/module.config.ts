// rolldown's configuration for the module. Without groups, rolldown would write a file for each set of entries that
// share code. With them, the code that load() needs is in a few files: `check` is all that a learning-rate schedule
// needs, `base` is shared by all entries, `core` is attention, `layers` is layers, training and models, and `threads`
// is code for more than one thread. Code that is needed later has its own files.

import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { minifySync } from 'rolldown/utils';
import { hideSource } from './hideSource.ts';

const SOURCES = resolve('src/js');
const IMPORT = /^(?:import|export)\b(?! type\b)(?:[^'";]*?\bfrom)?\s*'(\.[^']+)'/gm;

/** Returns some files and all that they import, directly or through others; not the files that they load later. */
function importedBy(...paths) {
  const found = new Set();
  const follow = (path) => {
    if (found.has(path) || !path.endsWith('.ts')) return;
    found.add(path);
    for (const [, name] of readFileSync(path, 'utf8').matchAll(IMPORT)) follow(join(dirname(path), name));
  };
  for (const path of paths) follow(join(SOURCES, path));
  return found;
}

/**
 * The groups. A file belongs to the first group that lists it. A bundler may include a whole file if a program uses one
 * export of the file, so learning-rate schedules are neither in `core` nor in `base`.
 */
const GROUPS = Object.entries({
  check: importedBy('ops/schedule.ts'),
  base: importedBy('check/tensorlike.ts', 'io/json.ts', 'io/safetensors.ts'),
  core: importedBy('load/load.ts', 'load/fetch.ts'),
  layers: importedBy('models/parts.ts'),
  threads: importedBy('load/threads.ts', 'load/browserThread.ts'),
}).map(([name, files], i) => ({ name, test: (id) => files.has(id), priority: 5 - i }));

/** Addresses of files, which the minifier writes as templates. Many bundlers find a file only if it is in quotes. */
const ADDRESS = /(\bimport\(|\bnew URL\()`([^`$\\"]*)`/g;
const MINIFY = { module: true, compress: { target: 'es2022' }, mangle: true, sourcemap: true };

/** Minifies a chunk. This is a plugin, because rolldown's own option minifies after all plugins. */
const minify = {
  name: 'minify',
  renderChunk(code, { fileName }) {
    const { code: short, map, errors } = minifySync(fileName, code, MINIFY);
    if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`);
    return { code: hideSource(short.replace(ADDRESS, '$1"$2"')), map };
  },
};

/**
 * Writes the namespaces of dynamic imports as plain objects, which are shorter, if what they export is defined before
 * them. Returns undefined if that is not so.
 * @param helper name of the function that makes a namespace
 */
function withPlainNamespaces(code: string, helper: string) {
  /** Where each name can first be read. */
  const defined = new Map();
  const calls = [];
  for (const statement of parseAst(code).body) {
    if (statement.type === 'FunctionDeclaration') defined.set(statement.id.name, 0);
    for (const { id, init } of statement.declarations ?? []) {
      if (id.type === 'Identifier') defined.set(id.name, init?.end ?? 0);
      if (init?.type === 'CallExpression' && init.callee.name === helper) calls.push(init);
    }
  }
  const fields = ({ arguments: [{ properties }] }) =>
    properties.map(({ key, value }) => [code.slice(key.start, key.end), value.body.name]);
  // The minifier writes a namespace that is read once into the expression that reads it.
  if (calls.length === 0) return undefined;
  if (!calls.every((call) => fields(call).every(([, name]) => defined.get(name) <= call.start))) return undefined;
  for (const { start, end, ...call } of calls.reverse()) {
    const object = `{${fields(call).map((field) => field.join(':'))}}`;
    // Spaces keep the columns of the source map.
    code = code.slice(0, start) + object.padEnd(end - start) + code.slice(end);
  }
  return code;
}

/** Copies rolldown's helper into the files that need it. A separate file for it would need one more request. */
const inlineRuntime = {
  name: 'inline-runtime',
  generateBundle(_, files) {
    const path = Object.keys(files).find((name) => /\/rolldown-runtime-[\da-f]+\.js$/.test(name));
    if (!path) return;
    const [, body, value, name] = /^([^]*)export\{(\w+)(?: as (\w+))?\};?\s*$/.exec(files[path].code);
    for (const [file, chunk] of Object.entries(files)) {
      const line = new RegExp(`^import\\{${name ?? value} as (\\w+)\\}from"\\./${basename(path)}";`).exec(chunk.code);
      if (!line) continue;
      const plain = withPlainNamespaces(chunk.code, line[1]);
      if (plain) {
        chunk.code = ' '.repeat(line[0].length) + plain.slice(line[0].length);
        continue;
      }
      const helper = `const ${line[1]}=/*@__PURE__*/(()=>{${body.trim()}return ${value}})();\n`;
      chunk.code = helper + ' '.repeat(line[0].length) + chunk.code.slice(line[0].length);
      const map = files[`${file}.map`];
      const { mappings, ...rest } = JSON.parse(map.source);
      map.source = JSON.stringify({ ...rest, mappings: `;${mappings}` });
    }
    delete files[path];
  },
};

export default {
  input: {
    'headlight.node': 'src/js/load/node.ts',
    headlight: 'src/js/load/browser.ts',
    formats: 'src/js/io/formats.ts',
    'analysis.node': 'src/js/analysis/analysis.node.ts',
    analysis: 'src/js/analysis/analysis.ts',
    onnx: 'src/js/onnx/onnx.ts',
    'hub.node': 'src/js/hub/hub.node.ts',
    hub: 'src/js/hub/hub.ts',
  },
  platform: 'neutral',
  external: /^node:/,
  moduleTypes: { '.py': 'text' },
  transform: { target: 'es2022' },
  preserveEntrySignatures: 'strict',
  plugins: [minify, inlineRuntime],
  checks: { ineffectiveDynamicImport: false, pluginTimings: false, bundlerTimings: false },
  logLevel: 'warn',
  output: {
    dir: 'dist',
    minify: false,
    format: 'esm',
    // For `./build.sh coverage`. The package has no source maps.
    sourcemap: 'hidden',
    chunkFileNames: 'parts/[name]-[hash:7].js',
    hashCharacters: 'hex',
    codeSplitting: { groups: GROUPS },
  },
};
