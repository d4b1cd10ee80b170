// State of the screen that is neither saved in the address nor undone: the cell under the pointer, the selection, the
// order of the heads, the story's log.

import { signal } from '@preact/signals';
import { readOnly } from './readOnly.js';

/** @import { HeadComposition } from './protocol.js' */
/** @import { Cell } from './state.js' */
/** @import { Log } from '../features/story/steps.js' */

/** @typedef {'hide' | 'show'} Tool of the brush that paints a mask */
/**
 * The number of rows of a text that are shown. While the playback runs, the number grows one by one.
 * @typedef {{ text: string, rows: number, plays: boolean }} Playback
 */
/**
 * A line or a ribbon of the view `flow`.
 * @typedef {{ kind: 'line', composition: HeadComposition, layer?: undefined } |
 *   { kind: 'head' | 'mlp' | 'embed' | 'bias' | 'rest' | 'others', layer: number, composition?: undefined }} Picked
 */

/** Events of the first visit since the page was loaded. */
function createFirstVisit() {
  const [firstMoved, firstTried, firstFallen] = [signal(false), signal(false), signal(false)];
  const arriving = signal(false);
  const closing = signal(/** @type {'why' | 'skip' | null} */ (null));
  const unfolding = signal(/** @type {{ left: number, top: number, width: number } | null} */ (null));
  return {
    /** True once a step was reached by a press, not by the address. */
    firstMoved: readOnly(firstMoved),
    markFirstMoved() {
      firstMoved.value = true;
    },
    /** How the first visit has just ended: after its last step, or earlier; null once the visitor changed something. */
    closing: readOnly(closing),
    /** @param {'why' | 'skip' | null} how */
    setClosing(how) {
      closing.value = how;
    },
    /** True once the head was switched. */
    firstTried: readOnly(firstTried),
    markFirstTried() {
      firstTried.value = true;
    },
    /** True once the fall of the probability was shown. */
    firstFallen: readOnly(firstFallen),
    markFirstFallen() {
      firstFallen.value = true;
    },
    /** True while the instrument appears after the first visit. */
    arriving: readOnly(arriving),
    /** @param {boolean} is */
    setArriving(is) {
      arriving.value = is;
    },
    /** The former box of the sentence on the screen, until the picture has unfolded from this box. */
    unfolding: readOnly(unfolding),
    /** @param {{ left: number, top: number, width: number } | null} box */
    setUnfolding(box) {
      unfolding.value = box;
    },
  };
}

export function createUi() {
  const hover = signal(/** @type {Cell | null} */ (null));
  const pinnedHover = signal(/** @type {Cell | null} */ (null));
  const switchHover = signal(false);
  const picked = signal(/** @type {Picked | null} */ (null));
  const brush = signal(/** @type {Tool | null} */ (null));
  const sort = signal('place');
  const storyLog = signal(/** @type {Log} */ ({}));
  const storyMoved = signal(false);
  const productAnimated = signal(false);
  const inFull = signal(false);
  const playback = signal(/** @type {Playback | null} */ (null));
  const announcement = signal('');
  let isNew = false;

  return {
    /** Text for screen readers. */
    announcement: readOnly(announcement),
    /** @param {string} text */
    announce(text) {
      announcement.value = text;
      // An announcement may come just before the change that it describes.
      isNew = true;
      queueMicrotask(() => {
        isNew = false;
      });
    },
    /** Forgets the announcement about the previous run, which is no longer true. */
    forgetAnnouncement() {
      if (!isNew) announcement.value = '';
    },
    ...createFirstVisit(),
    /** The cell under the pointer, or the one reached by the keyboard in the sentence. `s` is -1 for a whole row. */
    hover: readOnly(hover),
    /** @param {Cell | null} cell */
    setHover(cell) {
      hover.value = cell;
    },
    /** The cell under the pointer if its tokens occur only in the pinned run; its positions are those in that run. */
    pinnedHover: readOnly(pinnedHover),
    /** @param {Cell | null} cell */
    setPinnedHover(cell) {
      pinnedHover.value = cell;
    },
    /** True while pointer or focus is on the switch of the head. */
    switchHover: readOnly(switchHover),
    /** @param {boolean} on */
    setSwitchHover(on) {
      switchHover.value = on;
    },
    /** The ribbon or line of the view `flow` whose components are listed. */
    picked: readOnly(picked),
    /** @param {Picked | null} part */
    pick(part) {
      picked.value = part;
    },
    /** The tool that paints a mask in the picture; null while the pointer selects cells instead. */
    brush: readOnly(brush),
    /** @param {Tool} tool */
    startBrush(tool) {
      brush.value = tool;
    },
    stopBrush() {
      brush.value = null;
    },
    /** The order of the heads of a layer: by index, ablation, distance from uniform attention, or a score. */
    sort: readOnly(sort),
    /** @param {string} order */
    setSort(order) {
      sort.value = order;
    },
    /** The tasks of the story that are done. */
    storyLog: readOnly(storyLog),
    /** @param {Log} log */
    setStoryLog(log) {
      storyLog.value = log;
    },
    /** True once a step of the story was opened from another part of the page, not by the address. */
    storyMoved: readOnly(storyMoved),
    markStoryMoved() {
      storyMoved.value = true;
    },
    /** True if each step of a reading is written out. */
    inFull: readOnly(inFull),
    /** @param {boolean} is */
    setInFull(is) {
      inFull.value = is;
    },
    /** The part of a written text that is shown; null for all of it. */
    playback: readOnly(playback),
    /** @param {Playback | null} now */
    setPlayback(now) {
      playback.value = now;
    },
    /** True once the story has shown how query and key become their product. */
    productAnimated: readOnly(productAnimated),
    markProductAnimated() {
      productAnimated.value = true;
    },
  };
}
