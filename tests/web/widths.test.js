// Opens states of the page once, and checks them at every width and in both languages: nothing is cut off, no two
// controls or texts overlap, every target is large enough, and axe finds no fault.

import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAccessible, assertNoSidewaysScroll, drawn, faults, openAt, page, spoil } from '../support/page.js';
import { assertShown } from '../support/shown.js';
import { inTier } from '../support/tier.js';
import { STATES } from './states.js';

/** Heights of windows by their widths. */
const HEIGHTS = {
  2560: 1440,
  1920: 1080,
  1440: 900,
  1280: 800,
  1024: 768,
  900: 700,
  768: 1024,
  700: 900,
  600: 960,
  560: 800,
  360: 740,
};
/** Widths from wide to narrow, because Escape on a phone also closes the panel of a state. */
const WIDTHS = inTier(Object.keys(HEIGHTS).map(Number).reverse(), [1440, 768, 360]);
/** Widths at which axe runs, one for each layout of the page. */
const CHECKED_BY_AXE = inTier([1440, 768, 360], [768, 360]);
/** The width at which the page is compared with tests/golden/shown. */
const READ_AT = 1440;
const LOCALES = inTier(['en-GB', 'zh-CN'], ['en-GB']);

/**
 * The states of the default tier, each with a part that is shown when the state is complete. shown.full.test.js has
 * other states.
 */
const USUAL = {
  explore: '.reading .adds',
  constructed: '.corner p',
  flow: '.neighbours',
  lines: 'svg.lines',
  textLong: '.surprise-whole dd',
  beside: '.comparing .row-table',
  difference: '.comparing .row-table',
  unpinned: '.nothing-pinned',
  patches0: '.pane canvas',
  table: '.heads-table td',
  story4: '.sums',
  tried: '.ablation li',
  beforeTraining: '.letters .letter',
  one: '.corner p',
  empty: '.nothing h2',
};
const SHOWN = {
  ...USUAL,
  ...inTier(
    {
      circuit: '.circuit-list li',
      patch: '.patched .word',
      circuitCut: '.circuit-guesses li',
      circuitRefused: '.circuit-note',
      written: '.written-control .slider b',
      sum: '.sum li b',
      storyCut: '.cut-line .switch',
      quiz: '.quiz-buttons',
      ownText: '.most-changed li',
      ownTextBeside: '.most-changed li',
      clip: '.matching-line .bar',
      clipPicture: '.matching-line .bar',
      t5Flow: '.flow-piece',
      t5Off: '.ablation li',
      mpnetOff: '.turned dl',
      microphoneRefused: '.frame-letters .option',
      whisper: '.spectrogram canvas',
      wav2vec2: '.frame-letters .option',
    },
    {},
  ),
};

/** States whose actions make changes that opening an address does not undo. */
const CHANGED = [
  'circuitRefused',
  'tried',
  'ownText',
  'ownTextBeside',
  't5Flow',
  't5Off',
  'mpnetOff',
  'clip',
  'clipPicture',
  'microphoneRefused',
  'whisper',
  'wav2vec2',
];

/** Selectors of controls and of texts that must not overlap others of the same group. */
const CONTROLS = [
  '.header button',
  '.whatif button, .whatif .slider',
  '.instrument button',
  '.matching :is(button, input)',
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

/** Returns the faults of the displayed page. @returns {Promise<string[]>} */
const audit = () =>
  page.evaluate(
    ([controls, texts]) => {
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
      const pairs = (elements, measure) => {
        const boxes = elements.map((element) => [element, measure(element)]).filter(([, { width }]) => width > 0);
        return boxes.flatMap(([a, x], i) =>
          boxes
            .slice(i + 1)
            .filter(([b, y]) => {
              const wide = Math.min(x.right, y.right) - Math.max(x.left, y.left);
              return wide > 1 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 1 && !a.contains(b);
            })
            .map(([b]) => `${nameOf(a)} overlaps ${nameOf(b)}`),
        );
      };
      const isPhone = part('.page.phone') !== null;
      // A table may scroll sideways in its own box. Elements fixed to the edge of the window cover elements that
      // scroll.
      const cut = all('.word, .sample, .slider, b').filter(
        (one) => !one.closest('.scrolls') && (boxOf(one).left < 0 || boxOf(one).right > innerWidth),
      );
      const small = (selector, least) =>
        all(selector).filter((one) => Math.min(boxOf(one).width, boxOf(one).height) < least);
      const targets = isPhone ? small('.header button, .legend button, .whatif .word, .trainbar .word', 44) : [];
      return [
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
    [CONTROLS, TEXTS],
  );

// The state `tried` is opened only in English, because it waits for an English text.
for (const locale of LOCALES)
  for (const [name, shown] of Object.entries(SHOWN))
    if (name !== 'tried' || locale === 'en-GB')
      test(`${name}, ${locale}: nothing is cut off, overlaps or is too small at any width`, async () => {
        const { hash = '', act } = STATES[name];
        await openAt(hash, { locale });
        if (act) await act(page);
        if (CHANGED.includes(name)) spoil();
        const found = [];
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: HEIGHTS[width] });
          // After a change of the width, the layout needs several frames.
          const isComplete = (shown) =>
            (part(shown) || part('.page.phone .sheet')) && document.documentElement.scrollWidth <= innerWidth;
          await page.waitForFunction(isComplete, shown);
          await drawn();
          const report = (wrong) => found.push(...wrong.map((fault) => `${width} px: ${fault}`));
          if (locale === 'en-GB' && width === READ_AT && name in USUAL) await assertShown(name);
          report(await audit());
          await assertNoSidewaysScroll(`${width} px`);
          if (locale === 'en-GB' && CHECKED_BY_AXE.includes(width)) await assertAccessible();
          if (await page.locator('.changes > button, .seldom > button').isVisible()) {
            await page.locator('.changes > button, .seldom > button').click();
            await page.locator('.settings, .more').waitFor();
            report(await audit());
            await page.keyboard.press('Escape');
          }
        }
        assert.deepEqual(found, []);
        assert.deepEqual(faults, []);
      });
