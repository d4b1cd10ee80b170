// State of the screen that is neither saved in the address nor undone: the cell under the pointer, the selection, the
// order of the heads, the story's log.

import { signal } from '@preact/signals';
import type { HeadComposition } from '../model/protocol/protocol.ts';
import type { Cell } from '../model/state.ts';
import type { Log } from '../model/storySteps.ts';
import { readOnly } from './readOnly.ts';

/** of the brush that paints a mask */
export type Tool = 'hide' | 'show';
/** The number of rows of a text that are shown. While the playback runs, the number grows one by one. */
export type Playback = { text: string; rows: number; plays: boolean };
/** A line or a ribbon of the view `flow`. */
export type Picked =
  | { kind: 'line'; composition: HeadComposition; layer?: undefined }
  | { kind: 'head' | 'mlp' | 'embed' | 'bias' | 'rest' | 'others'; layer: number; composition?: undefined };

/** Events of the first visit since the page was loaded. */
function createFirstVisit() {
  const [firstMoved, firstTried, firstFallen] = [signal(false), signal(false), signal(false)];
  const arriving = signal(false);
  const closing = signal(null as 'why' | 'skip' | null);
  const unfolding = signal(null as { left: number; top: number; width: number } | null);
  return {
    /** True once a step was reached by a press, not by the address. */
    firstMoved: readOnly(firstMoved),
    markFirstMoved() {
      firstMoved.value = true;
    },
    /** How the first visit has just ended: after its last step, or earlier; null once the visitor changed something. */
    closing: readOnly(closing),
    setClosing(how: 'why' | 'skip' | null) {
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
    arriving: readOnly(arriving),
    setArriving(is: boolean) {
      arriving.value = is;
    },
    /** The former box of the sentence on the screen, until the picture has unfolded from this box. */
    unfolding: readOnly(unfolding),
    setUnfolding(box: { left: number; top: number; width: number } | null) {
      unfolding.value = box;
    },
  };
}

export function createUi() {
  const hover = signal(null as Cell | null);
  const pinnedHover = signal(null as Cell | null);
  const switchHover = signal(false);
  const picked = signal(null as Picked | null);
  const brush = signal(null as Tool | null);
  const sort = signal('place');
  const storyLog = signal({} as Log);
  const storyMoved = signal(false);
  const productAnimated = signal(false);
  const inFull = signal(false);
  const playback = signal(null as Playback | null);
  const announcement = signal('');
  let isNew = false;

  return {
    announcement: readOnly(announcement),
    announce(text: string) {
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
    setHover(cell: Cell | null) {
      hover.value = cell;
    },
    /** The cell under the pointer if its tokens occur only in the pinned run; its positions are those in that run. */
    pinnedHover: readOnly(pinnedHover),
    setPinnedHover(cell: Cell | null) {
      pinnedHover.value = cell;
    },
    /** True while pointer or focus is on the switch of the head. */
    switchHover: readOnly(switchHover),
    setSwitchHover(on: boolean) {
      switchHover.value = on;
    },
    /** The ribbon or line of the view `flow` whose components are listed. */
    picked: readOnly(picked),
    pick(part: Picked | null) {
      picked.value = part;
    },
    /** The tool that paints a mask in the picture; null while the pointer selects cells instead. */
    brush: readOnly(brush),
    startBrush(tool: Tool) {
      brush.value = tool;
    },
    stopBrush() {
      brush.value = null;
    },
    /** The order of the heads of a layer: by index, ablation, distance from uniform attention, or a score. */
    sort: readOnly(sort),
    setSort(order: string) {
      sort.value = order;
    },
    /** The tasks of the story that are done. */
    storyLog: readOnly(storyLog),
    setStoryLog(log: Log) {
      storyLog.value = log;
    },
    /** True once a step of the story was opened from another part of the page, not by the address. */
    storyMoved: readOnly(storyMoved),
    markStoryMoved() {
      storyMoved.value = true;
    },
    inFull: readOnly(inFull),
    setInFull(is: boolean) {
      inFull.value = is;
    },
    /** The part of a written text that is shown; null for all of it. */
    playback: readOnly(playback),
    setPlayback(now: Playback | null) {
      playback.value = now;
    },
    /** True once the story has shown how query and key become their product. */
    productAnimated: readOnly(productAnimated),
    markProductAnimated() {
      productAnimated.value = true;
    },
  };
}
