// Opens the files that headlight.py writes in Chromium. Without Python, NumPy or PyTorch the tests are skipped, and the
// reason is printed.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { faults, openEmpty, page } from '../../support/page.js';
import { fullTest } from '../../support/tier.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'headlight-python-'));
after(() => rmSync(folder, { recursive: true }));

/**
 * Returns the first Python that has a module. Several are tried because only the Python of Debian finds the packages of
 * Debian.
 */
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
/** Returns the expected result of row() in the programs above. */
const expected = (t, k = 0) => {
  const row = Array.from({ length: t + 1 }, (_, s) => 1 + ((t * 3 + s * 7 + k) % 5));
  const sum = row.reduce((a, b) => a + b);
  return row.map((x) => x / sum);
};

const run = (program, python = plain) =>
  execFileSync(python, ['-c', START + program], { cwd: folder, encoding: 'utf8', timeout: 300_000, maxBuffer: 2e7 });
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
  assert.deepEqual(await page.locator('.row-label:not(.is-query, .is-key)').allTextContents(), [
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
  assert.ok(size < 1_070_000, `without the whale: ${size} bytes`);
});

const numpy = needs('numpy');
fullTest('arrays of NumPy, float16 too, with many heads', { skip: numpy.skip }, async () => {
  run(
    `
import numpy
all = numpy.array([[weights(k + 12 * l) for k in range(12)] for l in range(12)])
headlight.save("f16.html", all.astype(numpy.float16), TOKENS, layer=11, head=7)
headlight.save("f64.html", all[:, None], TOKENS, layer=2, head=1, theme="dark", language="zh")
headlight.save("u8.html", all, TOKENS, layer=2, head=1, precision="uint8")
sizes = [len(headlight.page(all, precision=name)) for name in ("uint8", "float16", "float32")]
assert sizes == sorted(sizes) and len(headlight.page(all.astype(numpy.float16))) == sizes[1]`,
    numpy.python,
  );
  await open('f16.html');
  assert.equal(await page.locator('.thumbnail').count(), 144);
  near(await numbers(), expected(4, 7 + 12 * 11));
  assert.equal(await page.locator('.story-word').count(), 0, 'nothing of the whale is offered');
  assert.deepEqual(faults, []);
  for (const name of ['f64.html', 'u8.html']) {
    await open(name);
    near(await numbers(), expected(4, 1 + 12 * 2));
    assert.deepEqual(faults, []);
  }
});

const torch = needs('torch');
fullTest(
  'what a model of Hugging Face returns: a tuple of layers (B,H,T,T) of PyTorch',
  { skip: torch.skip },
  async () => {
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
    assert.equal(await page.locator('.strip').count(), 5);
    assert.deepEqual(faults, []);
  },
);

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

/** Returns the error messages of programs that must fail, which all run in one Python process. */
function messages(programs, python = plain) {
  const said = run(
    `
import json
said = []
for program in json.loads(${JSON.stringify(JSON.stringify(programs))}):
    try:
        exec(program)
        said.append("nothing")
    except (TypeError, ValueError) as error:
        said.append(str(error))
print(json.dumps(said))`,
    python,
  );
  return JSON.parse(said);
}

test('attentions that are no rows of weights are refused, in few words', { skip: !plain && 'no Python here' }, () => {
  const wrong = {
    'headlight.show([list(row) for row in zip(*weights())])':
      'attentions: columns sum to 1, rows do not: transposed? transpose=True turns them round',
    'headlight.show([weights(), [[x * 0.9 for x in row] for row in weights()]])':
      'attentions: layer 0, head 1, row 0 sums to 0.9, expected 1: weights after softmax, before dropout',
    'headlight.show([[10 ** 400]])': `attentions[0][0] is 1${'0'.repeat(56)}..., expected a number`,
    'deep = 1\nfor _ in range(5000): deep = [deep]\nheadlight.show(deep)':
      'attentions[0][0][0][0][0] is a list, expected a number: at most 5 axes, (L,B,H,T,S)',
    'self = []\nself.append(self)\nheadlight.show(self)':
      'attentions[0][0][0][0][0] is a list, expected a number: at most 5 axes, (L,B,H,T,S)',
    'class Output: cross_attentions = encoder_attentions = (weights(0, 100),)\nheadlight.show(Output())':
      'attentions is the output of an encoder-decoder, expected one part of it: ' +
      'output.encoder_attentions or output.cross_attentions',
    'headlight.show({"a": weights(0, 100)})': 'attentions is of type dict, expected a number',
    'headlight.show([[float("nan"), 0.5], [0, 1]], precision="uint8")':
      "attentions holds NaN, which precision='uint8' cannot say: 'float16' can",
    'headlight.show(weights(), precision="int4")': "precision is 'int4', expected one of 'float32', 'float16', 'uint8'",
    'headlight.show(weights(), title=5)': 'title is 5, expected a text',
    'headlight.show([weights(), [[0.5, 0.5]] * 5])':
      'attentions[1] has shape (5, 2), expected (5, 5) as those before it',
  };
  assert.deepEqual(messages(Object.keys(wrong)), Object.values(wrong));
  const right = [
    'nan = float("nan")\nheadlight.show([[nan, 0.4], [0, 0]])',
    'turned = [list(row) for row in zip(*weights())]\n' +
      'assert headlight.page(turned, transpose=True) == headlight.page(weights())',
  ];
  assert.deepEqual(messages(right), ['nothing', 'nothing']);
});

test('queries, keys and values that do not fit together are refused', { skip: !plain && 'no Python here' }, () => {
  const given = (q, k, v) => {
    const block = (heads, tokens, width) => `[[[0.5] * ${width}] * ${tokens}] * ${heads}`;
    return `headlight.page(q=${block(...q)}, k=${block(...k)}, v=${block(...v)})`;
  };
  const programs = {
    [given([3, 4, 8], [2, 4, 8], [2, 4, 8])]: 'q has 3 heads, expected a multiple of the 2 of k',
    [given([4, 4, 8], [2, 4, 8], [5, 4, 8])]: 'v has 5 heads of 4 tokens, expected 2 of 4 as k',
    [given([4, 4, 8], [2, 4, 8], [2, 3, 8])]: 'v has 2 heads of 3 tokens, expected 2 of 4 as k',
    [given([4, 4, 8], [2, 4, 6], [2, 4, 6])]: 'k has width 6, expected 8 as q',
    'headlight.page(q=[[1]])': 'k is None: q, k and v belong together',
    'headlight.page(weights(), k=[[1]])': 'expected either attentions or q, k and v',
    [given([4, 3, 8], [2, 4, 8], [2, 4, 5])]: 'nothing',
  };
  assert.deepEqual(messages(Object.keys(programs)), Object.values(programs));
});

test('a page that cannot be written leaves the one before it', { skip: !plain && 'no Python here' }, () => {
  const path = join(folder, 'kept.html');
  writeFileSync(path, 'before');
  const programs = [
    'headlight.save("kept.html", weights(), title="half \\ud800")',
    'headlight.save("kept.html", weights(), max_megabytes=0.1)',
  ];
  const [title, size] = messages(programs);
  assert.equal(title, 'title holds half of a surrogate pair, which cannot be written');
  assert.match(
    size,
    /^the page would have \d MB, more than 0.1, .*; smaller: perhaps precision='uint8'; max_megabytes=/,
  );
  assert.equal(readFileSync(path, 'utf8'), 'before');
  run('headlight.save("kept.html", weights())');
  assert.match(readFileSync(path, 'utf8'), /^<!doctype html>/i);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('.part')),
    [],
  );
});

test('a large page is announced by its size', { skip: !plain && 'no Python here' }, () => {
  const said = run(`
import warnings
headlight.LARGE_MEGABYTES = 0.1
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    headlight.page([weights(0, 200)] * 2)
print(caught[0].message)`);
  assert.match(said, /^the page has \d MB; smaller: precision='float16' or 'uint8'/);
});

fullTest('what a refused page names makes it small enough', { skip: !plain && 'no Python here' }, () => {
  const said = run(`
import random
random.seed(1)
def noise(n):
    r = [random.random() for _ in range(n)]
    return [x / sum(r) for x in r]
many = [[[noise(200) for _ in range(200)]] for _ in range(4)]
most = len(headlight.page([[0.5, 0.5]])) / 1e6 + 0.35
try:
    headlight.page(many, max_megabytes=most)
except ValueError as error:
    print(error)
headlight.page(many, precision="uint8", max_megabytes=most)
headlight.page(many[:1], max_megabytes=most)
assert 12 * 12 * 512 * 512 * 4 / 3e6 + 2 < headlight.MAX_MEGABYTES`);
  assert.match(said, /; smaller: precision='uint8', or fewer layers, as attentions\[:1\]; max_megabytes=/);
});

test('a height is pixels or a length of CSS, and is checked first', { skip: !plain && 'no Python here' }, () => {
  const shown = run(`
for height in (300, "80vh", "12.5em", None):
    print(headlight.show(weights(), height=height)._repr_html_().split("height: ")[1].split(";")[0])`);
  assert.deepEqual(shown.trim().split('\n'), ['300px', '80vh', '12.5em', '720px']);
  const wrong = ['"100%"', '"80vh; x: y"', '"tall"', '0', '-5', 'True', '2.5', '[5]', '10**30', '"\\u0660px"'];
  for (const message of messages(wrong.map((height) => `headlight.show([[7]], height=${height})`)))
    assert.match(message, /^height is .*, expected pixels from 1 to 100000, or a text such as '80vh'$/);
});

test('where IPython runs, show displays by itself, in a loop too', { skip: !plain && 'no Python here' }, () => {
  const said = run(`
import types
shown = []
IPython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
IPython.get_ipython = lambda: "a notebook"
display.display = shown.append
sys.modules.update({"IPython": IPython, "IPython.display": display})
assert [headlight.show(weights(k)) for k in range(3)] == [None] * 3
print([type(view).__name__ for view in shown])`);
  assert.equal(said, "['View', 'View', 'View']\n");
});

fullTest('ids in a tensor are names: numbers, of one text or of a batch', { skip: torch.skip }, () => {
  run(
    `
import torch
ids = torch.tensor([[7, 8, 9, 10, 11]])
for given, batch in ((ids, None), (ids[0], None), (list(ids[0]), None), (torch.cat([ids - 1, ids]), 1)):
    assert headlight._texts("tokens", given, 5, batch) == ["7", "8", "9", "10", "11"]`,
    torch.python,
  );
});

test('it is one file for Python 3.8 without dependencies', () => {
  const text = readFileSync(join(root, 'headlight.py'), 'utf8');
  const standard = new Set([
    'array',
    'base64',
    'html',
    'json',
    'os',
    're',
    'struct',
    'sys',
    'warnings',
    'zlib',
    'numpy',
    'IPython',
  ]);
  for (const [, name] of text.matchAll(/^\s*(?:import|from) (\w+)/gm)) {
    if (name === 'headlight') continue;
    assert.ok(standard.has(name), name);
  }
});
