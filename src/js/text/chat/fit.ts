// Drops the oldest turns of a chat until its text leaves room for an answer.

import { shapeError } from '../../check/errors.ts';

import type { Message } from './chatTemplate.ts';

/** counts the tokens of a text */
export type Measure = { context: number; count: (text: string) => number };

const INSTRUCTIONS = ['system', 'developer'];

/**
 * The newest turns that leave `room` tokens free. A turn is a message of the user and all up to the user's next.
 * Instructions at the beginning are kept. write: may pause.
 */
export function* fit(
  caller: string,
  messages: Message[],
  room: number,
  { context, count }: Measure,
  write: (kept: Message[]) => Generator<undefined, string>,
): Generator<undefined, string> {
  const most = context - room;
  const { kept, turns } = split(messages);
  let tokens = 0;
  const attempt: (from: number) => Generator<undefined, string | undefined> = function* (from) {
    const text = yield* write([...kept, ...turns.slice(from).flat()]);
    tokens = count(text);
    return tokens <= most ? text : undefined;
  };
  const whole = yield* attempt(0);
  if (whole !== undefined) return whole;
  // The first turn that can be kept is after `low`, and not after `high`.
  let [low, high] = [0, turns.length];
  let best;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const text = yield* attempt(middle);
    if (text === undefined) low = middle;
    else [best, high] = [text, middle];
  }
  if (best !== undefined) return best;
  const why = `: the newest message does not fit the context of ${context} tokens with room for ${room} more`;
  throw shapeError(caller, 'messages', [tokens], `at most ${most} tokens${why}`);
}

/** Splits messages into the instructions at the beginning, and turns. */
function split(messages: Message[]) {
  const first = messages.findIndex(({ role }) => !INSTRUCTIONS.includes(role));
  const start = first < 0 ? messages.length : first;
  const turns: Message[][] = [];
  for (const message of messages.slice(start)) {
    const turn = turns.at(-1);
    if (!turn || message.role === 'user') turns.push([message]);
    else turn.push(message);
  }
  return { kept: messages.slice(0, start), turns };
}
