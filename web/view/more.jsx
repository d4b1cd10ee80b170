// What is seldom used on a phone: three dots, and what they open until Escape or a press elsewhere.

import { useState } from 'preact/hooks';
import { useClosing, useSession } from './context.js';

export function More({ children }) {
  const words = useSession().words.value;
  const [open, setOpen] = useState(false);
  const ref = useClosing(open, (focus) => {
    setOpen(false);
    if (focus) ref.current.querySelector('button').focus();
  });
  return (
    <span class="seldom" ref={ref}>
      <button
        type="button"
        class="word dots"
        aria-label={words.more}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        ⋯
      </button>
      {open && <div class="more">{children}</div>}
    </span>
  );
}
