// A button that opens a list. Arrow keys move through the list, Escape closes it.

import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect } from 'preact/hooks';
import { useOpening } from './useOpening.ts';
/** name: for screen readers; href: leads there instead of an act; more: in the same line; isHeading: of those below */
export type Item = {
  key: string;
  label: ComponentChildren;
  name?: string;
  about?: ComponentChildren;
  chosen?: boolean;
  act?: () => void;
  href?: string;
  more?: Item[];
  isHeading?: boolean;
  disabled?: boolean;
};

const asHtml = (element: Element) => element as HTMLElement;

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

export function Menu({
  label,
  name,
  items,
  className = '',
  up = false,
  right = false,
  disabled = false,
}: {
  label: ComponentChildren;
  /** the text for screen readers */
  name?: string;
  className?: string;
  /** true if the list opens upwards */
  up?: boolean;
  disabled?: boolean;
  /** true if the list ends at the button's right edge */
  right?: boolean;
  items: Item[];
}) {
  const { open, setOpen, ref } = useOpening();
  const id = useId();
  const all = (selector: string) => [...(ref.current as HTMLElement).querySelectorAll(selector)].map(asHtml);
  // The focus moves before painting, so that the next key already goes to the list.
  useLayoutEffect(() => {
    if (open) (all('[aria-checked=true]')[0] ?? all('[role^=menuitem]')[0])?.focus();
  }, [open]);
  const walk = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    if (!open) return setOpen(true);
    const list = all('[role^=menuitem]');
    const at = list.indexOf(event.target as HTMLElement);
    list[(at + step + list.length) % list.length].focus();
  };
  const one = ({ key, label: text, href, ...item }: Item) =>
    href ? (
      <a key={key} data-key={key} href={href} role="menuitem">
        <span class="what">{text}</span>
      </a>
    ) : (
      pressed({ key, label: text, ...item })
    );
  const pressed = ({ key, label: text, name: spoken, about, chosen, act, disabled }: Item) => (
    <button
      key={key}
      data-key={key}
      type="button"
      aria-label={spoken}
      aria-disabled={disabled}
      {...(chosen === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': chosen })}
      onClick={() => {
        if (disabled) return;
        setOpen(false);
        all('button')[0].focus();
        act?.();
      }}
    >
      <span class="what">{text}</span>
      {about && <span class="about">{about}</span>}
    </button>
  );
  return (
    <span class={`menu ${className}`} ref={ref} onKeyDown={walk}>
      <button
        type="button"
        class="word opens"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={name}
        disabled={disabled}
        onClick={() => setOpen(!open)}
      >
        <span class="under">
          {label}
          <svg class="chevron" viewBox="0 0 10 6" aria-hidden="true">
            <path d="M1 1l4 4 4-4" />
          </svg>
        </span>
      </button>
      {open && (
        <span class={`list ${up ? 'up' : ''} ${right ? 'right' : ''}`} role="menu" id={id} aria-label={name}>
          {items.map(({ more, isHeading, ...item }) =>
            isHeading ? (
              <span key={item.key} role="presentation" class="heading">
                {item.label}
              </span>
            ) : more ? (
              <span key={item.key} role="none" class="beside">
                {[item, ...more].map(one)}
              </span>
            ) : (
              one(item)
            ),
          )}
        </span>
      )}
    </span>
  );
}
