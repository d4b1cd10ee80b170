// `Opens` is a button, labelled with a word or a symbol, that opens a popover. `More` is such a button with the name of
// what it opens; on phones and tablets it opens the controls that are rarely used.

import type { ComponentChildren } from 'preact';
import { useOpening } from './useOpening.ts';

/** `around`: class of the element around the button and the popover; `look`: class of the button. */
export function Opens({
  around,
  sign,
  name,
  look,
  children,
}: {
  around: string;
  sign: ComponentChildren;
  name: string;
  look: string;
  children: ComponentChildren;
}) {
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

export const Unfolds = ({ name }: { name: string }) => (
  <span class="under">
    {name}
    <svg class="chevron" viewBox="0 0 10 6" aria-hidden="true">
      <path d="M1 1l4 4 4-4" />
    </svg>
  </span>
);

export function More({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <Opens around="seldom" sign={<Unfolds name={name} />} name={name} look="opens">
      <div class="more">{children}</div>
    </Opens>
  );
}
