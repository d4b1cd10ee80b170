// Failures of a request, of a model that could not be shown or of the worker, and how the page recovers from them.

import { signal } from '@preact/signals';
import { readOnly } from './readOnly.js';
import { TRAINED } from './runInput.js';
import { isOfHub } from './state.js';

/** @import { ProblemValue } from './protocol.js' */

/**
 * @param {object} store
 * @param {import('./document.js').Document} store.document
 * @param {import('./answers.js').Answers} store.answers
 * @param {import('./waiting.js').Waiting} store.waiting
 * @param {import('./preferences.js').Preferences} store.preferences
 * @param {import('./openModels.js').Opening} store.opening
 * @param {() => void} store.showAgain requests again everything that the state shows
 * @param {() => void} store.restart starts a new worker
 */
export function createFailures({ document, answers, waiting, preferences, opening, showAgain, restart }) {
  const failure = signal(/** @type {string | null} */ (null));
  const refused = signal(/** @type {{ title: string, why: string } | null} */ (null));
  const ended = signal(/** @type {{ lost: string[], training: boolean } | null} */ (null));

  const fail = (/** @type {string | null} */ message) => {
    failure.value = message;
  };
  /** Shows the previous model again if the chosen model fails before its first answer. @param {string} why */
  function showPrevious(why) {
    const earlier = answers.restore();
    if (!earlier) return false;
    const { model } = document.state.peek();
    const others = /** @type {Record<string, string[]>} */ (preferences.words.peek().others);
    refused.value = { title: opening.drop(model) ?? others[model]?.[0] ?? model, why };
    document.restore(earlier);
    showAgain();
    return true;
  }

  function retry() {
    fail(null);
    restart();
  }

  /** Returns to the last complete run, with its text, model and changes. */
  function stopRun() {
    const before = waiting.lastState();
    const earlier = before ? null : answers.restore();
    if (before) document.restoreState(before);
    else if (earlier) document.restore(earlier);
    if (earlier) showAgain();
    fail(null);
  }

  const actions = {
    stopRun,
    /** Computes the run again that has failed. */
    runAgain() {
      fail(null);
      showAgain();
    },
    /** The message of the last failure; null once it was handled. */
    failure: readOnly(failure),
    fail,
    /** The model that could not be shown, and why. */
    refused: readOnly(refused),
    dismissRefused() {
      refused.value = null;
    },
    /** The opened models that were lost when the worker died, and true if training was shown; null before. */
    ended: readOnly(ended),
    dismissEnded() {
      ended.value = null;
    },
    retry,
  };

  return {
    actions,
    clear() {
      fail(null);
      refused.value = null;
    },
    /** @param {import('../worker/client.js').RequestError} error */
    onError(error) {
      const { verb, message, code = '', values = [] } = error;
      if (code === 'gone') {
        const link = document.state.peek();
        if (isOfHub(link.model)) return opening.follow(link);
        // The page stores no files, so a link to an opened model does not work on another visit.
        opening.failed(error);
        return document.substitute(() => opening.choose('whale'));
      }
      if (/^(open$|picture|sound|hub)/.test(verb)) return opening.failed(error);
      const texts = /** @type {Record<string, (...values: ProblemValue[]) => string>} */ (
        preferences.words.peek().problems
      );
      const why = texts[code]?.(...values) ?? message;
      if (verb === 'show' && showPrevious(why)) return;
      if (verb === 'show') waiting.fail(why);
      fail(why);
    },
    /** @param {boolean} answered false if the worker died before its first answer; a new worker probably would too */
    onEnd(answered) {
      const lost = opening.opened.peek().map(({ about }) => about.title ?? '');
      if (!answered) return fail(preferences.words.peek().endedAgain);
      ended.value = { lost, training: document.state.peek().model === TRAINED };
      retry();
    },
  };
}
/** @typedef {ReturnType<typeof createFailures>} Failures */
