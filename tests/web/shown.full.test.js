// Checks that the text and drawings of each state are unchanged, at the width of a desktop and of a phone. Numbers are
// those of the demo model. widths.test.js, in the default tier, compares further states, which it opens anyway.

import test from 'node:test';
import { drawn, openAt, page, spoil } from '../support/page.js';
import { assertShown } from '../support/shown.js';
import { STATES } from './states.js';

/**
 * The states, each with the part that is compared, and optionally a part that is shown when the state is complete.
 * @type {Record<string, [part: string, shown?: string]>}
 */
const PARTS = {
  cell: ['main'],
  off: ['main', '.turned, .reading .adds'],
  patch: ['main', '.patched .word'],
  flowread: ['main'],
  circuit: ['main'],
  circuitCut: ['main', '.circuit-guesses li'],
  circuitLength: ['main'],
  trace: ['main'],
  traceBegin: ['main'],
  traceOffer: ['main'],
  traceSame: ['main'],
  text: ['main'],
  written: ['.page', '.written-control .slider b'],
  sum: ['main', '.sum li b'],
  words: ['main'],
  prompts: ['main', '.comparing .row-table'],
  painted: ['.page'],
  brush: ['.page'],
  paragraph: ['main'],
  patches: ['main', '.pane canvas'],
  sentence: ['.page'],
  gone: ['.page'],
  story1: ['main'],
  story3: ['main'],
  story3seen: ['main'],
  story4seen: ['main'],
  story8: ['main'],
  story8seen: ['main'],
  story9: ['main'],
  storyCut: ['main'],
  storyCutSeen: ['main'],
  quiz: ['main'],
  quizResult: ['main'],
  first0: ['.page'],
  first1: ['.page'],
  first2: ['.page'],
  first3: ['.page'],
  elsewhere: ['.page'],
  full: ['main'],
  t5: ['.page'],
  t5Flow: ['main', '.flow-piece'],
  mpnetOff: ['main', '.turned dl'],
  told: ['.page'],
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
/** States that an address does not restore. */
const OPENED = ['elsewhere', 'full', 't5', 't5Flow', 'mpnetOff', 'told', 'problem'];

for (const [width, height, names] of /** @type {const} */ ([
  [1440, 900, Object.keys(PARTS)],
  [360, 740, NARROW],
]))
  for (const name of names)
    test(`${name}, ${width} px: the page says and draws what it did`, async () => {
      const { hash = '', act, fresh = false } = STATES[name];
      await openAt(hash, { locale: 'en-GB', viewport: { width, height }, reducedMotion: 'reduce', fresh });
      if (OPENED.includes(name) || fresh) spoil();
      if (act) await act(page);
      const [part = '', shown = part] = PARTS[name] ?? ['.page'];
      await page.waitForFunction((shown) => globalThis.part(shown) || globalThis.part('.phone'), shown);
      await drawn();
      await assertShown(width < 700 ? `${name}-${width}` : name, part);
    });
