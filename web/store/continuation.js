// Lets the model continue the text, token by token, until the visitor changes something.

/** @import { Parts } from './protocol.js' */

/** Maximum tokens that one request writes. */
const MAX_TOKENS = 24;

/**
 * @param {object} store
 * @param {import('./document.js').Document} store.document
 * @param {import('./requests.js').Requests} store.requests
 */
export function createContinuation({ document, requests }) {
  /** The text that is continued, the text written so far, the model that writes, and an encoder–decoder's answer. */
  let [base, written, model, answer] = ['', '', '', ''];
  /** Index of the first character that a model has written. */
  let from = 0;
  return {
    /** @param {number} [max] tokens */
    write(max = MAX_TOKENS) {
      const { text, second = '', model: current, written: before } = document.state.peek();
      from = before ?? text.length;
      [base, written, model, answer] = [text, '', current, second];
      document.endGesture();
      requests.send({ verb: 'generate', state: document.state.peek(), max });
    },
    /** @param {Parts['generated']} generated the whole text that has been written so far */
    receive({ text, isAnswer }) {
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
/** @typedef {ReturnType<typeof createContinuation>} Continuation */
