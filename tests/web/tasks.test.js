// What a visitor comes for, by keyboard alone: everything is reached by Tab, chosen by Enter and walked by arrows. By
// mouse and by touch the same is done in the tests of the views.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { writeNpy } from '../../src/js/io/formats.js';
import { faults, openEmpty, page, server } from '../support/page.js';

/** More elements than this can be reached by Tab in no state. */
const MOST_TABS = 200;

const settle = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('#picture'));
const press = async (...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
const text = (selector) => page.locator(selector).first().textContent();
const says = (selector, wanted) =>
  page.waitForFunction(([at, it]) => part(at)?.textContent.includes(it), /** @type {const} */ ([selector, wanted]));

async function open(hash = '') {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  await page.goto(`${server.url}${hash}`);
  await settle();
}

/** Tab, until what has the focus is called so. @param {RegExp} wanted */
async function reach(wanted) {
  const seen = new Set();
  for (let tabs = 0; tabs < MOST_TABS; tabs++) {
    await press('Tab');
    const name = await page.evaluate(() => {
      let at = document.activeElement;
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
      return (at?.getAttribute('aria-label') || at?.labels?.[0]?.textContent || at?.textContent || '').trim();
    });
    if (wanted.test(name)) return;
    seen.add(name);
  }
  assert.fail(`${wanted} is not reached by Tab, only ${[...seen].join(' | ')}`);
}

test('the head that finds the repetition is named; switched off, the guess falls; undone, it is back', async () => {
  await open();
  assert.match(await text('.corner'), /Layer 5, head 3.*looks at what came next/s);
  const before = await text('.prediction li b');
  await reach(/^off$/);
  await press('Enter');
  await says('.corner h2', 'is off');
  await page.waitForFunction((before) => part('.prediction li b').textContent !== before, before);
  await press('Control+z');
  await page.waitForFunction((before) => part('.prediction li b').textContent === before, before);
  assert.deepEqual(faults, []);
});

test('weights from elsewhere are opened with their tokens, and a cell is read', async () => {
  await open();
  const folder = await mkdtemp(join(tmpdir(), 'headlight-'));
  await writeFile(join(folder, 'attentions.npy'), writeNpy({ data: Float32Array.of(1, 0, 0.25, 0.75), shape: [2, 2] }));
  await writeFile(join(folder, 'tokens.json'), '["here", "there"]');
  await reach(/^Open…$/);
  await press('Enter');
  await reach(/^Files…/);
  const chooser = page.waitForEvent('filechooser');
  await press('Enter');
  await (await chooser).setFiles(['attentions.npy', 'tokens.json'].map((name) => join(folder, name)));
  await says('.row-words', 'there');
  await settle();
  await reach(/^What looks at what/);
  await press('Home');
  await says('.spoken', 'there to here: 0.25');
});

test('two prompts stand beside each other', async () => {
  await open();
  await reach(/^Pin$/);
  await press('Enter');
  await reach(/^The text/);
  await press('End');
  await page.keyboard.type(' time');
  await settle();
  await reach(/^Compare/);
  await press('Enter', 'Enter');
  await page.waitForFunction(() => part('.compare')?.querySelectorAll('.matrix canvas').length === 2);
});

test('a task is trained, and one writes into what has learned it', async () => {
  await open();
  await reach(/^Train$/);
  await press('Enter');
  await page.waitForFunction(() => Number(part('.time input')?.value) > 0);
  await reach(/^pause$/i);
  await press('Enter');
  await page.waitForFunction(() => part('.play path:not(.full)') === null);
  await reach(/^Try your own letters/);
  await press('Enter');
  await page.waitForFunction(() => part('textarea') && part('.page').dataset.busy === 'false');
  await reach(/^The text/);
  const before = await page.locator('textarea').inputValue();
  await press('End');
  await page.keyboard.type('a');
  await page.waitForFunction((before) => part('textarea').value !== before, before);
  await settle();
  assert.deepEqual(faults, []);
});

test('the picture is saved as a drawing', async () => {
  await open();
  await reach(/^Export$/);
  await press('Enter');
  const saved = page.waitForEvent('download');
  await reach(/SVG/);
  await press('Enter');
  const file = await saved;
  assert.match(file.suggestedFilename(), /\.svg$/);
  assert.match(await readFile(await file.path(), 'utf8'), /^<svg[\s\S]*Layer 5, head 3/);
});
