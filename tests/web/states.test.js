// Walks through the states of the page, each of which it opens once in each language. At every width nothing is cut
// off, no two controls or texts overlap, every target is large enough, and axe finds no fault. At the width of a
// desktop, and for some states at that of a phone, the page has the structure, numbers and drawings of
// tests/golden/shown. The numbers are those of the demo model.

import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAccessible, assertNoSidewaysScroll, drawn, faults, openAt, page, spoil } from '../support/page.js';
import { assertShown } from '../support/shown.js';
import { inTier, isFullTier } from '../support/tier.js';
import { HEIGHTS } from './open.js';
import { STATES } from './states.js';

/** Widths from wide to narrow, because Escape on a phone also closes the panel of a state. */
const WIDTHS = inTier(Object.keys(HEIGHTS).map(Number).reverse(), [1440, 1024, 768, 360]);
/** The widths of a desktop and of a phone, at which the page is compared with tests/golden/shown. */
const [DESKTOP, PHONE] = [1440, 360];
/** Widths at which axe runs, one for each layout of the page. In the default tier the states take turns. */
const LAYOUTS = [1440, 768, 360];
const LOCALES = inTier(['en-GB', 'zh-CN'], ['en-GB']);

/**
 * The states of the default tier, each with a part that is shown when the state is complete, and the part that is
 * compared.
 */
const USUAL = {
  explore: ['.reading .adds', '.page'],
  constructed: ['.corner p', '.page'],
  flow: ['.neighbours', '.page'],
  lines: ['svg.lines', '.page'],
  textLong: ['.surprise-whole dd', '.page'],
  beside: ['.comparing .row-table', '.page'],
  difference: ['.comparing .row-table', '.page'],
  unpinned: ['.nothing-pinned', '.page'],
  patches0: ['.pane canvas', '.page'],
  table: ['.heads-table td', '.page'],
  story4: ['.sums', '.page'],
  tried: ['.ablation li', '.page'],
  beforeTraining: ['.letters .letter', '.page'],
  one: ['.corner p', '.page'],
  empty: ['.nothing h2', '.page'],
};
/**
 * Further states of the full tier, which are checked at every width. Those without a second part are not compared,
 * because their numbers differ between runs, or other tests compare them.
 */
const FURTHER = {
  circuit: ['.circuit-list li', 'main'],
  patch: ['.patched .word', 'main'],
  circuitCut: ['.circuit-guesses li', 'main'],
  circuitRefused: ['.circuit-note'],
  written: ['.written-control .slider b', '.page'],
  sum: ['.sum li b', 'main'],
  storyCut: ['.cut-line .switch', 'main'],
  quiz: ['.quiz-buttons', 'main'],
  ownText: ['.most-changed li'],
  ownTextBeside: ['.most-changed li'],
  clip: ['.matching-line .bar'],
  clipPicture: ['.matching-line .bar'],
  t5Flow: ['.flow-piece', 'main'],
  t5Off: ['.ablation li'],
  mpnetOff: ['.turned dl', 'main'],
  microphoneRefused: ['.frame-letters .option'],
  whisper: ['.spectrogram canvas'],
  wav2vec2: ['.frame-letters .option'],
};
/** States of the full tier that are only compared. Without a second part, the first is compared. */
const COMPARED = {
  cell: ['main'],
  off: ['.turned, .reading .adds', 'main'],
  flowread: ['main'],
  circuitLength: ['main'],
  trace: ['main'],
  traceBegin: ['main'],
  traceOffer: ['main'],
  traceSame: ['main'],
  text: ['main'],
  words: ['main'],
  prompts: ['.comparing .row-table', 'main'],
  painted: ['main', '.page'],
  brush: ['main', '.page'],
  paragraph: ['main'],
  patches: ['.pane canvas', 'main'],
  sentence: ['main', '.page'],
  elsewhere: ['main', '.page'],
  gone: ['main', '.page'],
  story1: ['main'],
  story3: ['main'],
  story3seen: ['main'],
  story4seen: ['main'],
  story8: ['main'],
  story8seen: ['main'],
  story9: ['main'],
  storyCutSeen: ['main'],
  quizResult: ['main'],
  first0: ['.page'],
  first1: ['.page'],
  first2: ['.page'],
  first3: ['.page'],
  full: ['main'],
  t5: ['main', '.page'],
  told: ['main', '.page'],
  problem: ['.page'],
  open: ['.page'],
  menu: ['.header'],
  more: ['.header'],
  help: ['.page'],
  changes: ['.whatif'],
  share: ['.whatif'],
  kinds: ['.legend'],
};
/** States that are also compared on a phone. */
const NARROW = ['cell', 'trace', 'text', 'story4seen', 'circuitCut', 'flow', 'explore', 'difference', 'first1'];
/** States whose actions make changes that opening an address does not undo. */
const CHANGED = [
  ...['circuitRefused', 'tried', 'ownText', 'ownTextBeside', 't5', 't5Flow', 't5Off', 'mpnetOff', 'clip'],
  ...['clipPicture', 'microphoneRefused', 'whisper', 'wav2vec2', 'elsewhere', 'full', 'told', 'problem'],
];

/** Selectors of controls and of texts that must not overlap others of the same group. */
const CONTROLS = [
  '.header button',
  '.whatif button, .whatif .slider',
  '.instrument button',
  '.matching :is(button, input)',
  '.sentence textarea, .write',
];
const TEXTS = [
  '.layer-name, .layer-word, .role-name, .sort .word',
  '.adding li button > span, .adding li button > b',
  '.flow-target, .flow-others .word',
  '.sound-title :is(h2, p), .sound-note, .sound-controls .word, .choice.parts .word',
  '.tick-time',
  '.frame-letters :is(h2, .spelled, .option .token, .option b)',
  '.turned h2, .turned dt, .turned dd b, .turned .other',
  '.circuit-figure, .circuit-role, .circuit-pill, .circuit-title, .circuit-guess, .few',
  '.circuit-tokens span',
  '.circuit-list .line-name, .circuit-list .was, .circuit-list b',
  '.plot .waiting, .plot .at-end',
  '.changed :is(h2, h3, th, td, .how, i), .own :is(.word, span)',
  '.corner .head-name, .corner > p, .words .line',
  '.whatif .word, .whatif .slider > span',
];
/** Texts that must be whole, and parts that must end above the what-if line, in a wide window. */
const WIDE = {
  whole: '.corner p',
  above: '.adding .total, .reading .adds, .picture .matrix, .patches-panes .pane',
};
/** Texts above a picture, which must not overlap its labels. In a narrow window, labels of keys are slanted. */
const TITLES = '.corner .head-name, .corner > p';
const [ROWS, KEYS] = ['.picture .row-label', '.picture .key-label'];

/** Returns the faults of the displayed page. @returns {Promise<string[]>} */
const audit = () =>
  page.evaluate(
    ([controls, texts, wide, titles, rows, keys]) => {
      // Uses the frame of a thumbnail, because a thumbnail also responds to the pointer around its picture, where other
      // controls may be.
      const boxOf = (element) => (element.querySelector(':scope > .frame') ?? element).getBoundingClientRect();
      const textOf = (element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return range.getBoundingClientRect();
      };
      const nameOf = (element) => element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40);
      const all = (selector) =>
        [...part('.page').querySelectorAll(selector)].filter(
          (one) => one.checkVisibility({ visibilityProperty: true }) && boxOf(one).width > 1,
        );
      const measured = (elements, measure) =>
        elements.map((element) => [element, measure(element)]).filter(([, { width }]) => width > 0);
      const covering = ([a, x], others) =>
        others
          .filter(([b, y]) => {
            const wide = Math.min(x.right, y.right) - Math.max(x.left, y.left);
            return wide > 1 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 1 && !a.contains(b);
          })
          .map(([b]) => `${nameOf(a)} overlaps ${nameOf(b)}`);
      const pairs = (elements, measure) =>
        measured(elements, measure).flatMap((one, i, boxes) => covering(one, boxes.slice(i + 1)));
      const isPhone = part('.page.phone') !== null;
      // A table may scroll sideways in its own box. Elements fixed to the edge of the window cover elements that
      // scroll.
      const cut = all('.word, .sample, .slider, b').filter(
        (one) => !one.closest('.scrolls') && (boxOf(one).left < 0 || boxOf(one).right > innerWidth),
      );
      const small = (selector, least) =>
        all(selector).filter((one) => Math.min(boxOf(one).width, boxOf(one).height) < least);
      const targets = isPhone
        ? small('.header button, .legend button, .whatif .word, .trainbar .word, .prediction .option', 44)
        : [];
      // At 1280 px, the role in the title of `lines` has two lines of room, and the list of `flow` scrolls.
      const isWide = innerWidth >= 1024 && innerWidth !== 1280;
      const hidden = (isWide ? all(wide.whole) : []).filter(
        (one) => one.scrollHeight - one.clientHeight > 1 || one.scrollWidth > one.clientWidth,
      );
      const line = part('.whatif')?.getBoundingClientRect().top ?? Infinity;
      const below = isWide ? all(wide.above).filter((one) => boxOf(one).bottom > line + 1) : [];
      const labels = measured([...all(rows), ...(isWide ? all(keys) : [])], textOf);
      return [
        ...hidden.map((one) => `${nameOf(one)} is not whole`),
        ...below.map((one) => `${one.className} ends below the what-if line`),
        ...measured(all(titles), textOf).flatMap((title) => covering(title, labels)),
        ...cut.map((one) => `${nameOf(one)} is cut off`),
        ...[...targets, ...small('.word:not(.at-end)', 24)].map((one) => `${nameOf(one)} is a small target`),
        ...controls.flatMap((selector) =>
          pairs(
            all(selector).filter((one) => !one.closest('.sheet')),
            boxOf,
          ),
        ),
        ...texts.flatMap((selector) => pairs(all(selector), textOf)),
      ];
    },
    [CONTROLS, TEXTS, WIDE, TITLES, ROWS, KEYS],
  );

/** Returns the faults of the displayed page, also with the list of rarely used controls open. */
async function auditAll() {
  const found = await audit();
  const rare = page.locator('.changes > button, .seldom > button');
  if (!(await rare.isVisible())) return found;
  await rare.click();
  await page.locator('.settings, .more').waitFor();
  found.push(...(await audit()));
  await page.keyboard.press('Escape');
  return found;
}

async function openState(name, locale) {
  const { hash = '', act, fresh = false } = STATES[name];
  await openAt(hash, { locale, reducedMotion: 'reduce', fresh });
  if (act) await act(page);
  if (CHANGED.includes(name) || fresh) spoil();
}

/** Sets the width of the window, and waits until a part of the state is shown in it. */
async function resize(width, shown) {
  await page.setViewportSize({ width, height: HEIGHTS[width] });
  // After a change of the width, the layout needs several frames.
  const isComplete = (shown) =>
    (part(shown) || part('.page.phone')) && document.documentElement.scrollWidth <= innerWidth;
  await page.waitForFunction(isComplete, shown);
  await drawn();
}

/** Compares a part of the page with the files of a state, before Escape closes anything. */
async function compare(name, shown, part) {
  await resize(DESKTOP, shown);
  await assertShown(name, part);
  if (!isFullTier || !NARROW.includes(name)) return;
  await resize(PHONE, shown);
  await assertShown(`${name}-${PHONE}`, part);
}

// The state `tried` is opened only in English, because it waits for an English text.
for (const locale of LOCALES)
  for (const [i, [name, [shown, compared]]] of Object.entries({ ...USUAL, ...inTier(FURTHER, {}) }).entries())
    if (name !== 'tried' || locale === 'en-GB')
      test(`${name}, ${locale}: looks as before, and nothing is cut off, overlaps or is too small`, async () => {
        await openState(name, locale);
        if (locale === 'en-GB' && compared) await compare(name, shown, compared);
        const found = [];
        for (const width of WIDTHS) {
          await resize(width, shown);
          found.push(...(await auditAll()).map((fault) => `${width} px: ${fault}`));
          await assertNoSidewaysScroll(`${width} px`);
          const isChecked = isFullTier ? LAYOUTS.includes(width) : width === LAYOUTS[1 + (i % 2)];
          if (locale === 'en-GB' && isChecked) await assertAccessible();
        }
        assert.deepEqual(found, []);
        assert.deepEqual(faults, []);
      });

for (const [name, [shown, compared = shown]] of Object.entries(inTier(COMPARED, {})))
  test(`${name}: looks as before`, async () => {
    await openState(name, 'en-GB');
    await compare(name, shown, compared);
  });
