// A field for the whole text, which is measured while the visitor types.

import { useEffect, useRef } from 'preact/hooks';
import { useSession } from '../../store/context.ts';
import { textsIn } from './textState.ts';

export function EditText({ close }: { close: () => void }) {
  const session = useSession();
  const own = textsIn(session);
  const field = useRef(null as HTMLTextAreaElement | null);
  useEffect(() => {
    const { length } = session.state.peek().text;
    field.current?.focus();
    field.current?.setSelectionRange(length, length);
    return session.endGesture;
  }, []);
  return (
    <textarea
      ref={field}
      class="text-field"
      aria-label={own.editing}
      spellcheck={false}
      autocapitalize="off"
      value={session.state.value.text}
      onInput={(event) => session.opening.setText(event.currentTarget.value, 'text')}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' && !(event.key === 'Enter' && (event.ctrlKey || event.metaKey))) return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    />
  );
}
