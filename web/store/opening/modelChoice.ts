// Chooses a model, and remembers the text that each model has read.

import type { ReadonlySignal } from '@preact/signals';
import type { About } from '../../model/protocol/protocol.ts';
import { UNCHANGED } from '../../model/runInput.ts';
import type { State } from '../../model/state.ts';
import type { Document } from '../document.ts';
import { firstTextOf, firstViewOf } from '../firstViews.ts';

export function createModelChoice({
  update,
  state,
  aboutOf,
}: {
  update: Document['update'];
  state: ReadonlySignal<State>;
  /** describes an opened model */
  aboutOf: (name: string) => About | null;
}) {
  const lastTexts: Map<string, Pick<State, 'text' | 'second'>> = new Map();
  const firstText = () => firstTextOf(state.peek().model, aboutOf(state.peek().model));
  return {
    /** `wanted`: replaces fields of the model's first view. */
    choose(name: string, wanted?: Partial<State>) {
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
