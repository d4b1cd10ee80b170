// The messages of a chat model, in a panel below the prompt.

import { useEffect } from 'preact/hooks';
import type { ChatMessage } from '../../model/protocol/protocol.ts';
import { useSession, useTexts } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';
import { useOpening } from '../../ui/useOpening.ts';
import { chat as en } from './chat.en.ts';
import { chat as zh } from './chat.zh.ts';

export { default as styles } from './chat.css';

export type Texts = typeof en;

const ROLES = ['system', 'user', 'assistant'];

export function Chat() {
  const own = useTexts({ en, zh });
  const { open, setOpen, ref } = useOpening();
  return (
    <span class="chat" ref={ref}>
      <button type="button" class="word write" aria-expanded={open} onClick={() => setOpen(!open)}>
        {own.open}
      </button>
      {open && <Messages own={own} />}
    </span>
  );
}

function Messages({ own }: { own: Texts }) {
  const session = useSession();
  const { messages = null, problem } = session.chat.value ?? {};
  useEffect(() => session.readChat(), []);
  if (!messages) return null;
  const set = (at: number, fields: Partial<ChatMessage>) =>
    session.writeChat(messages.map((message, i) => (i === at ? { ...message, ...fields } : message)));
  const next = messages.at(-1)?.role === 'user' ? 'assistant' : 'user';
  return (
    <div class="messages" role="group" aria-label={own.title}>
      {messages.map((message, at) => (
        <Message
          key={at}
          message={message}
          own={own}
          set={(fields) => set(at, fields)}
          remove={messages.length > 1 ? () => session.writeChat(messages.filter((_, i) => i !== at)) : null}
        />
      ))}
      <button
        type="button"
        class="word strong"
        onClick={() => session.writeChat([...messages, { role: next, content: '' }])}
      >
        {own.add}
      </button>
      {problem ? (
        <p role="alert">
          {own.refused} {problem}
        </p>
      ) : (
        <p>{own.about}</p>
      )}
    </div>
  );
}

function Message({
  message: { role, content },
  own,
  set,
  remove,
}: {
  message: ChatMessage;
  own: Texts;
  set: (fields: Partial<ChatMessage>) => void;
  remove: (() => void) | null;
}) {
  const session = useSession();
  const name = own.roles[role] ?? role;
  return (
    <div class="message" data-role={role}>
      <Menu
        label={name}
        name={own.role(name)}
        items={ROLES.map((key) => ({
          key,
          label: own.roles[key],
          chosen: key === role,
          act: () => set({ role: key }),
        }))}
      />
      <textarea
        aria-label={own.content(name)}
        rows={Math.min(1 + (content.match(/\n/g)?.length ?? 0) + Math.floor(content.length / 60), 6)}
        value={content}
        onInput={(event) => set({ content: event.currentTarget.value })}
        onBlur={session.endGesture}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') event.stopPropagation();
        }}
      />
      {remove && (
        <button type="button" class="word sign" aria-label={own.remove} onClick={remove}>
          ×
        </button>
      )}
    </div>
  );
}
