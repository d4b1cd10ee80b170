// Applies a model's chat template, which writes messages in the form on which the model was trained.

import { readBoolean, readNumber, readOptions, readSignal } from '../../check/arguments.ts';
import { argumentError, HeadlightError } from '../../check/errors.ts';
import { fit, type Measure } from './fit.ts';
import { parse } from './parser.ts';
import { finish, finishInPieces, rendering } from './render.ts';

/** of a message */
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function' | 'ipython';
/** A message of a chat. Templates may read more fields, such as tool_calls. */
export type Message = { role: Role; content?: unknown; [field: string]: unknown };
export type ChatOptions = {
  /** functions that the model may call, as JSON schemas */
  tools?: readonly object[] | undefined;
  /** for templates with `enable_thinking`: true if the model thinks before it answers */
  think?: boolean | undefined;
  /** the text ends where the model's answer begins; default: unless the last message is from the model */
  answer?: boolean | undefined;
  /**
   * tokens to leave free for the answer: the oldest turns, each a message of the user and what follows, are left out.
   * If the instructions at the beginning and the newest turn are too long, the error has the code SHAPE. Default:
   * nothing is left out
   */
  room?: number | undefined;
  /** values of further variables of the template */
  values?: Record<string, unknown> | undefined;
  /** the date that the template may write; default: today */
  now?: Date | undefined;
  /**
   * makes the result a promise: the text is written in pieces of some milliseconds, between which an abort rejects the
   * promise with its reason
   */
  signal?: AbortSignal | undefined;
};
/** The templates of a model by name, and its special tokens such as bos_token. */
export type ChatSource = { templates: Record<string, string>; specials: Record<string, string> };

const CALLER = 'chat';
const OPTIONS = ['tools', 'think', 'answer', 'room', 'values', 'now', 'signal'];

export class ChatTemplates {
  #source: ChatSource;
  #measure: Measure;

  constructor(source: ChatSource, measure: Measure) {
    this.#source = source;
    this.#measure = measure;
  }

  /** The special token bos_token, with which a template may begin the text. */
  get begin() {
    return this.#source.specials.bos_token;
  }

  get templates() {
    return this.#source.templates;
  }

  /** The special tokens by the names that templates give them. */
  get specials() {
    return this.#source.specials;
  }

  /** returns a promise with `signal` */
  write(messages: readonly Message[], options: ChatOptions): string | Promise<string> {
    const { tools, think, values = {}, now, answer, room, signal } = readChatOptions(options, this.#measure.context);
    const given = readMessages(messages);
    const { templates, specials } = this.#source;
    const template = (tools && templates.tool_use) ?? templates.default;
    if (template === undefined)
      throw new HeadlightError('STATE', `${CALLER}: this model has a chat template only for chats with tools`);
    const names = {
      ...specials,
      tools: tools ? plain('tools', tools) : null,
      documents: null,
      add_generation_prompt: answer ?? given.at(-1)?.role !== 'assistant',
      // Some templates name this variable enable_thinking, others thinking.
      ...(think !== undefined && { enable_thinking: think, thinking: think }),
      ...(plain('values', values) as object),
    };
    const tree = parse(template);
    const draw = (kept: Message[]) => rendering(tree, { messages: kept, ...names }, now);
    const running = room === undefined ? draw(given) : fit(CALLER, given, room, this.#measure, draw);
    return signal ? finishInPieces(running, signal) : finish(running);
  }
}

function readChatOptions(options: ChatOptions, context: number): ChatOptions {
  const read = readOptions(CALLER, options, OPTIONS);
  const { tools, think, answer, room, now } = read;
  if (tools !== undefined && !Array.isArray(tools)) throw argumentError(CALLER, 'tools', tools, 'a list of tools');
  if (think !== undefined) readBoolean(CALLER, 'think', think);
  if (answer !== undefined) readBoolean(CALLER, 'answer', answer);
  if (room !== undefined) readNumber(CALLER, 'room', room, { least: 0, most: context - 1, integer: true });
  if (now !== undefined && !(now instanceof Date)) throw argumentError(CALLER, 'now', now, 'a Date');
  return { ...read, signal: readSignal(CALLER, read.signal) };
}

/** returns a copy, which a template may change */
function readMessages(messages: unknown): Message[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw argumentError(CALLER, 'messages', messages, 'a list of messages { role, content }');
  for (const [i, message] of messages.entries())
    if (typeof message?.role !== 'string')
      throw argumentError(CALLER, `messages[${i}]`, message, 'a message { role, content }');
  return plain('messages', messages) as Message[];
}

/** Returns a copy that contains only values of JSON. */
function plain(parameter: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    throw argumentError(CALLER, parameter, value, 'values that JSON can represent');
  }
}
