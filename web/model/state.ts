// The state is one plain object with everything that the address contains. fields.ts describes its fields.

import { cut, quote } from '../../src/js/check/quote.ts';
import { ALL_FIELDS, type FieldName, initialValues, type State } from './fields.ts';
import { joinsWords, TRAINED } from './runInput.ts';
import { firstHead } from './training/settings.ts';

export type { Cell, State } from './fields.ts';
export { MAX_TEXT, OPENING, SCALES, SCOPES } from './fields.ts';
export type { Run } from './runInput.ts';

/** The model that a program has passed to the page. */
export const PROGRAM_MODEL = 'given';

export const initialState: State = initialValues();

/** Fields whose changes do not end the first visit. */
const KEEPS_FIRST = new Set(['first', 'layer', 'head', 'cell', 'token', 'scale']);
/** Fields whose changes end a trial. */
const ENDS_TRIAL = ['model', 'text', 'panel', 'step'] as const;

/** The name of a model of the Hub: owner/name@revision, with or without a file. */
export const isOfHub = (model: string) => model.includes('@');

/** Chooses the first head if the model in training does not have the chosen one. */
export function withinTraining(state: State) {
  const { model, training, layer, head } = state;
  if (model !== TRAINED || (layer < training.layers && head < training.heads)) return state;
  return { ...state, ...firstHead(training) };
}

/** Returns the fields that another text or another model resets. */
const resetBy = (state: State, kinds: readonly string[]): Partial<State> =>
  Object.fromEntries(
    [...ALL_FIELDS]
      .filter(([, { reset }]) => reset && kinds.includes(reset))
      .map(([name, { initial, restart }]) => [name, restart ? restart(state[name as FieldName]) : initial]),
  );

/** Returns the state after a change. Throws an error with the name of the field if a value is invalid. */
export function change(state: State, patch: Partial<State>): State {
  for (const [name, value] of Object.entries(patch))
    if (!ALL_FIELDS.get(name)?.check(value)) throw new RangeError(`state: ${cut(name, 80)} cannot be ${quote(value)}`);
  const isOther = patch.text !== undefined && patch.text !== state.text;
  // The panel `train` always shows the model `trained`. Changes of one model do not apply to another.
  const model = patch.panel === 'train' ? 'trained' : (patch.model ?? state.model);
  const left = model !== state.model && ['train', 'tried', 'story'].includes(state.panel);
  const panel = patch.panel ?? (left ? 'reading' : state.panel);
  // A chosen head is shown alone, not as a part of a mean.
  const chosen = patch.layer !== undefined || patch.head !== undefined ? { mean: 'head' } : {};
  const tries = panel === 'story' && ENDS_TRIAL.every((name) => (patch[name] ?? state[name]) === state[name]);
  const stays = Object.keys(patch).every((name) => KEEPS_FIRST.has(name));
  const next = withinTraining({
    ...state,
    ...(isOther && resetBy(state, ['text'])),
    ...(model !== state.model && resetBy(state, ['text', 'model'])),
    ...(chosen as Partial<State>),
    first: stays ? state.first : null,
    trial: tries ? state.trial : {},
    ...patch,
    model,
    panel,
  });
  // The index of a word differs from those of its tokens, so a chosen cell or sum is no longer valid.
  return joinsWords(next) === joinsWords(state) ? next : { ...next, cell: null, sum: '' };
}
