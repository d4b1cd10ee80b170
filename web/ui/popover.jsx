// A sign, and what it opens until Escape or a press elsewhere. On a phone three dots hold what is seldom used.

import { useOpening, useSession } from './context.js';

/** @param {{ around: string, sign: string, name: string, look: string, children: any }} given */
export function Opens({ around, sign, name, look, children }) {
  const { open, setOpen, ref } = useOpening();
  return (
    <span class={around} ref={ref}>
      <button
        type="button"
        class={`word ${look}`}
        aria-label={name}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {sign}
      </button>
      {open && children}
    </span>
  );
}

export function More({ children }) {
  const words = useSession().words.value;
  return (
    <Opens around="seldom" sign="⋯" name={words.more} look="dots">
      <div class="more">{children}</div>
    </Opens>
  );
}
