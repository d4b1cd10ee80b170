// The messages of a chat. They are read from the text, and the model's template writes them as a text.

import type { ChatMessage, ChatPart } from '../model/protocol/protocol.ts';
import type { Answers } from './answers.ts';
import type { Document } from './document.ts';
import type { Requests } from './requests.ts';

export function createChat({
  requests,
  document: { state, update },
  answers,
}: {
  requests: Requests;
  document: Document;
  answers: Answers;
}) {
  return {
    read: () => requests.send({ verb: 'chat', state: state.peek() }),
    write(messages: ChatMessage[]) {
      answers.set({ chat: { messages } });
      requests.send({ verb: 'chat', state: state.peek(), messages });
    },
    receive({ messages, text, problem }: ChatPart) {
      answers.set({ chat: { messages, problem } });
      if (text !== undefined) update({ text, cell: null }, 'text');
    },
  };
}
export type Chat = ReturnType<typeof createChat>;
