// The state of the page and its history. Nothing else sets the state.

import { batch, computed, signal } from '@preact/signals';
import type { About } from '../model/protocol/protocol.ts';
import { change, type State } from '../model/state.ts';
import { readLink, writeLink } from './address.ts';
import { type History, record, redo, replace, settle, startHistory, undo } from './undo.ts';

export function createDocument(
  first: State,
  {
    onModel,
    onChange,
    onState,
  }: {
    /** called in the same batch for another model */
    onModel: (model: string, before: History) => void;
    /** called after every change */
    onChange: (before: State, now: State) => void;
    /** see SessionOptions */
    onState?: (state: State, substituted: boolean | 'later') => void;
  },
) {
  const history = signal(startHistory(first));
  const state = computed(() => history.value.now);
  let substituting: boolean | 'later' = false;

  function become(next: History) {
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
    /** Makes a change that can be undone. Successive changes with the same gesture are undone together. */
    update: (patch: Partial<State>, gesture?: string) =>
      become(record(history.peek(), change(state.peek(), patch), gesture ?? null)),
    /** Makes a change that is not an undo step: the choice of the explained cell. */
    look: (patch: Partial<State>) => become(replace(history.peek(), change(state.peek(), patch))),
    /** Ends the gesture, so that the next change is an undo step of its own. */
    endGesture() {
      history.value = settle(history.peek());
    },
    undo: () => become(undo(history.peek())),
    redo: () => become(redo(history.peek())),
    open: (address: string) => become(record(history.peek(), readLink(address))),
    address: () => writeLink(state.peek()),
    /** Replaces a head that the model does not have, which an address may contain, by the nearest head. */
    clampHead({ name, layers, heads, parts }: About) {
      const now = state.peek();
      // Only models with one stack of blocks have circuits.
      const circuit = parts.length > 0 ? null : now.circuit;
      if (now.model !== name || (now.layer < layers && now.head < heads && circuit === now.circuit)) return;
      const [layer, head] = [Math.min(now.layer, layers - 1), Math.min(now.head, heads - 1)];
      history.value = replace(history.peek(), { ...now, layer, head, circuit });
    },
    /** Calls a function that changes the state because its model cannot be shown. `how`: 'later' if it can be later. */
    substitute(act: () => void, how: boolean | 'later' = true) {
      substituting = how;
      act();
      substituting = false;
    },
    /** Returns to an earlier state of the same model. This can be undone. */
    restoreState: (earlier: State) => become(record(history.peek(), earlier, null)),
    /** Returns to an earlier history, whose model can be shown. */
    restore(earlier: History) {
      history.value = earlier;
      onState?.(earlier.now, true);
    },
  };
}
export type Document = ReturnType<typeof createDocument>;
