// Lets the model continue the text, token by token, until the visitor changes something.

import type { Parts } from '../model/protocol/protocol.ts';
import type { Document } from './document.ts';
import type { Requests } from './requests.ts';

const MAX_TOKENS = 24;

export function createContinuation({ document, requests }: { document: Document; requests: Requests }) {
  /** The text that is continued, the text written so far, the model that writes, and an encoder–decoder's answer. */
  let [base, written, model, answer] = ['', '', '', ''];
  /** Index of the first character that a model has written. */
  let from = 0;
  return {
    /** `max`: maximum number of tokens. */
    write(max: number = MAX_TOKENS) {
      const { text, second = '', model: current, written: before } = document.state.peek();
      from = before ?? text.length;
      [base, written, model, answer] = [text, '', current, second];
      document.endGesture();
      requests.send({ verb: 'generate', state: document.state.peek(), max });
    },
    /** `generated`: the whole text that has been written so far. */
    receive({ text, isAnswer }: Parts['generated']) {
      const now = document.state.peek();
      // The answer must not overwrite what the visitor has typed, undone or chosen since the request.
      if (now.model !== model || now.text !== base + written) return requests.cancel('generate');
      if (isAnswer) {
        if (now.second !== answer) return requests.cancel('generate');
        answer = text;
        return document.update({ second: text, cell: null }, 'write');
      }
      written = text;
      document.update({ text: base + text, written: from }, 'write');
    },
  };
}
export type Continuation = ReturnType<typeof createContinuation>;
