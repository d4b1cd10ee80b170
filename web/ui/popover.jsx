// `Opens` is a button, labelled with a word or a symbol, that opens a popover. `More` is such a button with three
// dots; on phones and tablets it opens the controls that are rarely used.

import { useSession } from './context.js';
import { useOpening } from './useOpening.js';

/** @import { ComponentChildren } from 'preact' */

/**
 * @param {{ around: string, sign: ComponentChildren, name: string, look: string, children: ComponentChildren }} props
 *   around: class of the element around the button and the popover. look: class of the button
 */
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

/** @param {{ children: ComponentChildren }} props */
export function More({ children }) {
  const words = useSession().words.value;
  return (
    <Opens around="seldom" sign="⋯" name={words.more} look="dots">
      <div class="more">{children}</div>
    </Opens>
  );
}
