// Reads the ends of a path in a model: the senders, which are heads, and the receivers, which are inputs.

import { checkOptions, readNumber } from '../../check/arguments.ts';
import { argumentError, HeadlightError } from '../../check/errors.ts';

import type { ModelOptions } from '../arrays.ts';
import type { Head } from '../composition.ts';

/** The input of a head or of the feed-forward layer of a block. For key and value, head is the number of a key head. */
export type Receiver =
  | { layer: number; head: number; input: 'query' | 'key' | 'value' }
  | { layer: number; input: 'mlp' };

const CALLER = 'pathPatch';
const INPUTS = ['query', 'key', 'value', 'mlp'];

const readPlace = (name: string, value: unknown, count: number) =>
  readNumber(CALLER, name, value, { integer: true, least: 0, most: count - 1 });

export function readSenders(from: unknown, { layers, numHeads }: ModelOptions): Head[] {
  const list = Array.isArray(from) ? from : [from];
  if (list.length === 0) throw argumentError(CALLER, 'from', from, 'a head { layer, head }, or a list of heads');
  return list.map((sender, i) => {
    const name = Array.isArray(from) ? `from[${i}]` : 'from';
    checkOptions(CALLER, sender, ['layer', 'head'], name);
    return {
      layer: readPlace(`${name}.layer`, sender.layer, layers),
      head: readPlace(`${name}.head`, sender.head, numHeads),
    };
  });
}

/** returns none for the logits */
export function readReceivers(to: unknown, options: ModelOptions): Receiver[] {
  if (to === 'logits') return [];
  const list = Array.isArray(to) ? to : [to];
  if (list.length === 0 || list.some((receiver) => receiver === null || typeof receiver !== 'object'))
    throw argumentError(CALLER, 'to', to, "'logits', a receiver { layer, head, input }, or a list of receivers");
  return list.map((receiver, i) => readReceiver(receiver, Array.isArray(to) ? `to[${i}]` : 'to', options));
}

function readReceiver(receiver: any, name: string, options: ModelOptions): Receiver {
  checkOptions(CALLER, receiver, ['layer', 'head', 'input'], name);
  const { input } = receiver;
  if (!INPUTS.includes(input)) throw argumentError(CALLER, `${name}.input`, input, "'query', 'key', 'value' or 'mlp'");
  const layer = readPlace(`${name}.layer`, receiver.layer, options.layers);
  if (input === 'mlp') {
    if (receiver.head !== undefined)
      throw argumentError(CALLER, `${name}.head`, receiver.head, 'no head, because a feed-forward layer has none');
    checkFeedForward(name, options);
    return { layer, input };
  }
  const { numHeads, kvHeads = numHeads } = options;
  return { layer, head: readPlace(`${name}.head`, receiver.head, input === 'query' ? numHeads : kvHeads), input };
}

function checkFeedForward(name: string, { mlp, normPlace = 'before' }: ModelOptions) {
  const refuse = (reason: string) =>
    new HeadlightError('ARGUMENT', `${CALLER}: ${name} is a feed-forward, but ${reason}`, { parameter: 'to' });
  if (mlp === 0) throw refuse('this model has none');
  if (normPlace === 'after')
    throw refuse("normPlace is 'after', so it reads the residual stream itself, not a norm of its own");
  if (normPlace === 'stream') throw refuse("normPlace is 'stream', so the norm before it replaces the residual stream");
}

/** Returns true if the output of a head reaches a receiver. */
export function isBefore(sender: Head, { layer, input }: Receiver, { normPlace }: ModelOptions) {
  return sender.layer < layer || (input === 'mlp' && sender.layer === layer && normPlace !== 'parallel');
}
