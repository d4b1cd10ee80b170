// Tests the package as users receive it: packed, installed in an empty folder, and used from Node, a page and bundlers.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test, { after, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { serve } from '../../src/build/server.ts';
import { pagesOf } from '../../web/docs/.vitepress/programPages.js';
import { launch } from '../support/chromium.js';
import { install } from '../support/install.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const newerNode = join(root, 'node_modules/node/bin/node');
const run = promisify(execFile);
/** Only the tests of bundlers need webpack. */
const webpack = createRequire(join(root, 'tests/adopt/package.json'))('webpack');

const PROGRAM = `
  const hl = await load();
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
  const { output } = layer.forward(hl.uniform([2, 3, 8], { seed: 1 }), { causal: true });
  const text = JSON.stringify({ shape: output.shape, finite: output.data.every(Number.isFinite), simd: hl.info.simd });
`;
/**
 * A program that checks that two threads give the same bits as one, for a computation large enough to be divided. It
 * also runs on the main thread of a page.
 */
const THREADED = `
  const [one, two] = await Promise.all([load(), load({ threads: 2 })]);
  const layerOf = (hl) => hl.multiHeadAttention({ embedDim: 128, numHeads: 4 });
  const bits = (hl) => layerOf(hl).forward(hl.uniform([1, 200, 128], { seed: 1 })).output.copy();
  const [a, b] = [bits(one), bits(two)];
  const { threads, threadsNote: note } = two.info;
  const text = JSON.stringify({ threads, note, same: a.every((x, i) => x === b[i]) });
  two.dispose();
`;
const checkThreads = (text) => assert.deepEqual(JSON.parse(text), { threads: 2, same: true });
const check = (text, simd) => assert.deepEqual(JSON.parse(text), { shape: [2, 3, 8], finite: true, simd });

const checkBoth = (text) => {
  const [plain, threaded] = JSON.parse(text);
  check(plain, 'relaxed');
  checkThreads(threaded);
};

describe('the package', () => {
  let folder, file, write, remove, names, browser;

  before(async () => {
    ({ folder, file, write, remove, names } = install(root));
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    remove?.();
  });

  /**
   * Opens a page in the folder under a Content-Security-Policy without unsafe-eval, and returns the results that the
   * page reports.
   */
  async function openPage(at, path = '', headers = {}) {
    const server = await serve({ root: at, headers });
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    const faults = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    try {
      await page.goto(server.url + path);
      await page
        .waitForFunction(() => document.body.dataset.said, undefined, { timeout: 120_000 })
        .catch((error) => assert.fail(`${error.message} ${faults.join('; ')}`));
      return await page.evaluate(() => document.body.dataset.said);
    } finally {
      await page.close();
      await server.close();
    }
  }
  const page = (script) =>
    `<!doctype html><meta charset="utf-8"><title>test</title><body><script type="module" src="${script}"></script>`;

  test('contains the bundles, every binary, the types, the header, the documents, and nothing else', () => {
    assert.deepEqual(names.filter((name) => !/^dist\/(types|parts|view)\//.test(name)).sort(), [
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'dist/abi/abi.d.ts',
      'dist/analysis.js',
      'dist/analysis.node.js',
      'dist/formats.js',
      'dist/headlight.html',
      'dist/headlight.inline.js',
      'dist/headlight.js',
      'dist/headlight.node.js',
      'dist/headlight.relaxed-threads.wasm',
      'dist/headlight.relaxed.wasm',
      'dist/headlight.simd128-threads.wasm',
      'dist/headlight.simd128.wasm',
      'dist/headlight.worker.js',
      'dist/hub.js',
      'dist/hub.node.js',
      'dist/licences.txt',
      'dist/llms.txt',
      'dist/onnx.js',
      'dist/sbom.cdx.json',
      'dist/view.js',
      'dist/view.worker.js',
      'dist/whale.passages.txt',
      'dist/whale.safetensors',
      'dist/whale.tokenizer.json',
      'headlight.py',
      'package.json',
      'src/core/README.md',
      'src/core/headlight.h',
      'tests/bench/models.md',
      'tests/bench/results.md',
      ...pagesOf(join(root, 'web/docs')).map((name) => `web/docs/${name}`),
    ]);
    assert.ok(names.filter((name) => name.startsWith('dist/types/')).every((name) => name.endsWith('.d.ts')));
    for (const folder of ['dist/parts/', 'dist/view/'])
      assert.ok(names.filter((name) => name.startsWith(folder)).every((name) => /^[\w/-]+\.js$/.test(name)));
  });

  test('no type refers to a file that is not in it', () => {
    for (const name of names.filter((name) => name.endsWith('.d.ts'))) {
      const text = readFileSync(file('node_modules/headlight-attention', name), 'utf8');
      for (const [, path] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)) {
        const target = join(name, '..', path).replace(/\.[jt]s$/, '.d.ts');
        assert.ok(names.includes(target), `${name} refers to ${path}`);
      }
    }
  });

  test('installs without dependencies', () => {
    assert.deepEqual(
      readdirSync(file('node_modules')).filter((name) => !name.startsWith('.')),
      ['headlight-attention'],
    );
  });

  const here = WebAssembly.validate(readFileSync(join(root, 'dist/headlight.relaxed.wasm'))) ? 'relaxed' : 'simd128';
  for (const [name, node, simd] of [
    ['this Node', process.execPath, here],
    ['Node 24', newerNode, 'relaxed'],
  ]) {
    test(`runs in ${name}`, async () => {
      write('use.js', `import { load } from 'headlight-attention'; ${PROGRAM} console.log(text);`);
      check((await run(node, ['use.js'], { cwd: folder })).stdout, simd);
      write(
        'inline.js',
        `import { load } from 'headlight-attention/inline';
        import { readNpy, writeNpy } from 'headlight-attention/formats'; ${PROGRAM}
        if (readNpy(writeNpy({ data: Float32Array.of(5), shape: [1] })).data[0] !== 5) throw new Error('formats');
        console.log(text);`,
      );
      check((await run(node, ['inline.js'], { cwd: folder })).stdout, simd);
    });
  }

  test('can be loaded with require if Node supports it, and its binaries can be resolved', async () => {
    write(
      'use.cjs',
      `const { load } = require('headlight-attention'); const fs = require('node:fs');
      for (const flavour of ['simd128', 'relaxed'])
        if (!fs.existsSync(require.resolve('headlight-attention/headlight.' + flavour + '.wasm')))
          throw new Error('wasm');
      (async () => { ${PROGRAM} console.log(text); })();`,
    );
    check((await run(newerNode, ['use.cjs'], { cwd: folder })).stdout, 'relaxed');
  });

  test('the files for browsers use no module of Node', () => {
    /** Returns the files that a file imports, directly or indirectly, statically or dynamically. */
    const reached = (name, found = new Set()) => {
      if (found.has(name)) return found;
      found.add(name);
      const text = readFileSync(file('node_modules/headlight-attention/dist', name), 'utf8');
      for (const [, path] of text.matchAll(/(?:from|import) ?\(?"(\.[^"]+\.js)"/g))
        reached(join(name, '..', path), found);
      return found;
    };
    const named = [
      'headlight',
      'headlight.worker',
      'headlight.inline',
      'formats',
      'analysis',
      'onnx',
      'view',
      'view.worker',
    ];
    const entries = named.map((name) => `${name}.js`);
    const files = new Set(entries.flatMap((name) => [...reached(name)]));
    assert.ok(files.size > entries.length + 2, 'the chunks are included');
    for (const name of files)
      assert.doesNotMatch(
        readFileSync(file('node_modules/headlight-attention/dist', name), 'utf8'),
        /["']node:|require\(|process\./,
        name,
      );
  });

  test('runs in a page without a bundler, and inline', async () => {
    for (const entry of ['headlight.js', 'headlight.inline.js']) {
      write(
        'page.js',
        `import { load } from './node_modules/headlight-attention/dist/${entry}'; ${PROGRAM}
        document.body.dataset.said = text;`,
      );
      write('index.html', page('page.js'));
      check(await openPage(folder), 'relaxed');
    }
  });

  test('runs on threads in Node and in a page; in a page without isolation the note has the reason', async () => {
    write('threads.js', `import { load } from 'headlight-attention'; ${THREADED} console.log(text);`);
    for (const node of [process.execPath, newerNode])
      checkThreads((await run(node, ['threads.js'], { cwd: folder })).stdout);
    write(
      'threads-page.js',
      `import { load } from './node_modules/headlight-attention/dist/headlight.js';
      ${THREADED} document.body.dataset.said = text;`,
    );
    write('index.html', page('threads-page.js'));
    checkThreads(await openPage(folder));
    const { threads, note, same } = JSON.parse(
      await openPage(folder, '', { 'Cross-Origin-Opener-Policy': 'unsafe-none' }),
    );
    assert.deepEqual({ threads, same }, { threads: 1, same: true });
    assert.match(note, /Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp/);
  });

  test('continues with one thread if the file of the worker is missing', async () => {
    for (const name of ['headlight.js', 'parts', 'headlight.relaxed.wasm', 'headlight.relaxed-threads.wasm'])
      cpSync(file('node_modules/headlight-attention/dist', name), file('alone', name), { recursive: true });
    write('alone/main.js', `import { load } from './headlight.js'; ${THREADED} document.body.dataset.said = text;`);
    write('alone/index.html', page('main.js'));
    const { threads, note, same } = JSON.parse(await openPage(file('alone')));
    assert.deepEqual({ threads, same }, { threads: 1, same: true });
    assert.match(note, /a worker did not start: .*headlight\.worker\.js/);
  });

  test('runs bundled by esbuild, with copies of the binaries and the worker next to the bundle', async () => {
    write(
      'app/main.js',
      `import { load } from 'headlight-attention';
      const said = [];
      { ${PROGRAM} said.push(text); }
      { ${THREADED} said.push(text); }
      document.body.dataset.said = JSON.stringify(said);`,
    );
    await esbuild({
      entryPoints: [file('app/main.js')],
      bundle: true,
      format: 'esm',
      outfile: file('esbuild/main.js'),
      logLevel: 'error',
    });
    for (const name of names.filter((name) => /\.wasm$|worker\.js$/.test(name)))
      cpSync(file('node_modules/headlight-attention', name), file(name.replace('dist', 'esbuild')));
    write('esbuild/index.html', page('main.js'));
    checkBoth(await openPage(file('esbuild')));
  });

  test('runs bundled by Vite, which copies the binaries', async () => {
    write('app/index.html', page('./main.js'));
    await vite({
      root: file('app'),
      base: './',
      logLevel: 'error',
      configFile: false,
      build: { outDir: file('vite'), emptyOutDir: true, target: 'es2022' },
    });
    assert.ok(readdirSync(file('vite/assets')).some((name) => name.endsWith('.wasm')));
    checkBoth(await openPage(file('vite')));
  });

  test('runs bundled by webpack, which copies the binaries', async () => {
    const stats = await promisify(webpack)({
      mode: 'production',
      context: folder,
      entry: './app/main.js',
      target: 'web',
      devtool: false,
      output: { path: file('webpack'), publicPath: 'auto', module: true, filename: 'main.js' },
      experiments: { outputModule: true },
    });
    assert.deepEqual(stats.toJson({ errors: true, warnings: true }).errors, []);
    assert.ok(readdirSync(file('webpack')).some((name) => name.endsWith('.wasm')));
    write('webpack/index.html', page('main.js'));
    checkBoth(await openPage(file('webpack')));
  });

  /** Shows a heatmap of weights, which needs no worker, and all heads of the demo model, which need a worker. */
  const VIEWS = `
    const element = () => document.body.appendChild(document.createElement('div'));
    const attentions = [[1, 0, 0], [0.2, 0.8, 0], [0.1, 0.6, 0.3]];
    const [head, heads] = [{ attentions, view: 'head' }, { view: 'heads' }].map((options) => mount(element(), options));
    await Promise.all([head.ready, heads.ready]);
    const roots = [...document.body.children].map(({ firstChild }) => firstChild?.shadowRoot).filter(Boolean);
    const [figures, thumbnails] = ['.figure', '.thumbnail'].map((name, i) => roots[i].querySelectorAll(name));
    document.body.dataset.said = JSON.stringify([figures.length, thumbnails.length]);
  `;
  const shown = '[3,20]';

  test('the view runs in a page without a bundler', async () => {
    write('view.js', `import { mount } from './node_modules/headlight-attention/dist/view.js'; ${VIEWS}`);
    write('index.html', page('view.js'));
    assert.equal(await openPage(folder), shown);
  });

  test('the view runs bundled by Vite and by webpack, which copy its worker', async () => {
    write('view/main.js', `import { mount } from 'headlight-attention/view'; ${VIEWS}`);
    write('view/index.html', page('./main.js'));
    await vite({
      root: file('view'),
      base: './',
      logLevel: 'error',
      configFile: false,
      build: { outDir: file('view-vite'), emptyOutDir: true, target: 'es2022' },
    });
    assert.equal(await openPage(file('view-vite')), shown);
    const stats = await promisify(webpack)({
      mode: 'production',
      context: folder,
      entry: './view/main.js',
      target: 'web',
      devtool: false,
      output: { path: file('view-webpack'), publicPath: 'auto', module: true, filename: 'main.js' },
      experiments: { outputModule: true },
    });
    assert.deepEqual(stats.toJson({ errors: true, warnings: true }).errors, []);
    write('view-webpack/index.html', page('main.js'));
    assert.equal(await openPage(file('view-webpack')), shown);
  });

  test('each binary is under 112 KiB, 49 KiB compressed, and imports only memory and host.watch', async () => {
    for (const flavour of ['simd128', 'relaxed', 'simd128-threads', 'relaxed-threads']) {
      const path = file(`node_modules/headlight-attention/dist/headlight.${flavour}.wasm`);
      const bytes = readFileSync(path);
      assert.ok(bytes.length <= 112 * 1024, `${flavour}: ${bytes.length} bytes`);
      assert.ok(
        gzipSync(bytes, { level: 9 }).length < 49 * 1024,
        `${flavour}: ${gzipSync(bytes).length} bytes compressed`,
      );
      const { stdout } = await run(newerNode, [
        '-p',
        `const bytes = require('fs').readFileSync(${JSON.stringify(path)});
        JSON.stringify(WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map(({ name }) => name))`,
      ]);
      assert.deepEqual(JSON.parse(stdout).sort(), flavour.endsWith('threads') ? ['memory', 'watch'] : []);
    }
  });

  test('every exported file exists', () => {
    const { exports, main, types } = JSON.parse(
      readFileSync(file('node_modules/headlight-attention/package.json'), 'utf8'),
    );
    const paths = (entry) => (typeof entry === 'string' ? [entry] : Object.values(entry).flatMap(paths));
    for (const path of [...paths(exports), main, types])
      assert.ok(existsSync(file('node_modules/headlight-attention', path)), path);
  });
});
