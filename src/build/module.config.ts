// rolldown's configuration for the module. Without groups, rolldown would write a file for each set of entries that
// share code. With them, the code that load() needs is in a few files: `check` is all that a learning-rate schedule
// needs, `base` is shared by all entries, `core` is attention, `layers` is layers, training and models, and `threads`
// is code for more than one thread. Code that is needed later has its own files.

import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { defineConfig, type OutputAsset, type OutputChunk, type Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import type { ESTree } from 'rolldown/utils';
import { minify } from './plugins.ts';

const SOURCES = resolve('src/js');
const IMPORT = /^(?:import|export)\b(?! type\b)(?:[^'";]*?\bfrom)?\s*'(\.[^']+)'/gm;

/** Returns some files and all that they import, directly or through others; not the files that they load later. */
function importedBy(...paths: string[]) {
  const found: Set<string> = new Set();
  const follow = (path: string) => {
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
}).map(([name, files], i) => ({ name, test: (id: string) => files.has(id), priority: 5 - i }));

/**
 * A call of the function that makes a namespace. Its argument has a function for each export: { name: () => value }.
 */
type Namespace = { start: number; end: number; fields: [string, string][] };

/** Reads a call of `helper`. Returns null if an expression is something else. */
function readNamespace(node: ESTree.Expression | null | undefined, helper: string, code: string): Namespace | null {
  if (node?.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.callee.name !== helper) return null;
  const [exported] = node.arguments;
  if (exported?.type !== 'ObjectExpression') return null;
  const fields = exported.properties.map((property): [string, string] => {
    if (property.type !== 'Property' || property.value.type !== 'ArrowFunctionExpression')
      throw new Error(`${helper} got an unknown property at ${property.start}`);
    const { key, value } = property;
    return [code.slice(key.start, key.end), code.slice(value.body.start, value.body.end)];
  });
  return { start: node.start, end: node.end, fields };
}

/**
 * Writes the namespaces of dynamic imports as plain objects, which are shorter, if what they export is defined before
 * them. Returns undefined if that is not so.
 * @param helper name of the function that makes a namespace
 */
function withPlainNamespaces(code: string, helper: string) {
  /** Where each name can first be read. */
  const defined: Map<string, number> = new Map();
  const calls: Namespace[] = [];
  for (const statement of parseAst(code).body) {
    if (statement.type === 'FunctionDeclaration' && statement.id) defined.set(statement.id.name, 0);
    if (statement.type !== 'VariableDeclaration') continue;
    for (const { id, init } of statement.declarations) {
      if (id.type === 'Identifier') defined.set(id.name, init?.end ?? 0);
      const call = readNamespace(init, helper, code);
      if (call) calls.push(call);
    }
  }
  const isDefined = (name: string, at: number) => (defined.get(name) ?? Number.POSITIVE_INFINITY) <= at;
  // The minifier writes a namespace that is read once into the expression that reads it.
  if (calls.length === 0) return undefined;
  if (!calls.every(({ fields, start }) => fields.every(([, name]) => isDefined(name, start)))) return undefined;
  for (const { start, end, fields } of calls.reverse()) {
    const object = `{${fields.map((field) => field.join(':'))}}`;
    // Spaces keep the columns of the source map.
    code = code.slice(0, start) + object.padEnd(end - start) + code.slice(end);
  }
  return code;
}

/** Copies rolldown's helper into the files that need it. A separate file for it would need one more request. */
const inlineRuntime: Plugin = {
  name: 'inline-runtime',
  generateBundle(_, files) {
    const path = Object.keys(files).find((name) => /\/rolldown-runtime-[\da-f]+\.js$/.test(name));
    if (!path) return;
    const runtime = files[path] as OutputChunk;
    const parts = /^([^]*)export\{(\w+)(?: as (\w+))?\};?\s*$/.exec(runtime.code);
    if (!parts) throw new Error(`${path} does not end with one export`);
    const [, body, value, name] = parts;
    for (const [file, chunk] of Object.entries(files)) {
      if (chunk.type !== 'chunk') continue;
      const line = new RegExp(`^import\\{${name ?? value} as (\\w+)\\}from"\\./${basename(path)}";`).exec(chunk.code);
      if (!line) continue;
      const plain = withPlainNamespaces(chunk.code, line[1]);
      if (plain) {
        chunk.code = ' '.repeat(line[0].length) + plain.slice(line[0].length);
        continue;
      }
      const helper = `const ${line[1]}=/*@__PURE__*/(()=>{${body.trim()}return ${value}})();\n`;
      chunk.code = helper + ' '.repeat(line[0].length) + chunk.code.slice(line[0].length);
      const map = files[`${file}.map`] as OutputAsset;
      const { mappings, ...rest } = JSON.parse(String(map.source));
      map.source = JSON.stringify({ ...rest, mappings: `;${mappings}` });
    }
    delete files[path];
  },
};

export default defineConfig({
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
});
