// The error class of chat templates.

import { HeadlightError } from '../../check/errors.ts';

/** An error in a template, or a construct that is not supported, with its line. */
export class TemplateError extends HeadlightError {
  declare line: number;

  constructor(line: number, reason: string, more: object = {}) {
    super('FORMAT', `chat: line ${line} of the chat template: ${reason}`, { parameter: 'chat_template', ...more });
    this.line = line;
  }
}
