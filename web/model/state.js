// What the page shows, as plain data, and how it changes. Nothing here knows of the page itself.

import { EXAMPLES, PAINT_STRIDE } from './examples.js';

export const TEMPERATURE = { least: 0.1, most: 10 };
export const MASKS = ['none', 'causal', 'padding', 'window'];
export const SCALES = ['linear', 'sqrt', 'log', 'row'];
export const VIEWS = ['cells', 'lines', 'grid'];
/** Which keys a line goes to: those that make up a share of the row, or the largest few. */
export const LINES = {
  most: { kind: 'mass', share: 0.9 },
  half: { kind: 'mass', share: 0.5 },
  three: { kind: 'top', count: 3 },
  one: { kind: 'top', count: 1 },
};
/** No fewer tokens than these fill the picture. */
const LEAST_REGION = 8;
/** Lines are drawn between no more tokens than these. */
const MOST_LINED = 64;

export const PAGES = ['explore', 'train'];

export const initialState = {
  page: 'explore',
  /** What the Train view teaches. */
  task: 'repeat',
  example: 'sentence',
  text: 'She said that she saw the cat , but the cat saw her first .',
  heads: 8,
  head: 5,
  mask: 'none',
  keys: 8,
  temperature: 1,
  seed: 1,
  batch: 0,
  /** How many tokens an example of any length has. */
  tokens: 512,
  /** Keys to either side that the window mask leaves. */
  window: 2,
  /** Whether scores are divided by √D. */
  scaled: true,
  /** 0: none. */
  softcap: 0,
  /** Cells hidden by hand, in rising order. */
  painted: [],
  /** Heads whose output is taken as 0. */
  off: [],
  scale: 'linear',
  view: 'cells',
  lines: 'most',
  /** The cell being read: { query, key }, or null; locked, it stays whatever the pointer does. */
  cell: { query: 7, key: 5 },
  locked: false,
  /** Further queries whose rows are marked, in rising order. */
  also: [],
  /** Which of the visitor's own files, by the number that it got when it was read. */
  file: 0,
  /** The part that is enlarged, [first query, first key, tokens across]; empty: all. */
  region: [],
};

const usualHeads = {
  sentence: 8,
  own: 8,
  learned: 8,
  equal: 1,
  lengths: 5,
  padded: 2,
  cross: 8,
  wide: 4,
  patches: 6,
  long: 12,
  file: 1,
};
const usualViews = { patches: 'grid' };

/** The numbers of heads that a state may choose from. */
export const headChoices = (state) => EXAMPLES[state.example].heads(state);

/** A new state with the change made, and with everything that the change makes impossible put right. */
export function change(state, patch) {
  const next = { ...state, ...patch };
  if (patch.example !== undefined && patch.example !== state.example) {
    Object.assign(next, {
      ...initialState,
      page: next.page,
      task: next.task,
      heads: usualHeads[next.example],
      head: 0,
      cell: null,
      text: next.text,
      scale: next.scale,
      view: usualViews[next.example] ?? (next.view === 'grid' ? 'cells' : next.view),
      lines: next.lines,
      ...patch,
    });
  }
  if (!EXAMPLES[next.example].tokens?.includes(next.tokens)) next.tokens = initialState.tokens;
  const heads = headChoices(next);
  if (!heads.includes(next.heads)) next.heads = heads.findLast((n) => n <= next.heads) ?? heads[0];
  next.head = Math.min(Math.max(next.head, 0), next.heads - 1);
  next.temperature = Math.min(Math.max(next.temperature, TEMPERATURE.least), TEMPERATURE.most);
  for (const name of ['seed', 'batch', 'keys', 'window'])
    if (!Number.isSafeInteger(next[name]) || next[name] < 0) next[name] = state[name];
  if (!(next.softcap >= 0 && next.softcap <= 100)) next.softcap = state.softcap;
  next.off = next.off.filter((head) => head < next.heads);
  if (!next.cell) next.locked = false;
  return next;
}

/** The cell one step on, within the picture; the first one where none is being read. */
export function step(cell, key, T, S) {
  if (!cell) return { query: 0, key: 0 };
  const moves = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -S],
    End: [0, S],
    PageUp: [-T, 0],
    PageDown: [T, 0],
  };
  if (!moves[key]) return null;
  const clamp = (n, most) => Math.min(Math.max(n, 0), most - 1);
  return { query: clamp(cell.query + moves[key][0], T), key: clamp(cell.key + moves[key][1], S) };
}

/** The state with a cell hidden by hand, or shown again. */
export function paint(state, { query, key }, hide) {
  const cell = query * PAINT_STRIDE + key;
  const others = state.painted.filter((painted) => painted !== cell);
  return change(state, { painted: hide ? [...others, cell].sort((a, b) => a - b) : others });
}

/** The state with one more query marked, or with one less. */
export function mark(state, query) {
  const others = state.also.filter((marked) => marked !== query);
  return change(state, { also: others.length < state.also.length ? others : [...others, query].sort((a, b) => a - b) });
}

/** The part of T queries and S keys that a state shows. */
export function regionOf({ region: [query = 0, key = 0, count = Infinity], view }, T, S) {
  const part = (from, all) => {
    const size = Math.min(Math.max(view === 'lines' ? Math.min(count, MOST_LINED) : count, LEAST_REGION), all);
    const first = Math.min(Math.max(from, 0), all - size);
    return { from: first, to: first + size };
  };
  return { queries: part(query, T), keys: part(key, S) };
}

/** The state enlarged by a factor (made smaller below 1) about a cell, as far as that goes. */
export function zoom(state, factor, cell, T, S) {
  const { queries, keys } = regionOf(state, T, S);
  const before = Math.max(queries.to - queries.from, keys.to - keys.from);
  const count = Math.round(Math.max(before / factor, LEAST_REGION));
  if (count >= Math.max(T, S)) return change(state, { region: [] });
  const about = cell ?? { query: (queries.from + queries.to) / 2, key: (keys.from + keys.to) / 2 };
  const first = (at, from) => Math.max(Math.round(at - ((at - from) * count) / before), 0);
  return change(state, { region: [first(about.query, queries.from), first(about.key, keys.from), count] });
}

/** The state with the region moved so that the cell lies inside. */
export function follow(state, { query, key }, T, S) {
  const { queries, keys } = regionOf(state, T, S);
  const moved = (at, { from, to }) => Math.min(Math.max(from, at - (to - from) + 1), at);
  const [first, second] = [moved(query, queries), moved(key, keys)];
  if (first === queries.from && second === keys.from) return state;
  return change(state, { region: [first, second, Math.max(queries.to - queries.from, keys.to - keys.from)] });
}
