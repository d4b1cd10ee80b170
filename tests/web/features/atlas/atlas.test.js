// Tests the map of all heads in Chromium, by mouse and by keyboard: own texts, an induction head, a HeadVis folder, and
// accessibility (axe).

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { readZip } from '../../../../src/js/io/zip.ts';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  assertNoSidewaysScroll,
  download,
  faults,
  openAt,
  openChooser,
  page,
  share,
  spoil,
} from '../../../support/page.js';
import { TEXTS as LETTERS, PLANTED, plantedFiles } from '../../../support/plantedModel.js';
import { assertShown } from '../../../support/shown.js';
import { fullTest, inTier } from '../../../support/tier.js';

const passages = readFileSync(new URL('../../../../web/demo/whale.passages.txt', import.meta.url), 'utf8');
/** Passages in which phrases repeat, so that an induction head has earlier occurrences to attend to. */
const TEXTS = passages
  .split('\n')
  .slice(0, 6)
  .map((text) => `${text.slice(0, 160)} ${text.slice(0, 160)}`)
  .join('\n\n');
const [TREE, CORPUS] = ['heads/headvis', 'corpus'].map((name) =>
  fileURLToPath(new URL(`../../../golden/${name}`, import.meta.url)),
);

const finished = () =>
  page.waitForFunction(() => part('.atlas-header .menu') && part('.strip-line') && part('.atlas-rule'));
const textOf = (selector) => page.evaluate((s) => part(s)?.textContent ?? null, selector);
const focused = (selector) =>
  page.waitForFunction((s) => document.querySelector('body > div').shadowRoot.activeElement?.matches(s), selector);

/** Opens the page at an address, and then the map of all heads. */
async function enter(hash = '', options = {}) {
  await openAt(hash, options);
  await page.locator('.legend button', { hasText: /^(Atlas|图谱)$/ }).click();
  await page.waitForFunction(() => part('.atlas-header .scan'));
}

fullTest('before the first scan the heads are placed by the sentence, and the page says so', async () => {
  await enter();
  assert.match(await textOf('.atlas-header'), /All 20 heads.*Based on one sentence\. Scan 300 passages, about/s);
  // Before the scan, the text above is the example.
  assert.match(await textOf('.atlas-passages'), /In the text above\. A scan shows/);
  assert.ok((await page.locator('.strip-line').count()) > 3);
  assert.match(await textOf('.atlas-head'), /Looks from/);
  assert.equal(await page.locator('.atlas-shapes .filled').count(), 0);
  await assertAccessible();
  await assertShown('atlas-map', '.atlas-area');
  await assertShown('atlas-passages', '.atlas-passages');
});

test('by mouse: own texts are scanned, the induction head is chosen on the map, and a passage opens', async () => {
  await enter('layer=0&head=0');
  spoil();
  await page.click('text=your own texts…');
  await page.fill('.own-texts textarea', `${TEXTS}\n\n   \n`);
  assert.match(await textOf('.own-texts'), /6 passages of at most 128 tokens/);
  assert.equal(await page.locator('.first-lines li').count(), 5);
  await page.click('.own-texts [aria-pressed] >> text=64');
  assert.match(await textOf('.own-texts'), /of at most 64 tokens/);
  await page.click('.own-texts [aria-pressed] >> text=128');
  await assertAccessibleInFullTier();
  await page.click('.own-texts .scan');
  await finished();
  assert.match(await textOf('.atlas-header'), /over 6 passages, \d+ tokens of pasted texts/);
  // The map has a label at the induction head.
  assert.ok((await page.locator('.atlas-labels i', { hasText: 'induction' }).count()) >= 1);
  const at = await page.evaluate(() => {
    const [picture] = [...part('.atlas-area').querySelectorAll('canvas')].slice(4 * 4 + 2);
    const box = picture.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  });
  await page.mouse.move(at.x, at.y);
  await page.waitForFunction(() => part('.atlas-pointed'));
  assert.match(await textOf('.atlas-pointed'), /Layer 4, head 2, induction/);
  await page.mouse.click(at.x, at.y);
  await page.waitForFunction(
    () => part('.atlas-head .title')?.textContent === 'Layer 4, head 2' && part('.atlas-tokens'),
  );
  assert.match(
    await textOf('.atlas-head'),
    /usuallyinductionwhere something repeats, .* came next0\.\d\d on averageover these 6 passages0\.\d\d/,
  );
  await assertShown('atlas-scanned', '.atlas-passages');
  // After a scan that was slow, the cost is measured only on request.
  await page.waitForFunction(() => {
    part('.atlas-cost button')?.click();
    return /Without it the model guesses worse, by \d\.\d+ bits per token/.test(part('.atlas-cost').textContent);
  });
  await assertAccessibleInFullTier();
  await page.locator('.strip-line').first().click();
  await page.waitForFunction(() => part('.matrix') && part('.page').dataset.busy === 'false');
  assert.match(await page.evaluate(() => location.hash), /text=/);
  // The page of the head shows the same role as the atlas.
  assert.match(await textOf('.corner'), /finds the same words earlier/);
  await page.evaluate(() => history.back());
  await page.waitForFunction(() => part('.atlas-rule'));
  assert.deepEqual(faults, []);
});

fullTest('by keyboard: own texts, the search for the induction head, its passages, and back', async () => {
  await enter('layer=0&head=0');
  spoil();
  await page.focus('.atlas-header [aria-expanded]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.own-texts');
  await page.focus('.own-texts textarea');
  await page.keyboard.insertText(TEXTS);
  // In the tab order, the choice of the passage length precedes the button.
  await page.waitForFunction(() => part('.own-texts .scan'));
  for (let i = 0; i < 4; i++) await page.keyboard.press('Tab');
  await focused('.scan');
  await page.keyboard.press('Enter');
  await finished();
  await page.focus('.atlas-area');
  await page.keyboard.press('/');
  await focused('.atlas-find input');
  await page.keyboard.type('indu');
  await page.keyboard.press('Enter');
  await focused('.atlas-area');
  await page.waitForFunction(
    () => part('.atlas-head .title')?.textContent === 'Layer 4, head 2' && part('.atlas-tokens'),
  );
  await page.keyboard.press(']');
  await page.waitForFunction(() =>
    /^Layer 4, head 3, .* tokens back, spread over/.test(part('[role=status].spoken').textContent),
  );
  await page.keyboard.press('[');
  const spokenOf = (pattern) =>
    page.waitForFunction((source) => new RegExp(source).test(part('[role=status].spoken').textContent), pattern.source);
  await spokenOf(/^Layer 4, head 2,/);
  await page.keyboard.press('ArrowUp');
  await spokenOf(/^Layer (?!4, head 2,)/);
  await page.keyboard.press('/');
  await focused('.atlas-find input');
  await page.keyboard.type('4.2');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () => part('.atlas-head .title')?.textContent === 'Layer 4, head 2' && part('.strip-line'),
  );
  await page.keyboard.press('Enter');
  await focused('.strip-line');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.matrix') && part('.page').dataset.busy === 'false');
  assert.deepEqual(faults, []);
});

fullTest('the slider shows weaker passages, the axes can be chosen, and all is in a table too', async () => {
  await enter();
  spoil();
  await page.click('text=your own texts…');
  await page.fill('.own-texts textarea', TEXTS);
  await page.click('.own-texts .scan');
  await finished();
  const before = await textOf('.passage-list');
  await page.focus('.atlas-slider input');
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((old) => part('.passage-list').textContent !== old, before);
  assert.match(await textOf('.atlas-slider'), /from the second fifth/);
  await page.keyboard.press('ArrowLeft');
  await page.hover('.strip-word');
  await page.click('.axis-line .opens >> nth=0');
  await page.click('[data-key=induction]');
  await page.waitForFunction(() => /axes=distance.induction/.test(location.hash));
  await page.click('.as-table');
  assert.equal(await page.locator('.atlas-table tbody tr').count(), 20);
  assert.match(await textOf('.atlas-table tbody tr:nth-child(19)'), /^4\.2induction/);
  await assertAccessible();
});

fullTest('a map is saved as numbers, as a drawing, and as a folder of HeadVis that the page opens again', async () => {
  await enter();
  spoil();
  await page.click('text=your own texts…');
  await page.fill('.own-texts textarea', TEXTS);
  await page.click('.own-texts .scan');
  await finished();
  const save = (name) => download(() => share(name));
  const csv = await save('Numbers of all heads, CSV');
  const [names, ...rows] = csv.bytes.toString().trim().split('\n');
  assert.deepEqual([csv.name, rows.length], ['headlight-heads.csv', 20]);
  assert.equal(
    names,
    'layer,head,role,role_weight,distance,variation,spread,previous,itself,induction,duplicate,first',
  );
  assert.match(rows[4 * 4 + 2], /^4,2,induction,0\.\d+,/);
  const svg = await save('Map, SVG');
  assert.match(svg.bytes.toString(), /^<svg.*<text[^>]*>4\.2 induction<\/text>.*<\/svg>\n$/s);
  const entries = readZip('test', (await save('For HeadVis, zip')).bytes);
  assert.equal(entries.filter(({ name }) => /^data\/heads\/L\dH\d\.json$/.test(name)).length, 20);
});

/** Tells whether the browser stores a scan of so many passages. Runs in the page. @param {number} passages */
const isStored = (passages) =>
  new Promise((resolve) => {
    const request = indexedDB.open('headlight-atlas');
    request.onsuccess = () => {
      const all = request.result.transaction('scans').objectStore('scans').getAll();
      all.onsuccess = () => {
        request.result.close();
        resolve(all.result.some(({ map }) => map.passages === passages));
      };
    };
  });

fullTest('a scan can be paused and stopped; the next visit opens a finished one', async () => {
  await enter();
  spoil();
  await page.click('.atlas-header .scan');
  await page.waitForFunction(() => part('.atlas-progress'));
  await page.click('text=Pause');
  await page.waitForFunction(() => part('.atlas-progress')?.textContent.includes('paused'));
  await page.click('text=Continue');
  await page.click('text=Stop here');
  await page.waitForFunction(() => /over \d+ of 300 passages/.test(part('.atlas-header').textContent));
  assert.equal(await page.locator('.atlas-progress').count(), 0);

  await page.click('text=your own texts…');
  await page.fill('.own-texts textarea', TEXTS.split('\n\n').slice(0, 2).join('\n\n'));
  await page.click('.own-texts .scan');
  await page.waitForFunction(() => part('.atlas-header')?.textContent.includes('over 2 passages'));
  while (!(await page.evaluate(isStored, 2)));
  await page.reload();
  await page.waitForFunction(() => part('.atlas-header')?.textContent.includes('over 2 passages'));
  await page.waitForFunction(() => part('.strip-line'));
});

/** Paths of the files of the golden HeadVis folder. */
const tree = readdirSync(TREE, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .map((path) => ({ path: `atlas/${path.slice(TREE.length + 1)}`, text: readFileSync(path, 'utf8') }));

for (const way of inTier(['mouse', 'keyboard'], ['mouse']))
  test(`a HeadVis folder is imported without a model, by ${way}`, async () => {
    await openAt('');
    spoil();
    if (way === 'mouse')
      await page.evaluate((files) => {
        const transfer = new DataTransfer();
        for (const { path, text } of files) {
          const file = new File([text], path.split('/').at(-1));
          Object.defineProperty(file, 'webkitRelativePath', { value: path });
          transfer.items.add(file);
        }
        Object.defineProperty(transfer, 'files', {
          value: [...files].map(({ path, text }) => {
            const file = new File([text], path.split('/').at(-1));
            Object.defineProperty(file, 'webkitRelativePath', { value: path });
            return file;
          }),
        });
        const event = new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true });
        Object.defineProperty(event, 'dataTransfer', { value: transfer });
        Object.defineProperty(transfer, 'types', { value: ['Files'] });
        window.dispatchEvent(event);
      }, tree);
    else {
      await page.focus('.model-menu > button');
      await page.keyboard.press('Enter');
      await page.focus('.model-menu [data-key=open]');
      await page.keyboard.press('Enter');
      await page.waitForSelector('input[webkitdirectory]', { state: 'attached' });
      await page.setInputFiles('input[webkitdirectory]', TREE);
    }
    await page.waitForFunction(() => part('.atlas-header')?.textContent.includes('from a folder'));
    await page.waitForFunction(() => part('.strip-line'));
    assert.match(await textOf('.whatif'), /Nothing to switch: this folder contains no model/);
    assert.match(await textOf('.atlas-cost'), /Not in this folder/);
    await assertAccessibleInFullTier();
    if (way === 'mouse') await assertShown('atlas-folder', 'main');
    if (way === 'keyboard') {
      await page.focus('.atlas-area');
      await page.keyboard.press('Enter');
      await focused('.strip-line');
      await page.keyboard.press('Enter');
    } else await page.locator('.strip-line').nth(1).click();
    // The page now shows the chosen passage.
    await page.waitForFunction(() => part('.matrix') && part('.row-words'));
    assert.deepEqual(faults, []);
  });

fullTest('nothing is wider than a phone, and axe finds nothing there or in the dark', async () => {
  await enter('', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', locale: 'zh-CN' });
  spoil();
  assert.match(await textOf('.atlas-header'), /全部 20 个头.*扫描 300 段文字/s);
  await page.click('.atlas-header [aria-expanded]');
  await page.fill('.own-texts textarea', TEXTS);
  await page.click('.own-texts .scan');
  await finished();
  await assertNoSidewaysScroll('the map on a phone');
  await assertAccessible();
});

fullTest('where a head finds nothing, its usual role opens its page in the atlas', async () => {
  await openAt('text=Call+me+old+man+of+sea&layer=4&head=2');
  await page.locator('.usual', { hasText: 'usually: induction; here: nothing to find' }).click();
  await page.waitForFunction(() => part('.atlas-head .title')?.textContent === 'Layer 4, head 2');
});

test('columns of a Parquet file are passages; another compression is named', async () => {
  await enter();
  await page.click('text=your own texts…');
  const files = ['texts', 'zstd'].map((name) => join(CORPUS, `${name}.parquet`));
  await page.locator('.own-texts input[type=file]').first().setInputFiles(files);
  await page.waitForFunction(() => part('.first-lines li'));
  await assertShown('atlas-texts', '.own-texts');
  const text = await textOf('.own-texts');
  assert.match(text, /column textlabel.*Call me Ishmael.*5 passages of at most 128 tokens/s);
  assert.match(text, /5 of 7 passages: 2 cannot be read.*zstd\.parquet: a compression other than Snappy/s);
  await page.locator('.own-texts [aria-pressed]', { hasText: 'label' }).click();
  assert.equal(await textOf('.first-lines'), 'ababa');
  assert.deepEqual(faults, []);
});

/** Returns the roles in the names of the thumbnails, by layer and head. Runs in the page. */
const rolesShown = () =>
  Object.fromEntries(
    [...document.querySelector('body > div').shadowRoot.querySelectorAll('.thumbnail')].map((thumbnail) => [
      thumbnail.dataset.head,
      thumbnail.getAttribute('aria-label').split(', ').slice(2).join(', '),
    ]),
  );
const settled = () => page.waitForFunction(() => part('.page').dataset.busy === 'false' && part('.role-name') !== null);

fullTest(
  'an opened model has the same roles before and after a scan, in the page, the table and the files',
  async () => {
    await openAt('');
    spoil();
    await openChooser();
    const files = Object.entries(plantedFiles()).map(([name, bytes]) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(bytes),
    }));
    await page.setInputFiles('[data-name=files]', files);
    await page.waitForFunction(
      () => document.querySelector('body > div').shadowRoot.querySelectorAll('[data-head]').length === 8,
    );
    await page.getByRole('textbox', { name: 'The text. Write here' }).fill(LETTERS[0]);
    await page.waitForFunction(() => part('.corner')?.textContent.includes('of its weight, on average'));
    await settled();
    const shown = { previous: 'previous', first: 'first token', induction: 'induction' };
    const expected = Object.fromEntries(
      PLANTED.flatMap((row, l) => row.map((role, h) => [`${l}.${h}`, role ? shown[role] : ''])),
    );
    assert.deepEqual(await page.evaluate(rolesShown), expected);
    await page.locator('.legend button', { hasText: 'Atlas' }).click();
    await page.click('text=your own texts…');
    await page.fill('.own-texts textarea', LETTERS.join('\n\n'));
    await page.click('.own-texts .scan');
    await finished();
    const csv = (await download(() => share('Numbers of all heads, CSV'))).bytes.toString().trim().split('\n');
    assert.deepEqual(
      csv.slice(1).map((line) => line.split(',').slice(0, 3).join(',')),
      PLANTED.flatMap((row, l) => row.map((role, h) => `${l},${h},${role ?? ''}`)),
    );
    await page.locator('.legend button', { hasText: 'Heatmap' }).click();
    await settled();
    assert.deepEqual(await page.evaluate(rolesShown), expected);
    assert.deepEqual(faults, []);
  },
);

/** Changes the stored scans into the form of an earlier version of the page. Runs in the page. */
const makeOld = () =>
  new Promise((resolve) => {
    const request = indexedDB.open('headlight-atlas');
    request.onsuccess = () => {
      const transaction = request.result.transaction('scans', 'readwrite');
      const all = transaction.objectStore('scans').getAll();
      all.onsuccess = () => {
        for (const { form: _, ...scan } of all.result) {
          const { means, chances, ...map } = scan.map;
          transaction.objectStore('scans').put({ ...scan, map: { ...map, holds: {}, chance: {} } });
        }
      };
      transaction.oncomplete = () => {
        request.result.close();
        resolve();
      };
    };
  });

test('the demo model has the same roles before a scan, after it and after a reload', async () => {
  await openAt('');
  spoil();
  await settled();
  const before = await page.evaluate(rolesShown);
  assert.deepEqual([before['4.2'], before['3.3']], ['induction', 'previous']);
  await page.locator('.legend button', { hasText: 'Atlas' }).click();
  await page.click('text=your own texts…');
  await page.fill('.own-texts textarea', TEXTS);
  await page.click('.own-texts .scan');
  await finished();
  await page.locator('.legend button', { hasText: 'Heatmap' }).click();
  await settled();
  assert.deepEqual(await page.evaluate(rolesShown), before);
  while (!(await page.evaluate(isStored, 6)));
  await page.reload();
  await settled();
  assert.deepEqual(await page.evaluate(rolesShown), before);
  // A scan that an earlier version of the page stored has no measures of roles, so it is not shown.
  await page.evaluate(makeOld);
  await page.reload();
  await settled();
  await page.locator('.legend button', { hasText: 'Atlas' }).click();
  await page.waitForFunction(() => part('.atlas-header .scan'));
  // Heads without a model cannot be scanned; the stored scan of another model does not matter.
  await page.evaluate(() => (location.hash = 'model=constructed&view=atlas'));
  await page.waitForFunction(() => part('.atlas-head .title') && part('.page').dataset.busy === 'false');
  assert.equal(await page.locator('.failure, .atlas-header .scan').count(), 0);
  assert.deepEqual(faults, []);
});
