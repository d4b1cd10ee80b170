// headlight.py: what it writes is opened in Chromium. Where there is no Python, or no NumPy or PyTorch, it is said.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { faults, openEmpty, page } from '../../support/page.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'headlight-python-'));
after(() => rmSync(folder, { recursive: true }));

/** The first Python with a module: Debian's packages are seen by its own alone. */
function pythonWith(module) {
  for (const name of ['python3', '/usr/bin/python3'])
    if (spawnSync(name, ['-c', `import ${module}`], { timeout: 120_000 }).status === 0) return name;
  return null;
}
const plain = pythonWith('sys');
const needs = (module) => {
  const python = pythonWith(module);
  return { python, skip: python ? false : `no Python with ${module} here` };
};

const START = `
import sys
sys.path.insert(0, ${JSON.stringify(root)})
import headlight
TOKENS = ["Call", "me", '"Ish"', "</script>", "鲸"]
def row(t, n, k):
    r = [1 + (t * 3 + s * 7 + k) % 5 if s <= t else 0 for s in range(n)]
    return [x / sum(r) for x in r]
def weights(k=0, n=5):
    return [row(t, n, k) for t in range(n)]
`;
/** What row() of the programs above gives. */
const expected = (t, k = 0) => {
  const row = Array.from({ length: t + 1 }, (_, s) => 1 + ((t * 3 + s * 7 + k) % 5));
  const sum = row.reduce((a, b) => a + b);
  return row.map((x) => x / sum);
};

const run = (program, python = plain) =>
  execFileSync(python, ['-c', START + program], { cwd: folder, encoding: 'utf8', timeout: 300_000 });
const refused = (program) => {
  const { status, stderr } = spawnSync(plain, ['-c', START + program], { cwd: folder, encoding: 'utf8' });
  assert.notEqual(status, 0);
  return stderr.trim().split('\n').pop();
};

async function open(name) {
  await openEmpty({ offline: true, locale: 'en-GB', viewport: { width: 1280, height: 800 } });
  await page.goto(pathToFileURL(join(folder, name)).href);
  await page.locator('.matrix, .thumbnail').first().waitFor();
}
const numbers = async () => (await page.locator('.figure').allTextContents()).map(Number);
const near = (got, wanted) => {
  assert.equal(got.length, wanted.length);
  got.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) <= 0.0055, `${i}: ${x}, expected ${wanted[i]}`));
};

test('lists of one head: the page shows them, whatever the tokens are', {
  skip: !plain && 'no Python here',
}, async () => {
  run('headlight.save("head.html", weights(), TOKENS, view="head", title=\'A "head" <b> & c\')');
  await open('head.html');
  assert.equal(await page.title(), 'A "head" <b> & c');
  assert.deepEqual(await page.locator('.row-label:not(.asks)').allTextContents(), [
    'Call',
    'me',
    '"Ish"',
    '</script>',
    '鲸',
  ]);
  near(await numbers(), expected(4));
  assert.equal(page.workers().length, 0);
  assert.deepEqual(faults, []);
  const { size } = statSync(join(folder, 'head.html'));
  assert.ok(size < 600_000, `without the whale: ${size} bytes`);
});

const numpy = needs('numpy');
test('arrays of NumPy, float16 too, with many heads', { skip: numpy.skip }, async () => {
  run(
    `
import numpy
all = numpy.array([[weights(k + 12 * l) for k in range(12)] for l in range(12)])
headlight.save("f16.html", all.astype(numpy.float16), TOKENS, layer=11, head=7)
headlight.save("f64.html", all[:, None], TOKENS, layer=2, head=1, theme="dark", language="zh")
assert len(headlight.page(all.astype(numpy.float16), TOKENS)) < len(headlight.page(all, TOKENS))`,
    numpy.python,
  );
  await open('f16.html');
  assert.equal(await page.locator('.thumbnail').count(), 144);
  near(await numbers(), expected(4, 7 + 12 * 11));
  assert.equal(await page.locator('.story-word').count(), 0, 'nothing of the whale is offered');
  assert.deepEqual(faults, []);
  await open('f64.html');
  near(await numbers(), expected(4, 1 + 12 * 2));
  assert.deepEqual(faults, []);
});

const torch = needs('torch');
test('what a model of Hugging Face returns: a tuple of layers (B,H,T,T) of PyTorch', { skip: torch.skip }, async () => {
  run(
    `
import torch
layers = tuple(
    torch.tensor([[weights(k + 10 * l + 100 * b) for k in range(4)] for b in range(2)], requires_grad=True)
    for l in range(3))
class Output:
    attentions = layers
headlight.save("torch.html", Output(), TOKENS, batch=1, layer=2, head=3)
headlight.save("half.html", [layer[0].to(torch.bfloat16) for layer in layers], TOKENS, head=1)
headlight.save("qkv.html", q=layers[0][0], k=layers[1][0], v=layers[2][0], tokens=TOKENS, causal=True)`,
    torch.python,
  );
  await open('torch.html');
  near(await numbers(), expected(4, 3 + 20 + 100));
  await open('half.html');
  near(await numbers(), expected(4, 1));
  await open('qkv.html');
  assert.equal(await page.locator('.strip').count(), 6);
  assert.deepEqual(faults, []);
});

test('a notebook shows it in a frame that is as high as it is', { skip: !plain && 'no Python here' }, async () => {
  const shown = run('print(headlight.show([[weights()] * 3] * 2, TOKENS, view="heads")._repr_html_())');
  writeFileSync(join(folder, 'notebook.html'), `<!doctype html><meta charset="utf-8"><body>${shown}`);
  await openEmpty({ offline: true, locale: 'en-GB' });
  await page.goto(pathToFileURL(join(folder, 'notebook.html')).href);
  await page.frameLocator('iframe').locator('.thumbnail').nth(5).waitFor();
  await page.waitForFunction(() => {
    const frame = document.querySelector('iframe');
    const { scrollHeight } = frame.contentDocument.documentElement;
    return Math.abs(frame.clientHeight - scrollHeight) < 3 && frame.clientHeight !== 480;
  });
  assert.deepEqual(faults, []);
});

test('what is wrong is said by name', { skip: !plain && 'no Python here' }, () => {
  assert.match(refused('headlight.show(weights(), ["a"])'), /^ValueError: tokens has 1 texts, expected 5/);
  assert.match(refused('headlight.show([[1, 2], [3, -4]])'), /^ValueError: attentions holds 2, expected weights/);
  assert.match(
    refused('headlight.show([[1, 0], [1]])'),
    /^ValueError: attentions\[1\] has shape \(1,\), expected \(2,\)/,
  );
  assert.match(
    refused('headlight.show((None, None))'),
    /^TypeError: attentions\[0\] is None: .*output_attentions=True/,
  );
  assert.match(refused('headlight.show([[[weights()], [weights()]]])'), /^ValueError: attentions has a batch of 2/);
  assert.match(refused('headlight.show(weights(), layer=1)'), /^ValueError: layer is 1/);
  assert.match(refused('headlight.show([["a"]])'), /^TypeError: attentions\[0\]\[0\] is 'a', expected a number/);
  assert.match(refused('headlight.show()'), /^TypeError: expected either attentions or q, k and v/);
});

test('it is one file for Python 3.8 without dependencies', () => {
  const text = readFileSync(join(root, 'headlight.py'), 'utf8');
  const standard = new Set(['array', 'base64', 'html', 'json', 'os', 're', 'struct', 'sys', 'zlib', 'numpy']);
  for (const [, name] of text.matchAll(/^\s*(?:import|from) (\w+)/gm)) {
    if (name === 'headlight') continue;
    assert.ok(standard.has(name), name);
  }
});
