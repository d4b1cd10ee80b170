// The choice between all models, each with the text that it has read before.

import { firstTextOf, firstViewOf } from './firstViews.js';
import { UNCHANGED } from './runInput.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { About } from './protocol.js' */
/** @import { State } from './state.js' */

/**
 * @param {object} store
 * @param {import('./document.js').Document['update']} store.update
 * @param {ReadonlySignal<State>} store.state
 * @param {(name: string) => About | null} store.aboutOf an opened model
 */
export function createModelChoice({ update, state, aboutOf }) {
  /** @type {Map<string, Pick<State, 'text' | 'second'>>} */
  const lastTexts = new Map();
  const firstText = () => firstTextOf(state.peek().model, aboutOf(state.peek().model));
  return {
    /** @param {string} name @param {Partial<State>} [wanted] in place of what it would show first */
    choose(name, wanted) {
      const { model, text, second } = state.peek();
      lastTexts.set(model, { text, second });
      const view = firstViewOf(name, aboutOf(name), lastTexts.get(name));
      update({ model: name, cell: null, token: null, ...UNCHANGED, pinned: null, ...view, ...wanted });
    },
    /** The text that the model shown begins with; null if it begins with none. */
    firstText,
    restoreText: () => update(firstText() ?? {}),
  };
}
