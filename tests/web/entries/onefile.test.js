// Tests the page that is a single file, opened from a disk without a network.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { inflateSync } from 'node:zlib';
import { writeNpy } from 'headlight-attention/formats';
import { OPENING } from '../../../web/model/state.ts';
import { GUESS } from '../../support/opening.js';
import { faults, headSwitch, openChooser, openEmpty, openTraining, page, spoil } from '../../support/page.js';

const FILE = new URL('../../../dist/headlight.html', import.meta.url);

let asked = [];
async function open(hash = '') {
  await openEmpty({ offline: true, locale: 'en-GB', viewport: { width: 1440, height: 900 } });
  asked = [];
  page.on('request', (request) => asked.push(request.url().split(':')[0]));
  await page.goto(`${FILE}${hash}`);
  await page.locator('.matrix').waitFor();
}
const assertAlone = () => {
  assert.deepEqual(
    asked.filter((scheme) => !['file', 'blob', 'data'].includes(scheme)),
    [],
  );
  assert.deepEqual(faults, []);
};
const first = () => page.locator('.prediction .option').first();

test('the whale guesses, a head is switched off, and the text goes on', async () => {
  await open();
  await page.locator('.prediction .tick').first().waitFor();
  assert.match(await first().textContent(), new RegExp(`^${GUESS}\\s*\\d\\d%`));
  await headSwitch().click();
  await page.waitForFunction((guess) => !part('.prediction .option').textContent.startsWith(guess), GUESS);
  await page.getByRole('button', { name: 'write on' }).click();
  await page.waitForFunction((least) => part('.sentence textarea').value.length > least, OPENING.length + 5);
  await page.waitForFunction(() => /scale=4\.2/.test(location.hash));
  assertAlone();
});

test('files are opened, and a model is trained', async () => {
  await open();
  const weights = Float32Array.from({ length: 2 * 4 * 4 }, (_, i) => (i % 4 === 0 ? 0.7 : 0.1));
  await openChooser();
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([
      { name: 'attentions.npy', mimeType: '', buffer: Buffer.from(writeNpy({ data: weights, shape: [2, 4, 4] })) },
      { name: 'tokens.json', mimeType: '', buffer: Buffer.from('["a","b","c","d"]') },
    ]);
  await page.waitForFunction(() => part('[data-name=weight]')?.textContent === '0.70');
  await openTraining();
  await page.waitForFunction(() => Number(part('.time input')?.value) >= 2);
  assertAlone();
});

test('its size is what README says', async () => {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  const said = Number(/`dist\/headlight\.html`[^.]*\((\d\.\d) MB\)/.exec(readme)?.[1]);
  const { length } = await readFile(FILE);
  assert.ok(Math.abs(length / 1e6 - said) < 0.1, `README says ${said} MB, the file has ${length} bytes`);
});

// With a 'use strict' for each module, the bytes of the file would differ between builds.
test('each script says once that it is strict', async () => {
  const html = await readFile(FILE, 'utf8');
  for (const id of ['page', 'worker']) {
    const [, folded] = new RegExp(`<script type="text/plain" id="${id}">([^<]*)`).exec(html) ?? [];
    const script = inflateSync(Buffer.from(folded, 'base64')).toString();
    assert.ok(script.startsWith('"use strict";\n'), id);
    assert.equal(script.split('"use strict"').length, 2, id);
  }
});

test('its policy lets only its own scripts run', async () => {
  await open();
  const ran = await page.evaluate(async () => {
    const violations = [];
    document.addEventListener('securitypolicyviolation', ({ violatedDirective }) => violations.push(violatedDirective));
    document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.injected = 1' }));
    const button = document.body.appendChild(document.createElement('button'));
    button.setAttribute('onclick', 'window.injected = 2');
    button.click();
    button.remove();
    await new Promise((resolve) => setTimeout(resolve));
    return { injected: window.injected ?? null, violations };
  });
  assert.equal(ran.injected, null);
  assert.deepEqual(new Set(ran.violations), new Set(['script-src-elem', 'script-src-attr']));
  spoil();
});
