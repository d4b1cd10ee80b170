// The model continues the text, token by token, until the visitor changes something.

/** @import { Parts } from './protocol.js' */

/** Tokens that are written at once. */
const MAX_TOKENS = 24;

/**
 * @param {object} store
 * @param {import('./document.js').Document} store.document
 * @param {import('./requests.js').Requests} store.requests
 */
export function createContinuation({ document, requests }) {
  /** The text that is continued, what has been written, and by which model; the answer of an encoder–decoder. */
  let [base, written, model, answer] = ['', '', '', ''];
  /** The first character that a model has written. */
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
    /** @param {Parts['generated']} generated all that has been written until now */
    receive({ text, isAnswer }) {
      const now = document.state.peek();
      // The visitor has typed, undone or chosen another model: nothing of that is overwritten.
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
