// All that is shown of a source, in one signal, so that its name, picture, numbers and guess change together: when
// another source is chosen nothing of the one before stays, and parts of an answer about another one are passed over.

import { batch, computed, signal } from '@preact/signals';

/**
 * @typedef {object} Shown
 * @property {string} source the name of state.model
 * @property {any} about what the source is; null until it has said so
 * @property {any} run the last run; null until the first answer has come
 * @property {any} other its other case
 * @property {any} versus the head shown, in the pinned run
 * @property {any} trades names of heads
 * @property {any} real what the tokens that stand in the text were given: see the worker's verb `real`
 * @property {any} feeds lines between heads, { layer, head, feeds }
 * @property {any} tried what is lost without each head, { token, before, tried, total }
 * @property {Record<string, any>} pooled small pictures of the heads of a large run, by 'layer.head'
 */

/** @param {string} source @param {any} about @returns {Shown} */
const nothingOf = (source, about) => ({
  source,
  about,
  run: null,
  other: null,
  versus: null,
  trades: null,
  real: null,
  feeds: null,
  tried: null,
  pooled: {},
});

const isSame = (/** @type {any} */ a, /** @type {any} */ b) => JSON.stringify(a) === JSON.stringify(b);

/** @param {string} source the name of state.model */
export function createShown(source) {
  const all = signal(nothingOf(source, null));
  /** What was shown whole when another source was chosen, with what belongs to it. @type {any} */
  let kept = null;
  /** What the source is, once the run comes that belongs to it. @type {any} */
  let coming = null;
  const set = (/** @type {Partial<Shown>} */ fields) => {
    all.value = { ...all.peek(), ...fields };
  };
  const field = (/** @type {keyof Shown} */ name) => computed(() => all.value[name]);

  return {
    about: field('about'),
    run: field('run'),
    other: field('other'),
    versus: field('versus'),
    trades: field('trades'),
    real: field('real'),
    feeds: field('feeds'),
    tried: field('tried'),
    pooled: field('pooled'),
    set,
    /** Whether an answer is about what is shown. @param {string | undefined} of the model that was asked about */
    isOf: (of) => of === undefined || of === all.peek().source,
    /**
     * Another source is chosen.
     * @param {string} name
     * @param {any} about what it is, where that is known
     * @param {any} mark what is to be restored with what is shown now, if the source fails
     */
    change(name, about, mark) {
      const now = all.peek();
      if (now.run) kept = { shown: now, mark };
      coming = null;
      all.value = nothingOf(name, about);
    },
    /**
     * The source has failed before its first answer: what was shown before is shown again.
     * @returns {any} the mark that was given with it; null where there is nothing to go back to
     */
    restore() {
      if (all.peek().run || !kept) return null;
      const { shown, mark } = kept;
      kept = null;
      all.value = shown;
      return mark;
    },
    /** What the source is holds from its run on. @param {any} about */
    announce(about) {
      coming = about;
      if (!all.peek().run && !isSame(about, all.peek().about)) set({ about });
    },
    /** @param {any} run */
    answer(run) {
      batch(() => {
        const now = all.peek();
        const about = coming && !isSame(coming, now.about) ? coming : now.about;
        kept = null;
        set({ about, run: { ...run, about }, other: null, ...(run.large ? {} : { pooled: {} }) });
      });
    },
    /** @param {any} trades */
    name: (trades) => !isSame(trades, all.peek().trades) && set({ trades }),
  };
}
