// A visitor's own files.

import assert from 'node:assert/strict';
import test from 'node:test';
import { writeNpy, writeSafetensors } from 'headlight/formats';
import { hl } from '../../support/headlight.js';
import { faults, open, page, setFiles, settle, shownWeight, textOf, walk } from '../../support/page.js';
import { assertSame, expectedWeights } from '../../support/weights.js';

test("a file of one's own: chosen or dropped, attended, and said plainly where it does not fit", async () => {
  await open();
  await page.selectOption('#example', 'file');
  await settle();
  assert.match(await textOf('#message'), /No file:/);
  const q = { data: Float32Array.from({ length: 2 * 3 * 4 * 5 }, (_, i) => Math.sin(i)), shape: [2, 3, 4, 5] };
  await setFiles('#file', ['q.npy', writeNpy(q)]);
  await settle();
  assert.equal(await page.locator('#grid button').count(), 3);
  await page.selectOption('#batch', '1');
  await page.click('#grid button:nth-child(2)');
  await walk(3, 1);
  const expected = hl.scope(() => hl.attention(q, q, q, { weights: true }).weights.copy());
  assertSame(await shownWeight(), expected[((1 * 3 + 1) * 4 + 3) * 4 + 1], 'own tensor');
  const drop = (name, bytes) =>
    page.evaluate(
      ([name, bytes]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
        part('main').dispatchEvent(
          new DragEvent('drop', { dataTransfer, cancelable: true, bubbles: true, composed: true }),
        );
      },
      [name, [...bytes]],
    );
  await drop('x.json', new TextEncoder().encode('{"q": [[1,2],[3,4]], "k": [[1,2,3]]}'));
  await settle();
  assert.match(await textOf('#message'), /“k” has shape \[1,1,3\], expected \[1,1,2\] to fit the query/);
  await drop('x.json', new TextEncoder().encode('[[1,0],[0,1],[1,1]]'));
  await settle();
  await walk(2, 2);
  assert.equal(await textOf('#message'), '');
  assert.equal(await page.locator('#grid button').count(), 1);
  await page.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text', ' {"q": [[1, 0], [0, 1]], "k": [[2, 0], [0, 2], [1, 1]]} ');
    part('#large').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, composed: true }));
  });
  await settle();
  await walk(0, 0);
  const pasted = Math.exp(2 / Math.SQRT2);
  assertSame(await shownWeight(), pasted / (pasted + 1 + Math.exp(1 / Math.SQRT2)), 'pasted');
  assert.deepEqual(faults, []);
});

test("weights of one's own project inputs of one's own, dropped together", async () => {
  await open();
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, seed: 3 });
  const input = { data: Float32Array.from({ length: 40 }, (_, i) => Math.sin(i)), shape: [1, 5, 8] };
  await page.selectOption('#example', 'file');
  await setFiles(
    '#file',
    ['x.npy', writeNpy(input)],
    ['layer.safetensors', writeSafetensors(layer.stateDict('torch'))],
  );
  await page.waitForSelector('#pictures:not([hidden])');
  await settle();
  await page.selectOption('#heads', '2');
  await page.click('#grid button:nth-child(2)');
  await settle();
  await walk(3, 1);
  const { weights } = layer.forward(input, { weights: true });
  assertSame(await shownWeight(), weights.data[(5 + 3) * 5 + 1], 'own weights');
  assert.deepEqual(faults, []);
});

test('reading a file shows how many bytes it has, and can be stopped; a lost file is reported', async () => {
  await open();
  await page.selectOption('#example', 'file');
  await settle();
  await page.evaluate(() => {
    const { stream } = File.prototype;
    globalThis.fault = null;
    // Half of the file comes after a while, the other half never does.
    File.prototype.stream = () => {
      let read = 0;
      return new ReadableStream({
        async pull(controller) {
          if (globalThis.fault) throw new Error(globalThis.fault);
          if (read >= 2 ** 20) return new Promise(() => {});
          await new Promise((resolve) => setTimeout(resolve, 60));
          controller.enqueue(new Uint8Array(2 ** 18));
          read += 2 ** 18;
        },
      });
    };
    globalThis.restore = () => {
      File.prototype.stream = stream;
    };
  });
  await setFiles('#file', ['x.npy', writeNpy({ data: new Float32Array(2 ** 19), shape: [1, 4096, 128] })]);
  await page.waitForFunction(
    () => part('#progress-text').textContent === 'Reading: 1.0 of 2.0 MB' && part('#share-done').value > 0.49,
  );
  assert.equal(await page.locator('#frame').getAttribute('aria-busy'), 'true');
  await page.click('#cancel');
  await settle();
  assert.equal(await page.locator('#progress').isVisible(), false);
  assert.match(await textOf('#message'), /No file:/);
  await page.evaluate(() => {
    globalThis.fault = 'it is gone';
  });
  await setFiles('#file', ['x.npy', new Uint8Array(8)]);
  await page.waitForFunction(() => /“x\.npy” could not be opened: it is gone/.test(part('#message').textContent));
  await page.evaluate(() => globalThis.restore());
  await setFiles('#file', ['x.npy', writeNpy({ data: new Float32Array(20), shape: [5, 4] })]);
  await page.waitForSelector('#pictures:not([hidden])');
  assert.equal(await textOf('#message'), '');
  assert.deepEqual(faults, []);
});

test('what takes long says how far it is, and can be stopped; the page goes on after that', async () => {
  await open();
  const [H, T, D] = [144, 640, 8];
  const q = { data: Float32Array.from({ length: H * T * D }, (_, i) => Math.sin(i * 0.37)), shape: [1, H, T, D] };
  await page.selectOption('#example', 'file');
  await setFiles('#file', ['q.npy', writeNpy(q)]);
  await page.waitForFunction(() => part('#grid').children.length === 144);
  await settle();
  // What is asked of the worker waits for the click that stops it: so it is stopped on a fast machine too.
  await page.evaluate(() => {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = (message, ...more) => {
      Worker.prototype.postMessage = function (stop) {
        Worker.prototype.postMessage = postMessage;
        this.postMessage(message, ...more);
        this.postMessage(stop);
      };
    };
  });
  await page.locator('#temperature').fill('0.3');
  await page.locator('#progress').waitFor();
  assert.match(await textOf('#progress-text'), /Computing/);
  await page.click('#cancel');
  await settle();
  assert.match(await textOf('#message'), /Stopped/);
  await page.locator('#temperature').fill('0.4');
  await page.waitForSelector('#pictures:not([hidden])');
  await settle();
  assert.equal(await textOf('#message'), '');
  assert.equal(await page.locator('#progress').isVisible(), false);
  assert.deepEqual(faults, []);
});

const q = { data: Float32Array.from({ length: 60 }, (_, i) => Math.sin(i)), shape: [1, 3, 4, 5] };

for (const [name, leave] of [
  ['own tensors without a file', () => page.selectOption('#example', 'file')],
  [
    'an emptied text',
    async () => {
      await page.selectOption('#example', 'own');
      await page.fill('#text', '');
    },
  ],
  [
    'a file and Reset',
    async () => {
      await page.selectOption('#example', 'file');
      await setFiles('#file', ['q.npy', writeNpy(q)]);
      await page.waitForFunction(() => part('#grid').children.length === 3);
      await page.click('#reset');
    },
  ],
  [
    'a bad file and Reset',
    async () => {
      await page.selectOption('#example', 'file');
      await setFiles('#file', ['q.npy', new Uint8Array(9)]);
      await page.waitForFunction(() => /cannot be read/.test(part('#message').textContent));
      await page.click('#reset');
    },
  ],
]) {
  test(`${name}, and back: the example is whole again`, async () => {
    await open();
    await leave();
    await settle();
    await page.selectOption('#example', 'sentence');
    await settle();
    assert.equal(await textOf('#message'), '');
    assert.equal(await page.locator('#grid button').count(), 8);
    await page.click('#grid button:nth-child(1)');
    await settle();
    await walk(7, 5);
    assertSame(await shownWeight(), expectedWeights({})(0, 0, 7, 5), 'the sentence');
    assert.match(await textOf('#steps'), /q · k = /);
    await page.selectOption('#example', 'own');
    await page.fill('#text', 'one two three');
    await settle();
    assert.equal(await textOf('#message'), '');
    assert.deepEqual(faults, []);
  });
}

test('NaN and infinity have a look and a word of their own, and are not called hidden', async () => {
  await open();
  await page.selectOption('#example', 'file');
  const data = Float32Array.from({ length: 40 }, (_, i) => Math.sin(i));
  data[3 * 8 + 2] = NaN;
  await setFiles('#file', ['x.npy', writeNpy({ data, shape: [5, 8] })]);
  await page.waitForSelector('#pictures:not([hidden])');
  await settle();
  const colourOf = (selector) =>
    page.evaluate((selector) => {
      const canvas = part(selector);
      const at = (share) => [
        ...canvas.getContext('2d').getImageData(canvas.width * 0.97, canvas.height * share, 1, 1).data,
      ];
      return at(0.78).slice(0, 3);
    }, selector);
  assert.deepEqual(await colourOf('#large'), [200, 0, 140]);
  assert.equal(await page.locator('#not-finite').isVisible(), true);
  assert.match(await textOf('#not-finite'), /NaN/);
  await page.focus('#large');
  await walk(3, 1);
  assert.match(await textOf('#reading'), /NaN: a score in this row is NaN or infinite/);
  assert.match(await textOf('#announce'), /query “x4” → key “x2”: NaN/);
  assert.doesNotMatch(await textOf('#steps'), /hidden/);
  await page.selectOption('#mask', 'causal');
  await walk(0, 4);
  assert.match(await textOf('#reading'), /hidden by the mask/);
  await page.selectOption('#view', 'lines');
  await settle();
  await page.selectOption('#example', 'wide');
  await settle();
  assert.equal(await page.locator('#not-finite').isVisible(), false);
  assert.deepEqual(faults, []);
});

test('attention weights from elsewhere are said to be that, and not drawn as queries', async () => {
  await open();
  await page.selectOption('#example', 'file');
  const weights = { data: new Float32Array(2 * 3 * 5 * 5).fill(0.2), shape: [2, 3, 5, 5] };
  await setFiles('#file', ['model.npy', writeNpy(weights)]);
  await page.waitForFunction(() => /holds attention weights: its rows sum to 1/.test(part('#message').textContent));
  assert.equal(await page.locator('#pictures').isVisible(), false);
  assert.deepEqual(faults, []);
});
