// Requests the probability of each token of the text, and holds those that have been measured so far.

import { type ReadonlySignal, signal } from '@preact/signals';
import type { SurprisedToken, SurprisedTokens, SurpriseText } from '../../model/protocol/surpriseProtocol.ts';
import type { State } from '../../model/state.ts';
import { isOpen } from '../../model/training/settings.ts';
import { readOnly } from '../readOnly.ts';
import { keyOfShow, type Requests } from '../requests.ts';
/** by their index in the text */
export type Tokens = (SurprisedToken | undefined)[];
export type Measured = SurpriseText & { now: Tokens; other: Tokens; done: number; stopped?: boolean };

export function createSurprise({ requests, state }: { requests: Requests; state: ReadonlySignal<State> }) {
  const measured = signal(null as Measured | null);
  /** A text that identifies the last request, and the model of that request. */
  let [asked, model] = ['', state.peek().model];

  /** Requests the probabilities that the view of a state shows. */
  function follow(now: State) {
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
      surpriseText(text: SurpriseText) {
        measured.value = { ...text, now: [], other: [], done: 0 };
      },
      surprised({ which, tokens, done }: SurprisedTokens) {
        if (!measured.value) return;
        const all = [...measured.value[which]];
        for (const token of tokens) all[token.t] = token;
        measured.value = { ...measured.value, [which]: all, done };
      },
    },
  };
}
export type Surprise = ReturnType<typeof createSurprise>;
