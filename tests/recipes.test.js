// Checks that every program in the recipes runs unchanged and prints the output in its comments. transformers.js, which
// is large, is replaced by a small package that runs the same files with onnxruntime-web.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { serve } from '../src/build/server.ts';
import { makeCheckpoint } from './support/checkpoint.js';
import { launch } from './support/chromium.js';
import { imitateHub } from './support/hub.js';
import { install } from './support/install.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const RECIPES = join(root, 'web/docs/recipes');
const names = readdirSync(RECIPES).filter((name) => name !== 'index.md');
const textOf = (name) => readFileSync(join(RECIPES, name), 'utf8');
/** Returns the programs in a recipe in one language. */
const programs = (name, language) =>
  [...textOf(name).matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, program]) => program);
/**
 * Returns the name of the file in which other programs and pages expect a program. It is in a comment in the first
 * line, if there is one.
 */
const fileOf = (program) => program.match(/^\/\/ ([\w./-]+\.js)\n/)?.[1];
const printed = (program) => [...program.matchAll(/^\s*console\.log\(.*\); \/\/ (.*)$/gm)].map(([, said]) => said);

/** Replacements of third-party packages. */
const STAND_INS = {
  // A replacement with the files, names and tensors of transformers.js; ./build.sh adopt runs transformers.js itself.
  '@huggingface/transformers': `
    import { readFileSync } from 'node:fs';
    import { load } from 'headlight-attention';
    import { InferenceSession, Tensor } from 'onnxruntime-web';
    export const env = {};
    const read = (...path) => readFileSync([env.localModelPath, ...path].join('/'));
    const row = (numbers) => new Tensor('int64', BigInt64Array.from(numbers, BigInt), [1, numbers.length]);
    const tokenize = (tokenizer) => async (text) => {
      const { ids } = tokenizer.encode(text);
      const rows = { input_ids: ids, attention_mask: ids.map(() => 1), token_type_ids: ids.map(() => 0) };
      return Object.fromEntries(Object.entries(rows).map(([name, numbers]) => [name, row(numbers)]));
    };
    export const AutoTokenizer = {
      from_pretrained: async (name) => tokenize(await (await load()).openTokenizer(read(name, 'tokenizer.json'))),
    };
    export const AutoModel = {
      async from_pretrained(name) {
        const session = await InferenceSession.create(read(name, 'onnx/model.onnx'));
        return (inputs) => session.run(inputs);
      },
    };`,
  // The real TensorFlow.js, which the package of the sentence encoder contains.
  '@tensorflow/tfjs': `
    import { createRequire } from 'node:module';
    const tf = createRequire(import.meta.url)('@energetic-ai/core');
    export const { ready, randomNormal, div, matMul, softmax, tensor } = tf;`,
};

const folder = mkdtempSync(join(tmpdir(), 'headlight-recipes-'));
/** Returns the files in a folder, by name. */
const filesIn = (path) => Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name))]));

let installed, browser, server, hub, env;
before(async () => {
  installed = install(root);
  const write = (path, text) => {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write('package.json', '{ "type": "module" }');
  for (const [name, text] of Object.entries(STAND_INS)) {
    write(`node_modules/${name}/package.json`, '{ "type": "module", "main": "index.js" }');
    write(`node_modules/${name}/index.js`, text);
  }
  execFileSync('cp', ['-r', installed.file('node_modules/headlight-attention'), join(folder, 'node_modules')]);
  mkdirSync(join(folder, 'node_modules/@energetic-ai'));
  for (const name of ['@energetic-ai/core', 'onnxruntime-web', 'onnxruntime-common'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  for (const model of ['gpt2', 'bert', 'instruct']) makeCheckpoint(join(folder, model), model);
  hub = await imitateHub({
    'openai-community/gpt2': filesIn(join(folder, 'gpt2')),
    'HuggingFaceTB/SmolLM2-135M-Instruct': filesIn(join(folder, 'instruct')),
  });
  env = { ...process.env, HF_ENDPOINT: hub.endpoint, HF_HOME: join(folder, 'hugging-face') };
  for (const program of names.flatMap((name) => programs(name, 'js'))) {
    const file = fileOf(program);
    if (file) write(file, program);
  }
  [browser, server] = await Promise.all([
    launch(),
    serve({ root: folder, headers: { 'Content-Security-Policy': '' } }),
  ]);
});
after(async () => {
  await browser?.close();
  await server?.close();
  hub?.close();
  installed?.remove();
  rmSync(folder, { recursive: true, force: true });
});

for (const name of names.filter((name) => programs(name, 'js').some((program) => !fileOf(program))))
  test(`${name}: every program for Node runs, and prints the output in its comments`, async () => {
    for (const program of programs(name, 'js').filter((program) => !fileOf(program))) {
      const file = join(folder, 'program.js');
      writeFileSync(file, program);
      const running = promisify(execFile)(process.execPath, [file], { timeout: 300_000, cwd: folder, env });
      running.child.stdin.end();
      const { stdout } = await running.catch((error) => assert.fail(`${name}: ${error.stderr}`));
      assert.deepEqual(stdout.split('\n').slice(0, -1), printed(program), program);
    }
  });

test('chat.md: the program answers every line, also when the context is full', async () => {
  writeFileSync(join(folder, 'chat.js'), programs('chat.md', 'js')[0]);
  const running = promisify(execFile)(process.execPath, [join(folder, 'chat.js')], { cwd: folder, env });
  const tooLong = 'whale '.repeat(300);
  running.child.stdin.end(`${Array.from({ length: 3 }, (_, i) => `Line ${i}`).join('\n')}\n${tooLong}\nAgain\n`);
  const { stdout } = await running;
  const SAID = 'This is too long for me.';
  assert.equal(stdout.split(SAID).length, 2, stdout);
  // The random model writes line breaks of its own.
  const [before, after] = stdout.split(`${SAID}\n`);
  assert.ok(before.length > 3 && after.length > 1, stdout);
});

test('next.md: the route handler answers with the likeliest words', async () => {
  const { GET } = await import(pathToFileURL(join(folder, 'app/words/route.js')).href);
  const ask = (query) => GET(new Request(`http://localhost/words${query}`));
  const text = 'In port the first mate cried to his men. At sea the first';
  const words = await (await ask(`?text=${text}`)).json();
  assert.deepEqual([words.length, words[0].text], [3, ' mate']);
  assert.equal((await ask('')).status, 400);
});

/** Opens the page of a recipe, and passes it to a function. */
async function withPage(name, use, url = server.url) {
  const [html] = programs(name, 'html');
  writeFileSync(join(folder, 'index.html'), `<!doctype html><meta charset="utf-8"><title>test</title><body>${html}`);
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  try {
    await page.goto(url);
    await use(page).catch((error) => assert.fail(`${name}: ${error.message} ${faults}`));
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}
/** Waits for an element in the shadow root of a view. */
const inView = (page, id, selector) =>
  page.waitForFunction(
    ([id, selector]) => document.querySelector(`#${id} > div`)?.shadowRoot?.querySelector(selector),
    [id, selector],
  );

test('course.md: a click in the overview selects the head of the picture', () =>
  withPage('course.md', async (page) => {
    await inView(page, 'overview', '.thumbnail');
    for (const id of ['head', 'ours']) await inView(page, id, '.matrix');
    await page.waitForFunction(() =>
      /Layer 1, head 2/.test(document.querySelector('#head > div').shadowRoot.textContent.replace(/\s+/g, ' ')),
    );
  }));

test('long-jobs.md: a training worker reports its progress, and stops on request', () =>
  withPage('long-jobs.md', async (page) => {
    await page.waitForFunction(() => document.querySelector('progress').value > 0);
    await page.click('#cancel');
    await page.waitForFunction(() => /^cancelled after \d+ steps: a model of \d+ bytes$/.test(said.textContent));
  }));

test('headers.md: the service worker isolates a page whose host sends no headers', async () => {
  const bare = await serve({
    root: folder,
    headers: {
      'Content-Security-Policy': '',
      'Cross-Origin-Opener-Policy': 'unsafe-none',
      'Cross-Origin-Embedder-Policy': 'unsafe-none',
    },
  });
  try {
    const done = (page) => page.waitForFunction(() => document.body.textContent === '2 threads');
    await withPage('headers.md', done, bare.url);
  } finally {
    await bare.close();
  }
});

test('headers.md: the configuration of every host has both headers', () => {
  const WANTED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
  /** Functions that find the headers in the configuration of each host, as name and value. */
  const said = {
    nginx: (text) => text.matchAll(/^ *add_header (\S+) (\S+) always;$/gm),
    Apache: (text) => text.matchAll(/^Header always set (\S+) "(.*)"$/gm),
    Caddy: (text) => text.matchAll(/^ *header (\S+) (\S+)$/gm),
    Netlify: (text) => (text.startsWith('/*\n') ? text.matchAll(/^ {2}(\S+): (\S+)$/gm) : []),
    Vercel: (text) =>
      JSON.parse(text).headers.flatMap((entry) => entry.headers.map(({ key, value }) => [key, key, value])),
  };
  for (const [host, parse] of Object.entries(said)) {
    const [, text] = textOf('headers.md').match(new RegExp(`^## ${host}\\b[^#]*?\`\`\`\\w+\\n([^]*?)^\`\`\`$`, 'm'));
    assert.deepEqual(Object.fromEntries([...parse(text)].map(([, name, value]) => [name, value])), WANTED, host);
  }
});

const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['--version']).status === 0);
test('notebook.md: every cell runs', { skip: python ? false : 'no Python here' }, () => {
  const env = { ...process.env, PYTHONPATH: installed.file('node_modules/headlight-attention') };
  for (const program of programs('notebook.md', 'python')) execFileSync(python, ['-c', program], { cwd: folder, env });
  const html = (name) => readFileSync(join(folder, name), 'utf8');
  assert.match(html('head.html'), /A causal head/);
  assert.match(html('whale.html'), /id="whale\.safetensors"/);
});

test('components.md: the React component shows its properties, through preact/compat', async () => {
  const [component] = programs('components.md', 'jsx');
  writeFileSync(join(folder, 'Heads.jsx'), component);
  writeFileSync(
    join(folder, 'component.jsx'),
    `import { createRoot } from 'react-dom/client';
    import { Heads } from './Heads.jsx';
    const attentions = [[[1, 0], [0.5, 0.5]], [[1, 0], [0.9, 0.1]]];
    const root = createRoot(document.body.appendChild(document.createElement('main')));
    const show = (more) => root.render(<Heads attentions={attentions} tokens={['a', 'b']} view="head" {...more} />);
    show({ head: 0 });
    globalThis.show = show;
    globalThis.leave = () => root.unmount();`,
  );
  await build({
    entryPoints: [join(folder, 'component.jsx')],
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    alias: { react: 'preact/compat', 'react-dom/client': 'preact/compat/client' },
    nodePaths: [join(root, 'node_modules')],
    outfile: join(folder, 'component.js'),
    logLevel: 'error',
  });
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><title>test</title><body><script type="module" src="component.js"></script>',
  );
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(server.url);
  const shadow = (test) =>
    page.waitForFunction((body) => {
      const root = document.querySelector('main > div > div')?.shadowRoot;
      return new Function('root', `return ${body}`)(root);
    }, test);
  await shadow("root?.querySelector('.matrix')");
  await page.evaluate(() => globalThis.show({ head: 1 }));
  await shadow("root.textContent.includes('0.9')");
  await page.evaluate(() => globalThis.leave());
  await page.waitForFunction(() => document.querySelector('main').childElementCount === 0);
  await page.close();
});

test('every recipe is in the list', () => {
  const list = textOf('index.md');
  for (const name of names) assert.ok(list.includes(`(${name})`), name);
});
