// The error class of chat templates.

import { HeadlightError } from '../../check/errors.js';

/** An error in a template, or a construct that is not supported, with its line. */
export class TemplateError extends HeadlightError {
  /** @param {number} line @param {string} reason @param {object} [more] */
  constructor(line, reason, more = {}) {
    super('FORMAT', `chat: line ${line} of the chat template: ${reason}`, { parameter: 'chat_template', ...more });
    this.line = line;
  }
}
