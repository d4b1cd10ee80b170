// The state of the page and its history. Nothing else sets the state.

import { batch, computed, signal } from '@preact/signals';
import { readLink, writeLink } from '../features/story/steps.js';
import { change } from './state.js';
import { record, redo, replace, settle, startHistory, undo } from './undo.js';

/** @import { History } from './undo.js' */
/** @import { State } from './state.js' */

/**
 * @param {State} first
 * @param {object} listeners
 * @param {(model: string, before: History) => void} listeners.onModel called in the same batch for another model
 * @param {(before: State, now: State) => void} listeners.onChange called after every change
 * @param {(state: State, substituted: boolean | 'later') => void} [listeners.onState] see MountOptions
 */
export function createDocument(first, { onModel, onChange, onState }) {
  const history = signal(startHistory(first));
  const state = computed(() => history.value.now);
  /** @type {boolean | 'later'} */
  let substituting = false;

  /** @param {History} next */
  function become(next) {
    const before = history.peek();
    batch(() => {
      history.value = next;
      if (next.now.model !== before.now.model) onModel(next.now.model, before);
    });
    onState?.(next.now, substituting);
    onChange(before.now, next.now);
  }

  return {
    state,
    canUndo: computed(() => history.value.past.length > 0),
    /**
     * Makes a change that can be undone. Successive changes with the same gesture are undone together.
     * @param {Partial<State>} patch
     * @param {string} [gesture]
     */
    update: (patch, gesture) => become(record(history.peek(), change(state.peek(), patch), gesture ?? null)),
    /** Makes a change that is not an undo step: the choice of the explained cell. @param {Partial<State>} patch */
    look: (patch) => become(replace(history.peek(), change(state.peek(), patch))),
    /** Ends the gesture, so that the next change is an undo step of its own. */
    endGesture() {
      history.value = settle(history.peek());
    },
    undo: () => become(undo(history.peek())),
    redo: () => become(redo(history.peek())),
    /** @param {string} address the part of a link after # */
    open: (address) => become(record(history.peek(), readLink(address))),
    address: () => writeLink(state.peek()),
    /** Replaces a head that the model does not have, which an address may contain, by the nearest head. */
    clampHead(/** @type {import('./protocol.js').About} */ { name, layers, heads, parts }) {
      const now = state.peek();
      // Only models with one stack of blocks have circuits.
      const circuit = parts.length > 0 ? null : now.circuit;
      if (now.model !== name || (now.layer < layers && now.head < heads && circuit === now.circuit)) return;
      const [layer, head] = [Math.min(now.layer, layers - 1), Math.min(now.head, heads - 1)];
      history.value = replace(history.peek(), { ...now, layer, head, circuit });
    },
    /**
     * Calls a function that changes the state because the model that the state names cannot be shown.
     * @param {() => void} act
     * @param {boolean | 'later'} [how] 'later': the model can be shown later
     */
    substitute(act, how = true) {
      substituting = how;
      act();
      substituting = false;
    },
    /** Returns to an earlier state of the same model. This can be undone. @param {State} earlier */
    restoreState: (earlier) => become(record(history.peek(), earlier, null)),
    /** Returns to an earlier history, whose model can be shown. @param {History} earlier */
    restore(earlier) {
      history.value = earlier;
      onState?.(earlier.now, true);
    },
  };
}
/** @typedef {ReturnType<typeof createDocument>} Document */
