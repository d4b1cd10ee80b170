// Defines the same actions on the page for three input methods: the mouse on a large screen, only the keyboard, and
// touch on a phone. A target is a selector, or a pattern that matches the accessible name of a control.

import assert from 'node:assert/strict';
import { page } from './page.js';

/** @import { Locator } from 'playwright-core' */
/** @typedef {string | RegExp} Control */

/** Maximum number of controls that Tab reaches, and of items in a list. */
const MOST = 200;
export const SCREEN = { viewport: { width: 1440, height: 900 } };
export const PHONE = { viewport: { width: 360, height: 740 } };
const TOUCHED = { ...PHONE, hasTouch: true, isMobile: true };
/**
 * Minimum size of a touch target in pixels. The width may be smaller than the height because targets may be in a row.
 */
const FINGER = { wide: 32, high: 35 };

const keys = async (/** @type {string[]} */ ...list) => {
  for (const key of list) await page.keyboard.press(key);
};
const times = (/** @type {number} */ n, /** @type {string} */ key) => Array(Math.max(n, 0)).fill(key);

/** @param {Control} control @returns {Locator} */
function find(control) {
  if (typeof control === 'string') return page.locator(control).filter({ visible: true }).first();
  const roles = /** @type {const} */ (['button', 'menuitem', 'menuitemradio', 'radio', 'slider', 'switch', 'textbox']);
  return roles
    .map((role) => page.getByRole(role, { name: control }))
    .reduce((all, one) => all.or(one), page.locator('input').and(page.getByLabel(control)))
    .filter({ visible: true })
    .first();
}

const isPhone = () => /** @type {any} */ (page.viewportSize()).width < 560;

/** Actions on controls that are rarely used, or whose position on a phone is different. */
const common = (/** @type {any} */ hand) => {
  /** Opens the list of changes from the what-if line, which contains most controls for changes. */
  const unfold = async () => {
    if ((await page.locator('.settings').count()) === 0) await hand.press('.changes > button');
  };
  const fold = async () => {
    if ((await page.locator('.settings').count()) > 0) await hand.press('.changes > button');
  };
  return {
    unfold,
    fold,
    /** Pins the run, or unpins it. On a phone the button is in the list of changes. */
    async pin() {
      if (!isPhone()) return hand.press('.whatif > .pin');
      await unfold();
      await hand.press('.settings .pin');
      await fold();
    },
    /** Opens the story, training, or the panel that opens models, which is in the menu of models. */
    async enter(/** @type {'story' | 'train' | 'open'} */ room) {
      if (room === 'open') await hand.pick('.model-menu > button', '.model-menu [data-key=open]');
      else await hand.press(`.${room}-word`);
    },
  };
};

/** Returns the position of the centre of a cell in the picture. */
async function cellAt(/** @type {number} */ t, /** @type {number} */ s) {
  const picture = page.locator('#picture');
  await picture.scrollIntoViewIfNeeded();
  const { width, height } = /** @type {any} */ (await picture.boundingBox());
  const rows = await page.locator('.labels .row-label').count();
  const columns = await page.locator('.labels .key-label').count();
  assert.ok(rows > 0 && columns > 0, 'the picture has labels of rows and columns');
  return { x: ((s + 0.5) * width) / columns, y: ((t + 0.5) * height) / rows };
}

/** Makes an input method with a pointer: mouse or touch. */
function pointing({ name, screen, tap, point, drag }) {
  const hand = {
    name,
    screen,
    async press(/** @type {Control} */ control) {
      await tap(find(control));
    },
    /** Opens a list, and chooses an item in it. */
    async pick(/** @type {Control} */ menu, /** @type {Control} */ item) {
      await hand.press(menu);
      await hand.press(item);
    },
    /** Chooses one item of a group in which the arrow keys move. */
    among: (/** @type {string} */ list, /** @type {number} */ i) => tap(page.locator(list).nth(i)),
    head: (/** @type {number} */ layer, /** @type {number} */ head) => hand.press(`[data-head='${layer}.${head}']`),
    /** Types at the end of the text. */
    async write(/** @type {string} */ text) {
      const field = page.locator('.sentence textarea');
      const { width, height } = /** @type {any} */ (await field.boundingBox());
      await tap(field, { position: { x: width - 3, y: height - 3 } });
      await page.keyboard.insertText(text);
    },
    async read(/** @type {number} */ t, /** @type {number} */ s) {
      await point(page.locator('#picture'), { position: await cellAt(t, s) });
    },
    /** Chooses a cell, which remains chosen until another one is chosen. */
    async keep(/** @type {number} */ t, /** @type {number} */ s) {
      await tap(page.locator('#picture'), { position: await cellAt(t, s) });
    },
    /** Chooses one of several answers. */
    choose: (/** @type {string} */ list, /** @type {number} */ i) => tap(page.locator(list).nth(i)),
    /** Paints the cells of a row, from one to another. */
    async paint(/** @type {number} */ t, /** @type {number} */ from, /** @type {number} */ to) {
      const [a, b] = [await cellAt(t, from), await cellAt(t, to)];
      const { x, y } = /** @type {any} */ (await page.locator('#picture').boundingBox());
      await drag([x + a.x, y + a.y], [x + b.x, y + b.y]);
    },
    /** Moves a slider to its end. */
    async slide(/** @type {string} */ slider) {
      const { width, height } = /** @type {any} */ (await page.locator(slider).boundingBox());
      await tap(page.locator(slider), { position: { x: width - 8, y: height / 2 } });
    },
    /** Moves a slider to its beginning. */
    async slideBack(/** @type {string} */ slider) {
      await page.locator(slider).scrollIntoViewIfNeeded();
      const { height } = /** @type {any} */ (await page.locator(slider).boundingBox());
      await tap(page.locator(slider), { position: { x: 8, y: height / 2 } });
    },
  };
  return { ...hand, ...common(hand) };
}

export const mouse = pointing({
  name: 'mouse',
  screen: SCREEN,
  tap: (target, options) => target.click(options),
  point: (target, options) => target.hover(options),
  async drag(from, to) {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to);
    await page.mouse.up();
  },
});

/** @param {Locator} target @param {any} [options] */
async function tap(target, options) {
  if (!options) await assertRoomy(target);
  await target.tap(options);
  // The content must not be wider than the screen, because a phone would then scale the whole page down.
  assert.equal(
    await page.evaluate(() => document.documentElement.scrollWidth),
    PHONE.viewport.width,
    'width of the page',
  );
}

/** Fails if the area of the target around its centre is too small for touch. @param {Locator} target */
async function assertRoomy(target) {
  const { what, wide, high } = await target.evaluate((element, high) => {
    const root = /** @type {ShadowRoot} */ (element.getRootNode());
    const owner = element.closest('label') ?? element;
    const middle = () => {
      const { left, top, width, height } = owner.getBoundingClientRect();
      return /** @type {const} */ ([left + width / 2, top + height / 2]);
    };
    const owns = (/** @type {number} */ x, /** @type {number} */ y) => owner.contains(root.elementFromPoint(x, y));
    const [left, at] = middle();
    // The bottom sheet may cover the element, so the element is scrolled into view before the tap.
    if (![-high / 2 + 1, 0, high / 2 - 1].every((dy) => owns(left, at + dy)))
      element.scrollIntoView({ block: 'center' });
    const [x, y] = middle();
    const reach = (/** @type {number} */ dx, /** @type {number} */ dy) => {
      let far = 0;
      while (far < 60 && owns(x + (far + 0.5) * dx, y + (far + 0.5) * dy)) far++;
      return far;
    };
    return {
      what: `${element.getAttribute('aria-label') ?? element.textContent} ${element.className}`,
      wide: reach(-1, 0) + reach(1, 0),
      high: reach(0, -1) + reach(0, 1),
    };
  }, FINGER.high);
  assert.ok(wide >= FINGER.wide && high >= FINGER.high, `${what}: ${wide} × ${high} px are too small for touch`);
}

export const touch = pointing({
  name: 'touch',
  screen: TOUCHED,
  tap,
  point: tap,
  async drag(from, to) {
    const session = await page.context().newCDPSession(page);
    const say = (/** @type {any} */ type, /** @type {number[][]} */ ...points) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
    await say('touchStart', from);
    await say('touchMove', [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]);
    await say('touchMove', to);
    await say('touchEnd');
    await session.detach();
  },
});

/** @param {Locator} target */
const hasFocus = async (target) => (await target.and(page.locator(':focus')).count()) > 0;

/** Presses Tab until the control has the focus. @param {Control} control */
async function reach(control) {
  const target = find(control);
  await target.waitFor();
  for (let tabs = 0; tabs < MOST; tabs++) {
    if (await hasFocus(target)) return;
    await keys('Tab');
  }
  assert.fail(`the keyboard does not reach ${control}`);
}

const KEYBOARD = {
  name: 'keyboard',
  screen: SCREEN,
  async press(/** @type {Control} */ control) {
    await reach(control);
    await keys('Enter');
    // The focused element must be visible.
    await page.waitForFunction(() => document.activeElement !== document.body);
  },
  async pick(/** @type {Control} */ menu, /** @type {Control} */ item) {
    await KEYBOARD.press(menu);
    const target = find(item);
    for (let i = 0; i < MOST && !(await hasFocus(target)); i++) await keys('ArrowDown');
    assert.ok(await hasFocus(target), `${item} is in the list of ${menu}`);
    await keys('Enter');
    await page.waitForFunction(() => document.activeElement !== document.body);
  },
  async among(/** @type {string} */ list, /** @type {number} */ i) {
    await reach(`${list}[tabindex="0"]`);
    const at = await page.locator(list).evaluateAll((all) => {
      const { activeElement } = /** @type {ShadowRoot} */ (all[0].getRootNode());
      return all.indexOf(/** @type {any} */ (activeElement));
    });
    await keys(...times(i - at, 'ArrowRight'), ...times(at - i, 'ArrowLeft'));
  },
  async head(/** @type {number} */ layer, /** @type {number} */ head) {
    const chosen = page.locator('.thumbnail[aria-checked=true]');
    await reach('.thumbnail[aria-checked=true]');
    const [l, h] = /** @type {string} */ (await chosen.getAttribute('data-head')).split('.').map(Number);
    await keys(...times(layer - l, 'ArrowUp'), ...times(l - layer, 'ArrowDown'));
    await keys(...times(head - h, 'ArrowRight'), ...times(h - head, 'ArrowLeft'));
  },
  async write(/** @type {string} */ text) {
    await reach('.sentence textarea');
    await keys('End');
    await page.keyboard.type(text);
  },
  async read(/** @type {number} */ t, /** @type {number} */ s) {
    await reach('#picture');
    await keys('PageUp', ...times(t, 'ArrowDown'), ...times(s, 'ArrowRight'));
  },
  async paint(/** @type {number} */ t, /** @type {number} */ from, /** @type {number} */ to) {
    await KEYBOARD.read(t, from);
    await keys('Space');
    for (let s = from; s < to; s++) await keys('ArrowRight', 'Space');
  },
  keep: (/** @type {number} */ t, /** @type {number} */ s) => KEYBOARD.read(t, s),
  async choose(/** @type {string} */ list, /** @type {number} */ i) {
    await reach(`${list} input`);
    await keys('Space', ...times(i, 'ArrowDown'));
  },
  async slide(/** @type {string} */ slider) {
    await reach(slider);
    await keys('End');
  },
  async slideBack(/** @type {string} */ slider) {
    await reach(slider);
    await keys('Home');
  },
};
export const keyboard = { ...KEYBOARD, ...common(KEYBOARD) };
