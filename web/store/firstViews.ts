// The text, head and cell that a model is first shown with.

import type { About } from '../model/protocol/protocol.ts';
import { initialState, type State } from '../model/state.ts';

const OF_MENU: Record<string, { text: string; second?: string; layer: number; head: number; cell?: State['cell'] }> = {
  whale: { text: initialState.text, layer: initialState.layer, head: initialState.head },
  constructed: {
    text: 'In the house by the sea lives a cat, and it is hungry.',
    layer: 0,
    head: 5,
    cell: { t: 11, s: 8 },
  },
  patches: { text: '', layer: 0, head: 0, cell: { t: 38, s: 24 } },
  sentence: { text: 'How do whales sleep?', second: 'When does a whale rest?', layer: 1, head: 0 },
};
const NEXT = 'Once upon a time there was a whale. Once upon a time there was';
const NUMBERS = '1 2 3 4 5 6 7 8 1 2 3 4';
/** First sentences of a model that compares them with the picture that the page draws. */
const MATCHED = {
  text: { text: 'a picture of a whale', second: 'a picture of a ship\na picture of a dog' },
  numbers: { text: '1 2 3 4', second: '5 6 7 8' },
};

/** Returns the first text for the input that a model reads. */
export function textFor(about: About): Partial<State> {
  if (about.kind === 'layer') return {};
  if (about.matches) return MATCHED[about.reads === 'numbers' ? 'numbers' : 'text'];
  if (about.reads === 'sound') return { text: '', second: about.prompt ?? '' };
  if (about.reads === 'pair' && !about.words) return { text: NUMBERS, second: '' };
  if (about.reads === 'numbers') return { text: NUMBERS };
  if (about.reads === 'pair') return { text: 'translate English to German: The whale is white.', second: '' };
  if (about.compares) return { text: OF_MENU.sentence.text, second: OF_MENU.sentence.second };
  if (about.mask) return { text: `To the last I grapple with thee, Moby ${about.mask}.` };
  return { text: NEXT };
}

/** Returns the text that a model is first shown with, or null. `about`: of an opened model. */
export function firstTextOf(name: string, about: About | null) {
  const { text, second = '' } = about ? textFor(about) : (OF_MENU[name] ?? {});
  return text ? { text, second } : null;
}

/** `about`: of an opened model; `lastText`: the text that the previous model has read. */
export function firstViewOf(name: string, about: About | null, lastText?: Partial<State>): Partial<State> {
  const { text, second = '', ...place } = OF_MENU[name] ?? OF_MENU.whale;
  if (!about) {
    // The other models of the menu do not have the views `flow` and `compare`.
    const view = name === 'whale' ? {} : { view: 'heatmap' };
    return { ...view, ...(lastText ?? { text, second }), part: 'decoder', ...place };
  }
  return {
    ...(!about.sums && { view: 'heatmap' }),
    ...(about.folder && { view: 'atlas' }),
    ...(about.reads !== 'nothing' && about.reads !== 'picture' && (lastText ?? textFor(about))),
    part: about.parts[0] ?? 'decoder',
    layer: 0,
    head: 0,
  };
}
