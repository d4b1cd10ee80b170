// The model's prediction after the text. A click adds it to the text. While the button is held down, the model
// continues the text.

import { useRef } from 'preact/hooks';
import { shown } from '../../model/tokens.ts';
import { useSession } from '../../store/context.ts';

/** A button counts as held down after this many milliseconds. */
const HELD = 500;

/** Returns the text with a token after it, and with one space between text and token. */
export const withToken = (text: string, token: string) => text + (/\s$/.test(text) ? token.trimStart() : token);

/** `isFirst`: true if the text is empty. */
export function Guess({ token, isFirst }: { token: string; isFirst: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const { text } = session.state.value;
  const timer = useRef(undefined as ReturnType<typeof setTimeout> | undefined);
  const isHeld = useRef(false);
  const hold = () => {
    isHeld.current = false;
    timer.current = setTimeout(() => {
      isHeld.current = true;
      session.write();
    }, HELD);
  };
  const release = () => clearTimeout(timer.current);
  const accept = () => {
    if (isHeld.current) isHeld.current = false;
    else session.update({ text: withToken(text, token) });
  };
  const visible = shown(token);
  const space = /^\s/.test(visible) ? ' ' : '\u2009';
  return (
    <>
      {isFirst || /\s$/.test(text) ? '' : space}
      <button
        type="button"
        class="guess"
        aria-label={words.accept(visible.trim() || '␣')}
        title={words.accept(visible.trim() || '␣')}
        onPointerDown={hold}
        onPointerUp={release}
        onPointerLeave={release}
        onPointerCancel={release}
        onContextMenu={(event) => event.preventDefault()}
        onClick={accept}
      >
        {visible.trim() || '␣'}
      </button>
    </>
  );
}
