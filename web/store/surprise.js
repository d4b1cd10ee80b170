// Requests the probability of each token of the text, and holds those that have been measured so far.

import { signal } from '@preact/signals';
import { isOpen } from '../features/train/settings.js';
import { readOnly } from './readOnly.js';
import { keyOfShow } from './requests.js';

/** @import { State } from './state.js' */
/** @import { SurprisedToken, SurprisedTokens, SurpriseText } from './surpriseProtocol.js' */
/** @typedef {(SurprisedToken | undefined)[]} Tokens by their index in the text */
/** @typedef {SurpriseText & { now: Tokens, other: Tokens, done: number, stopped?: boolean }} Measured */

/**
 * @param {object} options
 * @param {import('./requests.js').Requests} options.requests
 * @param {import('@preact/signals').ReadonlySignal<State>} options.state
 */
export function createSurprise({ requests, state }) {
  const measured = signal(/** @type {Measured | null} */ (null));
  /** A text that identifies the last request, and the model of that request. */
  let [asked, model] = ['', state.peek().model];

  /** Requests the probabilities that the view of a state shows. @param {State} now */
  function follow(now) {
    if (now.model !== model) {
      [asked, model] = ['', now.model];
      measured.value = null;
    }
    // Training changes the model, so everything is measured again afterwards.
    if (isOpen(now)) asked = '';
    if (isOpen(now) || !(now.view === 'text' || (now.view === 'heatmap' && now.written !== null))) return;
    // The heatmap measures only the tokens that the model has written, so the key depends on the view.
    const key = `${now.view} ${now.written} ${keyOfShow(now)}`;
    if (key === asked) return;
    asked = key;
    requests.send({ verb: 'surprise', state: now });
  }
  return {
    measured: readOnly(measured),
    follow,
    /** Measures again, after a stop or after the worker has died. */
    again() {
      asked = '';
      follow(state.peek());
    },
    stop() {
      requests.cancel('surprise');
      if (measured.value) measured.value = { ...measured.value, stopped: true };
    },
    parts: {
      surpriseText(/** @type {SurpriseText} */ text) {
        measured.value = { ...text, now: [], other: [], done: 0 };
      },
      surprised(/** @type {SurprisedTokens} */ { which, tokens, done }) {
        if (!measured.value) return;
        const all = [...measured.value[which]];
        for (const token of tokens) all[token.t] = token;
        measured.value = { ...measured.value, [which]: all, done };
      },
    },
  };
}
/** @typedef {ReturnType<typeof createSurprise>} Surprise */
