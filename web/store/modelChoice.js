// Chooses a model, and remembers the text that each model has read.

import { firstTextOf, firstViewOf } from './firstViews.js';
import { UNCHANGED } from './runInput.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { About } from './protocol.js' */
/** @import { State } from './state.js' */

/**
 * @param {object} store
 * @param {import('./document.js').Document['update']} store.update
 * @param {ReadonlySignal<State>} store.state
 * @param {(name: string) => About | null} store.aboutOf describes an opened model
 */
export function createModelChoice({ update, state, aboutOf }) {
  /** @type {Map<string, Pick<State, 'text' | 'second'>>} */
  const lastTexts = new Map();
  const firstText = () => firstTextOf(state.peek().model, aboutOf(state.peek().model));
  return {
    /** @param {string} name @param {Partial<State>} [wanted] replaces fields of the model's first view */
    choose(name, wanted) {
      const { model, text, second } = state.peek();
      lastTexts.set(model, { text, second });
      const view = firstViewOf(name, aboutOf(name), lastTexts.get(name));
      update({ model: name, cell: null, token: null, ...UNCHANGED, pinned: null, ...view, ...wanted });
    },
    /** Returns the first text of the current model; null if it has none. */
    firstText,
    restoreText: () => update(firstText() ?? {}),
  };
}
