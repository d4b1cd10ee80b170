// Tests build.sh and src/build/Makefile: which files are rebuilt after a change, messages about missing tools, and the
// help.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { BUILD } from '../../dist/abi/abi.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const newerNode = join(root, 'node_modules/node/bin/node');
const folder = mkdtempSync(join(tmpdir(), 'headlight-make-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (command, ...args) => spawnSync(command, args, { cwd: root, encoding: 'utf8' });
/** Returns the commands that make would run. */
function plan(...args) {
  const { stdout, stderr, status } = run('make', '-n', '-f', 'src/build/Makefile', ...args);
  assert.equal(status, 0, stderr);
  return stdout;
}
const compiled = (text) =>
  [...text.matchAll(/-c (?:src\/core\/)?(\S+\.c) -o dist\/obj\/simd128\//g)].map(([, name]) => name);
const read = (path) => readFileSync(join(root, path), 'utf8');

test('a change of a header rebuilds the files that include it, and no others', () => {
  const readers = readdirSync(join(root, 'dist/obj/simd128'), { recursive: true })
    .filter((name) => name.endsWith('.d') && read(`dist/obj/simd128/${name}`).includes('kernels/dropout.h'))
    .map((name) => name.replace(/d$/, 'c'))
    // dist may still contain objects of sources that have been renamed.
    .filter((name) => existsSync(join(root, 'src/core', name)));
  assert.ok(readers.includes('kernels/dropout.c') && !readers.includes('base/tensor.c'));
  assert.deepEqual(compiled(plan('-W', 'src/core/kernels/dropout.h', 'core')).sort(), readers.sort());
});

test('a change of a C source rebuilds every binary and the page', () => {
  const text = plan('-W', 'src/core/base/tensor.c', 'page');
  assert.deepEqual(compiled(text), ['base/tensor.c']);
  for (const name of ['relaxed', 'relaxed-threads', 'simd128', 'simd128-threads'])
    assert.match(text, new RegExp(`-o dist/headlight\\.${name}\\.wasm`));
  assert.match(text, /--outfile=dist\/headlight\.inline\.js/);
});

test('a change of a script does not rebuild the core', () => {
  const text = plan('-W', 'src/js/index.ts', 'page');
  assert.deepEqual(compiled(text), []);
  assert.match(text, /rolldown -c src\/build\/module\.config\.ts/);
  assert.doesNotMatch(text, /headlight\.simd128\.wasm$/m);
});

test('without a compiler for relaxed SIMD no relaxed binary is built', () => {
  const text = plan('-B', '-o', 'dist/obj/toolchain.mk', 'RELAXED_EMCC=', 'page', 'peak');
  assert.match(text, /-o dist\/headlight\.simd128-threads\.wasm/);
  assert.doesNotMatch(text, /-o \S*relaxed|cp .*relaxed/);
  assert.match(text, /src\/build\/abi\.ts .*RELAXED=0/);
});

test('a binary with threads imports the memory that the module provides', () => {
  const module = new WebAssembly.Module(readFileSync(join(root, 'dist/headlight.simd128-threads.wasm')));
  const pages = BUILD.MEMORY / 65536;
  const open = (initial) => {
    const memory = new WebAssembly.Memory({ initial, maximum: 65536, shared: true });
    return new WebAssembly.Instance(module, { env: { memory }, host: { watch() {} } });
  };
  assert.ok(open(pages).exports.__stack_pointer.value >= BUILD.STACK);
  assert.throws(() => open(pages - 1), WebAssembly.LinkError);
});

/** Builds the module without relaxed SIMD, with the binaries for plain SIMD in the same folder. */
async function buildPlain(entry, name, options) {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  const abi = read('dist/abi/abi.js');
  assert.ok(abi.includes('"RELAXED":1'));
  writeFileSync(join(place, 'abi.js'), abi.replace('"RELAXED":1', '"RELAXED":0'));
  for (const file of ['headlight.simd128.wasm', 'headlight.simd128-threads.wasm'])
    cpSync(join(root, 'dist', file), join(place, file));
  const without = {
    name: 'without relaxed SIMD',
    setup: ({ onResolve }) => onResolve({ filter: /abi\/abi\.js$/ }, () => ({ path: join(place, 'abi.js') })),
  };
  const outfile = join(place, 'module.js');
  const entryPoints = [join(root, entry)];
  await build({
    absWorkingDir: root,
    entryPoints,
    bundle: true,
    format: 'esm',
    outfile,
    plugins: [without],
    ...options,
  });
  return place;
}

const PROGRAM = `
  const { load } = await import('./module.js');
  const plain = [(await load()).info, (await load({ simd: 'auto', threads: 2 })).info];
  const refused = await load({ simd: 'relaxed' }).catch((error) => [error.code, error.parameter, error.message]);
  const said = { simd: plain.map(({ simd }) => simd), threads: plain[1].threads, refused };
  process.stdout.write(JSON.stringify(said), () => process.exit());
`;

for (const [name, entry, options, threads] of [
  ['the module', 'src/js/load/node.ts', { platform: 'node', loader: { '.py': 'text' } }, 2],
  [
    'the inline module',
    'src/js/load/inline.ts',
    {
      target: 'es2022',
      loader: { '.wasm': 'binary', '.py': 'text' },
      alias: { 'headlight-attention/headlight.relaxed.wasm': './src/js/load/none.ts' },
    },
    1,
  ],
]) {
  test(`${name} of a build without relaxed SIMD uses the plain core on an engine with relaxed SIMD`, async () => {
    const place = await buildPlain(entry, name, options);
    writeFileSync(join(place, 'use.mjs'), PROGRAM);
    const { stdout, stderr } = spawnSync(newerNode, ['use.mjs'], { cwd: place, encoding: 'utf8' });
    assert.deepEqual(
      JSON.parse(stdout || '{}'),
      {
        simd: ['simd128', 'simd128'],
        threads,
        refused: ['LOAD', 'simd', "load: simd is 'relaxed', but this build has no relaxed SIMD; use 'auto'"],
      },
      stderr,
    );
  });
}

/** Runs a script in which the functions of setup.sh are defined. */
const inSetup = (script) => run('bash', '--norc', '-euc', `node=node; source src/build/setup.sh; ${script}`);

test('one message names all missing tools that cannot be installed', () => {
  const { status, stdout, stderr } = inSetup(
    'can_install() { false; }; absent() { false; }; need absent "one two" has_make make absent three',
  );
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.equal(
    stderr,
    'headlight: please install one two three ' +
      '(on Debian and Ubuntu: sudo apt install one two three), then run this again\n',
  );
});

test('the path of Node may contain a space', () => {
  const path = join(folder, 'a space é', 'node');
  const commands = plan('-B', 'page', 'docs', `NODE=${path}`)
    .split('\n')
    .filter((line) => line.includes(path));
  assert.ok(commands.length > 6, `${commands.length}`);
  for (const command of commands) assert.ok(command.includes(`"${path}" `), command);
});

test('an installation waits for a lock that another program holds', () => {
  const { status, stdout } = inSetup('apt-get() { echo "$@"; }; install_packages one two');
  assert.equal(status, 0);
  assert.match(stdout, /-o DPkg::Lock::Timeout=\d{3} install .* one two$/m);
});

test('the emcc of the relaxed flavours works in a folder whose name has a space and an é', {
  skip: !/^RELAXED_EMCC = \S+=/m.test(read('dist/obj/toolchain.mk')) && 'emcc supports relaxed SIMD itself',
}, () => {
  const place = join(folder, 'a space é');
  mkdirSync(join(place, 'src/build'), { recursive: true });
  cpSync(join(root, 'src/build/setup.sh'), join(place, 'src/build/setup.sh'));
  writeFileSync(join(place, 'Makefile'), 'include dist/obj/toolchain.mk\nversion: ; @$(RELAXED_EMCC) --version\n');
  const script = 'node=node; source src/build/setup.sh; find_toolchain; make version';
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euc', script], { cwd: place, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^emcc/);
});

test('with an older Node the error names the required version', () => {
  const { status, stderr } = inSetup('has_node() { false; }; setup');
  assert.equal(status, 1);
  assert.equal(stderr, 'headlight: please install Node 20 or newer with npm\n');
});

test('the help lists every verb, and an unknown verb gives the help and an error', () => {
  const verbs = [...read('build.sh').matchAll(/^verb_(\w+)\(\)/gm)].map(([, verb]) => verb.replaceAll('_', '-'));
  const { stdout, status } = run('./build.sh', 'help');
  assert.equal(status, 0);
  assert.deepEqual(
    [...stdout.matchAll(/^ {2}(\S+) {2,}\S/gm)].map(([, verb]) => verb),
    verbs,
  );
  for (const asked of [['--help'], ['start', '--help'], ['help', '-h']]) {
    const told = run('./build.sh', ...asked);
    assert.deepEqual([told.status, told.stderr, told.stdout], [0, '', stdout]);
  }
  const unknown = run('./build.sh', 'biuld');
  assert.deepEqual([unknown.status, unknown.stderr, unknown.stdout], [1, stdout, '']);
});
