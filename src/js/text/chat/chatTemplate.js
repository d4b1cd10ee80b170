// The chat template of a model: from messages to the text that the model was trained on.

import { readBoolean, readOptions } from '../../check/arguments.js';
import { argumentError, HeadlightError } from '../../check/errors.js';
import { parse } from './parser.js';
import { render } from './render.js';

/**
 * A message of a chat. Templates may read more fields, such as tool_calls.
 * @typedef {{ role: string, content?: unknown, [field: string]: unknown }} Message
 */
/**
 * @typedef {object} ChatOptions
 * @property {readonly object[]} [tools] functions that the model may call, as JSON schemas
 * @property {boolean} [think] for templates with `enable_thinking`: whether the model thinks before it answers
 * @property {boolean} [answer] true: the text ends where the answer of the model begins; default true unless the last
 *   message is the model's
 * @property {Record<string, unknown>} [values] further names of the template
 * @property {Date} [now] the date that the template may write; default: today
 */
/**
 * The templates of a model by name, and its special tokens such as bos_token.
 * @typedef {{ templates: Record<string, string>, specials: Record<string, string> }} ChatSource
 */

const CALLER = 'chat';
const OPTIONS = ['tools', 'think', 'answer', 'values', 'now'];

/**
 * @param {ChatSource | undefined} source
 * @param {readonly Message[]} messages
 * @param {ChatOptions} options
 * @returns {string}
 */
export function writeChat(source, messages, options) {
  const read = readOptions(CALLER, options, OPTIONS);
  const { tools, think, values = {}, now } = read;
  if (tools !== undefined && !Array.isArray(tools)) throw argumentError(CALLER, 'tools', tools, 'a list of tools');
  if (think !== undefined) readBoolean(CALLER, 'think', think);
  if (now !== undefined && !(now instanceof Date)) throw argumentError(CALLER, 'now', now, 'a Date');
  const given = readMessages(messages);
  const answer = readBoolean(CALLER, 'answer', read.answer ?? given.at(-1)?.role !== 'assistant');
  const template = templateOf(source, tools !== undefined);
  return render(
    parse(template),
    {
      ...source?.specials,
      messages: given,
      tools: tools === undefined ? null : plain('tools', tools),
      documents: null,
      add_generation_prompt: answer,
      ...(think !== undefined && { enable_thinking: think, thinking: think }),
      .../** @type {object} */ (plain('values', values)),
    },
    now,
  );
}

/** @param {unknown} messages @returns {Message[]} a copy, which a template may change */
function readMessages(messages) {
  if (!Array.isArray(messages) || messages.length === 0)
    throw argumentError(CALLER, 'messages', messages, 'a list of messages { role, content }');
  for (const [i, message] of messages.entries())
    if (typeof message?.role !== 'string')
      throw argumentError(CALLER, `messages[${i}]`, message, 'a message { role, content }');
  return /** @type {Message[]} */ (plain('messages', messages));
}

/** A copy with values of JSON only. @param {string} parameter @param {unknown} value @returns {unknown} */
function plain(parameter, value) {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    throw argumentError(CALLER, parameter, value, 'values that JSON can write');
  }
}

/** @param {ChatSource | undefined} source @param {boolean} withTools */
function templateOf(source, withTools) {
  const { templates = {} } = source ?? {};
  const template = (withTools ? templates.tool_use : undefined) ?? templates.default;
  if (template !== undefined) return template;
  throw new HeadlightError('STATE', `${CALLER}: the files of this model have no chat template`, {
    parameter: 'chat_template',
  });
}
