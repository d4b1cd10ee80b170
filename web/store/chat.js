// The messages of a chat. They are read from the text, and the model's template writes them as a text.

/** @import { ChatMessage, ChatPart } from './protocol.js' */

/**
 * @param {object} store
 * @param {import('./requests.js').Requests} store.requests
 * @param {import('./document.js').Document} store.document
 * @param {import('./answers.js').Answers} store.answers
 */
export function createChat({ requests, document: { state, update }, answers }) {
  return {
    /** Asks for the messages of the text. */
    read: () => requests.send({ verb: 'chat', state: state.peek() }),
    /** @param {ChatMessage[]} messages */
    write(messages) {
      answers.set({ chat: { messages } });
      requests.send({ verb: 'chat', state: state.peek(), messages });
    },
    /** @param {ChatPart} part */
    receive({ messages, text, problem }) {
      answers.set({ chat: { messages, problem } });
      if (text !== undefined) update({ text, cell: null }, 'text');
    },
  };
}
/** @typedef {ReturnType<typeof createChat>} Chat */
