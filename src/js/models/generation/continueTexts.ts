// Continues several texts for generate(): each step reads the weights once for all. Shorter prompts are padded on the
// left, so that the last tokens are in one column; positions do not count padding.

import { argumentError, HeadlightError } from '../../check/errors.ts';
import { largestOf } from '../../check/extremes.ts';
import type { Cache } from '../cache.ts';
import type { ModelInput } from '../input.ts';
import type { Resolved } from '../options.ts';
import type { Transformer } from '../transformer.ts';
import { ContinuedText, limitOf, Pauses } from './continuedText.ts';
import { CALLER, type Generated, type Request } from './generateOptions.ts';
import { lastLogits } from './lastLogits.ts';
import { findRoom, readPrompt, readTokens } from './prompts.ts';

export type Tokens = { ids: number[]; keep?: readonly number[] };
/** A text that has a row in the cache. padding: number of padding tokens before the text. */
export type Row = { text: ContinuedText; encoder?: Tokens; padding: number };

/** Number of tokens after the prompts for which a new cache has memory. It grows if more tokens are generated. */
const INITIAL_ROOM = 64;

/** Refuses inputs that are not tokens or have more than ids and keep. options: of the encoder. */
function readEncoder(options: Resolved, input: unknown, called: string): Tokens {
  if (options.input !== 'tokens')
    throw new HeadlightError(
      'STATE',
      `${CALLER}: several texts need an encoder of tokens, but the input of this model's encoder is ${options.input}`,
      { parameter: called, expected: 'tokens', got: options.input },
    );
  const read = readTokens(called, input, options, 'encoders of several texts accept only ids and keep');
  const { ids, keep, keepName } = read;
  if (keep && keep.length !== ids.length)
    throw argumentError(CALLER, `${called}.${keepName}`, keep, `as many numbers as ids: ${ids.length}`);
  return read;
}

/** Returns rows of equal length, to which padding is added. side: of the padding. */
function pad(tokens: readonly Tokens[], padToken: number, side: 'left' | 'right') {
  const longest = largestOf(tokens.map(({ ids }) => ids.length));
  const fill = (row: readonly number[], value: number) => {
    const rest = new Array(longest - row.length).fill(value);
    return side === 'left' ? [...rest, ...row] : [...row, ...rest];
  };
  const keep = tokens.map((row) => fill(row.keep ?? row.ids.map(() => 1), 0));
  return {
    ids: tokens.map(({ ids }) => fill(ids, padToken)),
    ...(keep.some((row) => row.includes(0)) && { keep }),
  };
}

/** Computes the logits of the next token of each text, with one cache that has a row for each text. */
class TextSteps {
  #model: Transformer;
  #size: number;
  /** The texts in the cache. */
  #rows: Row[] = [];
  #cache: Cache | undefined;

  constructor(model: Transformer, length: number) {
    this.#model = model;
    this.#size = length;
  }

  /** rows: of the previous call, without texts that have ended */
  after(rows: Row[]): Float32Array[] {
    const cache = this.#cache ? this.#leave(this.#cache, rows) : this.#begin(rows);
    const next = rows.map(({ text }) => text.next);
    const input = cache.length === 0 ? this.#firstInput(rows, next) : { ids: next };
    return lastLogits(this.#model, cache, { ...input, ...this.#positions(rows, cache.length, input.ids[0].length) });
  }

  /** Positions of new tokens, if the model would count padding. past: tokens in the cache; count: of new ones. */
  #positions(rows: Row[], past: number, count: number) {
    const { countPadding, padToken } = this.#model.options;
    if (!countPadding || padToken !== undefined || rows.every(({ padding }) => padding === 0)) return {};
    const positions = rows.map(({ padding }) =>
      Array.from({ length: count }, (_, i) => Math.max(past + i - padding, 0)),
    );
    return { positions };
  }

  #begin(rows: Row[]) {
    const longest = largestOf(rows.map(({ text }) => text.next.length));
    for (const row of rows) row.padding = longest - row.text.next.length;
    this.#rows = rows;
    this.#cache = this.#model.growingCache({ length: this.#size, batch: rows.length }, longest + INITIAL_ROOM);
    return this.#cache;
  }

  /** Removes from the cache the texts that have ended, and the padding that all remaining texts share. */
  #leave(cache: Cache, rows: Row[]) {
    if (rows.length === this.#rows.length) return cache;
    const shared = -largestOf(rows.map(({ padding }) => -padding));
    const left = cache.takeRows(
      rows.map((row) => this.#rows.indexOf(row)),
      shared,
    );
    cache.dispose();
    for (const row of rows) row.padding -= shared;
    this.#rows = rows;
    this.#cache = left;
    return left;
  }

  #firstInput(rows: Row[], next: number[][]) {
    const { padToken = 0, encoder } = this.#model.options;
    const input = pad(
      next.map((ids) => ({ ids })),
      padToken,
      'left',
    );
    if (!encoder) return input;
    const inputs = rows.map((row) => row.encoder as Tokens);
    return { encoder: pad(inputs, encoder.padToken ?? 0, 'right'), ...input };
  }

  dispose() {
    this.#cache?.dispose();
  }
}

/**
 * Refuses a text that needs other rotary angles, because all rows of a call share them. longest: most tokens that enter
 * the model.
 */
function checkLong({ max }: Request, longest: number, beyond: number) {
  if (longest <= beyond) return;
  const few = `so few that no text gets longer than ${beyond} tokens`;
  throw argumentError(CALLER, 'max', max, `${few}; longer texts need other rotary angles, continue them alone`);
}

export async function continueTexts(
  model: Transformer,
  prompts: readonly ModelInput[],
  request: Request,
): Promise<Generated[]> {
  const { options } = model;
  let longest = 1;
  const rows = prompts.map((prompt, index) => {
    const called = `prompt[${index}]`;
    const { ids: start, encoder } = readPrompt(model, prompt, called);
    const { room, beyond } = findRoom(options, undefined, start.length, called);
    longest = Math.max(longest, start.length + limitOf(request, room) - 1);
    checkLong(request, longest, beyond);
    const tokens = options.encoder && readEncoder(options.encoder, encoder, `${called}.encoder`);
    return { text: new ContinuedText(model, request, { start, room, index }), encoder: tokens, padding: 0 };
  });
  const steps = new TextSteps(model, longest);
  try {
    await continueAll(rows, steps, request);
  } finally {
    steps.dispose();
  }
  return rows.map(({ text }) => text.result);
}

async function continueAll(rows: Row[], steps: TextSteps, { signal }: Request) {
  const pauses = new Pauses();
  for (let open = rows; ; await pauses.next()) {
    open = open.filter(({ text }) => !text.ended);
    if (open.length === 0) return;
    if (signal?.aborted) {
      for (const { text } of open) await text.end('signal');
      return;
    }
    const logits = steps.after(open);
    for (const [i, { text }] of open.entries()) await text.choose(logits[i]);
  }
}
