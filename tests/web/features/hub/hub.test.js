// Tests models of the Hugging Face Hub in Chromium: after a name is typed, the heads of the model are shown. Requests
// for the Hub go to a local imitation.

import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { answer, imitateHub } from '../../../support/hub.js';
import { connect, smallModel } from '../../../support/hubPage.js';
import {
  assertAccessible,
  assertAccessibleInFullTier,
  assertNoSidewaysScroll,
  faults,
  openChooser,
  openEmpty,
  page,
  server,
} from '../../../support/page.js';
import { fullTest } from '../../../support/tier.js';

const BERT = 'me/tiny-bert';
let hub;
afterEach(() => hub?.close());

const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false');
const opened = (title) =>
  page.waitForFunction(
    (name) => part('.model-menu .under')?.textContent.trim() === name && part('.page').dataset.busy === 'false',
    title,
  );
const shaOf = (id) => hub.models.get(id).branches.get('main');
/** Waits for a problem, and resolves to the text of the problem that is shown. */
const problem = async () => {
  await page.locator('.problem').waitFor();
  return page.locator('.problem').textContent();
};

/** Opens an empty page with an imitated Hub. For `before`, see connect. */
async function start(models, { width = 1440, height = 900, hash = '', before, ...options } = {}) {
  hub = await imitateHub(models);
  await openEmpty({ viewport: { width, height }, locale: 'en-GB', ...options });
  await connect(page, hub, { before });
  await page.goto(`${server.url}#${hash}`);
  await settled();
}
const openPanel = openChooser;
async function type(name) {
  await openPanel();
  await page.locator('[data-name=hub]').fill(name);
  await page.keyboard.press('Enter');
}

test('a name is typed, and the heads of its model are shown; the address is a link to them', async () => {
  await start({ [BERT]: smallModel('bert') });
  await openPanel();
  await assertAccessibleInFullTier();
  await page.locator('[data-name=hub]').fill(BERT);
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await opened('tiny-bert');
  assert.equal(await page.locator('.thumbnail').count(), 8);
  await page.locator("[data-head='1.3']").click();
  await page.waitForFunction(() => part('.corner h2').textContent.includes('Layer 1, head 3'));
  const model = `${BERT}@${shaOf(BERT)}`;
  await page.waitForFunction((model) => location.hash.startsWith(`#model=${model}&`), model);
  assert.match(await page.evaluate(() => location.hash), /&layer=1&head=3$/);
  assert.deepEqual(faults, []);
});

fullTest('at 360 px the same by keyboard: arrow keys move between the box and the models, Escape closes', async () => {
  await start({ 'openai-community/gpt2': smallModel('gpt2') }, { width: 360, height: 740, locale: 'zh-CN' });
  await page.locator('.model-menu .word').focus();
  await page.keyboard.press('Enter');
  await page.locator('[data-key=open]').focus();
  await page.keyboard.press('Enter');
  await page.locator('.offer').first().waitFor();
  await page.waitForFunction(() => part('[data-name=hub]:focus'));
  await assertNoSidewaysScroll('the panel');
  await assertAccessible();
  await page.keyboard.type('gpt2');
  await page.waitForFunction(() => part('.page').querySelectorAll('.offer').length === 2);
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  const focused = () => page.evaluate(() => part(':focus').textContent);
  assert.match(await focused(), /^openai-community\/gpt2/);
  await page.keyboard.press('Enter');
  await opened('gpt2');
  // The recommended head is 5.5, but this model has only two layers of four heads.
  await page.waitForFunction(() => part('.thumbnail[aria-checked=true]').dataset.head === '1.3');
  await page.locator('.model-menu .word').focus();
  await page.keyboard.press('Enter');
  await page.locator('[data-key=open]').focus();
  await page.keyboard.press('Enter');
  await page.locator('.offer').first().waitFor();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => part('.panel') === null);
});

fullTest('a link that was copied from the Hub is opened', async () => {
  await start({ [BERT]: smallModel('bert') });
  await type(`https://huggingface.co/${BERT}/tree/main`);
  await opened('tiny-bert');
  await page.waitForFunction((sha) => location.hash.includes(sha), shaOf(BERT));
});

test('a name that does not exist is refused with advice, and what was typed stays', async () => {
  await start({ [BERT]: smallModel('bert') });
  await type('me/tiny-brt');
  assert.match(await problem(), /no such model on the Hub, or it is private\. Check the spelling/);
  assert.equal(await page.locator('[data-name=hub]').inputValue(), 'me/tiny-brt');
  await page.locator('[data-name=token]').waitFor();
  await assertAccessibleInFullTier();
  await page.locator('[data-name=hub]').fill('two words');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.problem')?.textContent.includes('is not the name of a model'));
  assert.equal(await page.locator('[data-name=token]').count(), 0);
  await page.locator('[data-name=hub]').fill(`${BERT}@other`);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.problem')?.textContent.includes('no such revision'));
  await page.locator('[data-name=hub]').fill(BERT);
  await page.keyboard.press('Enter');
  await opened('tiny-bert');
});

fullTest('a gated model asks for a token, which is stored nowhere and sent to the Hub only', async () => {
  await start({ 'big/gated': { gated: true, accepted: true, files: smallModel('bert') } });
  await type('big/gated');
  assert.match(await problem(), /ask for consent\. Accept its terms on its page/);
  assert.equal(
    await page.getByRole('link', { name: 'Accept its terms' }).getAttribute('href'),
    'https://huggingface.co/big/gated',
  );
  await page.locator('[data-name=token]').fill('hf_wrong');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => part('.problem')?.textContent.includes('does not accept this token'));
  await page.locator('[data-name=token]').fill('hf_secret');
  await page.keyboard.press('Enter');
  await opened('gated');
  const kept = await page.evaluate(async () => {
    const names = [];
    const list = async (folder) => {
      for await (const entry of folder.values())
        if (entry.kind === 'directory') await list(entry);
        else names.push(entry.name, (await (await entry.getFile()).text()).slice(0, 2000));
    };
    await list(await navigator.storage.getDirectory());
    return [location.href, JSON.stringify(history.state), JSON.stringify({ ...localStorage }), ...names].join(' ');
  });
  assert.doesNotMatch(kept, /hf_secret/);
  assert.ok(hub.requests.every(({ path }) => !path.includes('hf_')));
});

fullTest(
  'a stored model opens without a connection; another one says what is missing, and is tried again',
  async () => {
    let connected = true;
    await start({ [BERT]: smallModel('bert'), 'me/other': smallModel('gpt2') }, { before: () => connected });
    await type(BERT);
    await opened('tiny-bert');
    await page.goto(server.url);
    await settled();
    connected = false;
    hub.again();
    await openPanel();
    await page.getByRole('button', { name: new RegExp(`^${BERT}`) }).click();
    await opened('tiny-bert');
    assert.deepEqual(hub.requests, []);
    await type('me/other');
    assert.match(await problem(), /cannot be reached\. Check the connection, then try again/);
    connected = true;
    await page.getByRole('button', { name: 'Try again' }).click();
    await opened('other');
  },
);

fullTest('while the Hub limits requests the page says that it waits, and then continues', async () => {
  await start({ [BERT]: smallModel('bert') });
  let limited = true;
  hub.fault = () => (limited ? answer(429, { 'retry-after': '1' }) : undefined);
  await type(BERT);
  await page.waitForFunction(() => part('.hub .status')?.textContent.includes('the next attempt follows'));
  limited = false;
  await opened('tiny-bert');
});

fullTest('a stored model is deleted', async () => {
  await start({ [BERT]: smallModel('bert') });
  await type(BERT);
  await opened('tiny-bert');
  await openPanel();
  await page.getByRole('button', { name: `Delete ${BERT} from this browser` }).click();
  await page.waitForFunction(() => part('.stored') === null && part('.offer'));
  assert.match(await page.locator('.spoken').textContent(), /is deleted from this browser/);
  const left = await page.evaluate(async () => {
    let bytes = 0;
    const list = async (folder) => {
      for await (const entry of folder.values())
        if (entry.kind === 'directory') await list(entry);
        else bytes += (await entry.getFile()).size;
    };
    await list(await navigator.storage.getDirectory());
    return bytes;
  });
  assert.ok(left < 1000, `${left} bytes`);
});
