// The part of an address after #: the state, without what the step of the story or of the first visit sets.

import { readFields, writeFields } from '../model/fields.ts';
import { beginningOf } from '../model/firstVisit.ts';
import { change, initialState, type State, withinTraining } from '../model/state.ts';
import { beginning, STEPS } from '../model/storySteps.ts';

/** Writes the fields that differ from `base`, for an address after #. */
export const writeAddress = (state: State, base: State = initialState) => writeFields(state, base);

/** Reads the valid fields of an address. */
export function readAddress(address: string, base: State = initialState): State {
  const state = readFields(address, base);
  return withinTraining(state.panel === 'train' ? { ...state, model: 'trained' } : state);
}

/**
 * Returns the state that links leave out: the state at the beginning of the step of the story or of the first visit,
 * otherwise the initial state of the page.
 */
function defaultOf({ panel, step, first }: State): State {
  if (panel === 'story') return change(initialState, beginning(step));
  return first === null ? initialState : { ...initialState, ...beginningOf(first), first: null };
}

/** Returns the part of an address after #. */
export const writeLink = (state: State) => writeAddress(state, { ...defaultOf(state), panel: 'reading', step: 0 });

/** Reads a link. A link to the step that asks the visitor to find heads must not choose a head. */
export function readLink(link: string): State {
  const written = readAddress(link);
  const base = defaultOf(written);
  const state = readAddress(link, base);
  const findsHeads = state.panel === 'story' && STEPS[state.step].name === 'many';
  return {
    ...state,
    // The cell with which the step begins applies only to the text of the step.
    ...(state.text !== base.text && { cell: written.cell }),
    ...(findsHeads && { layer: base.layer, head: base.head }),
  };
}

/** Returns the part after # of a link to the beginning of a step. */
export const linkTo = (step: number) => writeLink(change(initialState, beginning(step)));
