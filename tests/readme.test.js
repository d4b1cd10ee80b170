// Checks the documents: every program in them runs unchanged, every file and every command of build.sh that they
// mention exists, and the numbers equal those of the benchmark and of the built files.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { serve } from '../src/build/server.ts';
import { firstLoad } from '../src/build/sizes.ts';
import { REPOSITORY } from '../web/docs/.vitepress/links.js';
import { pagesOf } from '../web/docs/.vitepress/programPages.js';
import { makeCheckpoint } from './support/checkpoint.js';
import { launch } from './support/chromium.js';
import { imitateHub } from './support/hub.js';
import { isFullTier } from './support/tier.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const PAGES = pagesOf(join(root, 'web/docs')).map((name) => `web/docs/${name}`);
/** Pages with recipes, whose programs recipes.test.js runs. */
const RECIPES = PAGES.filter((path) => path.startsWith('web/docs/recipes/'));
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...PAGES.filter((path) => !RECIPES.includes(path))];
const open = (path) => ({ path, text: read(path) });
const documents = DOCUMENTS.map(open);
const everything = [...documents, ...RECIPES.map(open)];
const readme = documents[0].text;

/** Returns the programs in one language: { name, text }. */
const programs = (language) =>
  documents.flatMap(({ path, text }) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, program], i) => ({
      name: `${path}, ${language} ${i + 1}`,
      text: program,
    })),
  );

/** Small models with random weights that take the place of models of the Hub. */
const SMALL_MODELS = {
  'openai-community/gpt2': 'gpt2',
  'google-bert/bert-base-uncased': 'bert',
  'sentence-transformers/all-MiniLM-L6-v2': 'bert',
  'google/vit-base-patch16-224': 'vit',
  'openai/clip-vit-base-patch32': 'clip',
  'facebook/wav2vec2-base-960h': 'wav2vec2',
  'HuggingFaceTB/SmolLM2-135M-Instruct': 'instruct',
};
/** The output of a program with the published model, and the output with the small one. */
const SMALL_OUTPUT = {
  '[ 1, 3, 224, 224 ]': '[ 1, 3, 32, 32 ]',
  '[ 2, 384 ]': '[ 2, 32 ]',
  '[ 3, 512 ] [ 1, 512 ]': '[ 3, 16 ] [ 1, 16 ]',
  '[ 3, 1 ] [ 1, 12, 50, 50 ]': '[ 3, 1 ] [ 1, 4, 17, 17 ]',
  '[ 1, 12, 49, 49 ]': '[ 1, 4, 49, 49 ]',
  '[ 2, 7, 768 ]': '[ 2, 16, 32 ]',
  'llama gguf 2048': 'llama gguf 256',
  'F32 [ 65, 384 ] 24960': 'F32 [ 23, 16 ] 368',
  'llama Q4_K [ 2048, 2048 ] 4194304': 'llama Q4_K [ 256, 256 ] 65536',
  2048: '256',
  '[ 1, 32000 ]': '[ 1, 388 ]',
  'gpt2 torch [ 5, 65 ]': 'gpt2 torch [ 5, 23 ]',
};

/** The published GGUF file of the programs, and the small model in its place. */
const TINY_LLAMA = {
  name: 'tinyllama-1.1b-chat-v1.0.Q4_K_M.gguf',
  file: join(root, 'tests/golden/gguf/llama-q4_k_m.gguf'),
};
/** Folder with the installed package and the page. */
const folder = mkdtempSync(join(tmpdir(), 'headlight-readme-'));
let browser, server, hub, env;
before(async () => {
  const installed = join(folder, 'node_modules/headlight-attention');
  mkdirSync(join(installed, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  for (const name of readdirSync(join(root, 'dist')).filter((file) => /\.(js|wasm)$/.test(file)))
    cpSync(join(root, 'dist', name), join(installed, 'dist', name));
  cpSync(join(root, 'dist/parts'), join(installed, 'dist/parts'), { recursive: true });
  cpSync(join(root, 'dist/view'), join(installed, 'dist/view'), { recursive: true });
  for (const name of ['whale.safetensors', 'whale.tokenizer.json', 'headlight.html'])
    cpSync(join(root, 'dist', name), join(installed, 'dist', name));
  for (const name of ['onnxruntime-web', 'onnxruntime-common'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  const models = join(folder, 'models');
  for (const model of new Set(Object.values(SMALL_MODELS))) makeCheckpoint(join(models, model), model);
  mkdirSync(join(folder, 'out-shakespeare-char'));
  cpSync(join(root, 'tests/golden/torch/nanogpt.pt'), join(folder, 'out-shakespeare-char/ckpt.pt'));
  cpSync(TINY_LLAMA.file, join(folder, TINY_LLAMA.name));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  // Programs that open models of the Hub get the models from a local imitation of the Hub.
  const filesOf = (model) => readdirSync(model).map((name) => [name, readFileSync(join(model, name))]);
  hub = await imitateHub({
    ...Object.fromEntries(
      Object.entries(SMALL_MODELS).map(([id, model]) => [id, Object.fromEntries(filesOf(join(models, model)))]),
    ),
    'TheBloke/TinyLlama-1.1B-Chat-v1.0-GGUF': {
      [TINY_LLAMA.name]: readFileSync(TINY_LLAMA.file),
    },
  });
  env = { ...process.env, HF_ENDPOINT: hub.endpoint, HF_HOME: join(folder, 'hugging-face') };
  [browser, server] = await Promise.all([
    launch(),
    serve({ root: folder, headers: { 'Content-Security-Policy': '' } }),
  ]);
});
after(async () => {
  await browser?.close();
  await server?.close();
  hub?.close();
  rmSync(folder, { recursive: true });
});

/** Returns the expected output of a program, which is in the comments after console.log(…); */
const printed = (program) => [...program.matchAll(/^\s*console\.log\(.*\); \/\/ (.*)$/gm)].map(([, said]) => said);

test('every program for Node runs, and prints the output in its comments', async () => {
  assert.ok(programs('js').length > 5 && programs('js')[0].name.startsWith('README.md'));
  // Programs of the documentation site run only in the full tier.
  for (const { name, text } of programs('js').filter(({ name }) => isFullTier || !name.startsWith('web/docs'))) {
    const file = join(folder, 'program.js');
    writeFileSync(file, text);
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      timeout: 120_000,
      cwd: folder,
      env,
    }).catch((error) => assert.fail(`${name}: ${error.stderr}`));
    const lines = stdout.split('\n').slice(0, -1);
    // The tests use a random model, which generates a different text than the real one.
    const expected = printed(text).map((said, i) =>
      said.startsWith('such as: ') && lines[i] !== undefined ? lines[i] : (SMALL_OUTPUT[said] ?? said),
    );
    assert.deepEqual(lines, expected, name);
  }
});

test('every program for a page runs in Chromium', async () => {
  assert.equal(programs('html').length, 7);
  for (const { name, text } of programs('html')) {
    writeFileSync(join(folder, 'index.html'), `<!doctype html><meta charset="utf-8"><title>test</title><body>${text}`);
    const page = await browser.newPage();
    const faults = [];
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(server.url);
    await page
      .waitForFunction(
        () =>
          document.body.textContent.startsWith('[[[10],[16.6976') ||
          document.querySelector('[id] > div')?.shadowRoot.querySelector('.matrix, .thumbnail'),
        undefined,
        { timeout: 120_000 },
      )
      .catch((error) => assert.fail(`${name}: ${error.message} ${faults}`));
    assert.deepEqual(faults, [], name);
    await page.close();
  }
});

const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['--version']).status === 0);
test('every program for Python runs', { skip: python ? false : 'no Python here' }, () => {
  assert.equal(programs('python').length, 1);
  for (const { text } of programs('python')) {
    execFileSync(python, ['-c', text], { cwd: folder, env: { ...process.env, PYTHONPATH: root } });
    assert.match(readFileSync(join(folder, 'heads.html'), 'utf8'), /id="given"/);
  }
});

test('every command is defined in package.json or build.sh', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const help = execFileSync('./build.sh', ['help'], { cwd: root, encoding: 'utf8' });
  const verbs = new Set([...help.matchAll(/^ {2}([\w-]+)/gm)].map(([, verb]) => verb));
  const known = new Set([...Object.keys(scripts), 'install', 'pack', 'publish', 'ci']);
  for (const { path, text } of everything) {
    for (const [, verb] of text.matchAll(/\.\/build\.sh ([\w-]+)/g))
      assert.ok(verbs.has(verb), `${path}: ./build.sh ${verb}`);
    for (const [, verb] of text.matchAll(/npm (?:run )?([\w:-]+)(?=[\s`])/g))
      assert.ok(known.has(verb) || !text.includes(`\`npm ${verb}`), `${path}: npm ${verb}`);
  }
});

test('every named file exists', () => {
  const named = /`((?:src|web|tests|dist|\.ci|\.github)\/[\w./-]*)`|\]\((?!https?:|#)([^)#]+)\)/g;
  for (const { path, text } of everything) {
    const local = text.replaceAll(
      new RegExp(`(?<=\\]\\()${REPOSITORY}/(?:blob|raw)/main/`, 'g'),
      relative(dirname(path), '.') || './',
    );
    for (const [, quoted, linked] of local.matchAll(named)) {
      const target = quoted ?? join(dirname(path), linked.replace(/#.*/, ''));
      // Other commands of build.sh make these files.
      if (/^dist\/(site\/reference|fuzz|native)/.test(target)) continue;
      assert.ok(existsSync(join(root, target)), `${path}: ${target}`);
    }
  }
});

test('the table of speed equals that of the benchmark', () => {
  const runs = Object.fromEntries(
    read('tests/bench/results.md')
      .split('\n### ')
      .slice(1)
      .map((part) => [part.split('\n')[0], part]),
  );
  const cells = (line) => line.split('|').map((cell) => cell.trim());
  const [head, , ...rows] = readme
    .slice(readme.indexOf('## Speed'))
    .match(/^\|.*$/gm)
    .map(cells);
  const known = { 'Chromium, 1 thread': Object.keys(runs).find((name) => /^Chrom.* 1 thread$/.test(name)) };
  assert.equal(rows.length, 4);
  for (const [, shape, ...figures] of rows) {
    figures.slice(0, -1).forEach((figure, i) => {
      const run = runs[known[head[i + 2]] ?? head[i + 2]];
      const line = run.split('\n').find((text) => text.startsWith(`| ${shape} |  |`));
      const [, , , time, , , , ratio] = cells(line);
      assert.equal(figure, `${time}, ${Number(ratio.replaceAll('*', '')).toFixed(1)}×`, `${shape}, ${head[i + 2]}`);
    });
  }
});

test('the sizes in README equal those of the files that load() reads', async () => {
  const said = /makes (\d+) requests for (\d+) KB, (\d+) KB compressed: .* \((\d+) KB\) and .* JavaScript \((\d+) KB\)/;
  const [requests, all, packed, ofWasm, ofScripts] = readme.match(said).slice(1).map(Number);
  const asked = new Set();
  const page = await browser.newPage();
  page.on('request', (request) => asked.add(new URL(request.url()).pathname));
  writeFileSync(join(folder, 'empty.html'), '<!doctype html><title>test</title>');
  await page.goto(`${server.url}empty.html`);
  asked.clear();
  await page.evaluate(() => import('/node_modules/headlight-attention/dist/headlight.js').then(({ load }) => load()));
  await page.close();
  const files = [...asked].map((path) => ({ path, bytes: readFileSync(join(folder, path)) }));
  const sum = (list, size = ({ bytes }) => bytes.length) => list.reduce((total, file) => total + size(file), 0);
  const wasm = files.filter(({ path }) => path.endsWith('.wasm'));
  const scripts = files.filter(({ path }) => path.endsWith('.js'));
  assert.equal(files.length, requests, [...asked].join('\n'));
  // The files are those that ./build.sh sizes measures and compares with limits.
  const dist = '/node_modules/headlight-attention/dist/';
  assert.deepEqual(
    [...asked].sort(),
    firstLoad()
      .map(({ name }) => dist + name)
      .sort(),
  );
  assert.equal(wasm.length + scripts.length, files.length);
  const close = (said, bytes) => assert.ok(Math.abs(said - bytes / 1000) < 1 + 0.03 * said, `${said} KB: ${bytes}`);
  close(all, sum(files));
  close(
    packed,
    sum(files, ({ bytes }) => gzipSync(bytes, { level: 9 }).length),
  );
  close(ofWasm, sum(wasm));
  close(ofScripts, sum(scripts));
});
