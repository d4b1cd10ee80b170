// A word that opens a list: no select box. Arrow keys walk it, Escape closes it.

import { useId, useLayoutEffect } from 'preact/hooks';
import { useOpening } from './context.js';

/**
 * more: what stands beside it in its line, with a name for those who do not see where.
 * @typedef {{ key: string, label: any, name?: string, about?: any, chosen?: boolean, act?: () => void,
 *   more?: Item[] }} Item
 */
/**
 * @param {object} given
 * @param {any} given.label what the word says
 * @param {string} [given.name] what it is, for those who do not see where it stands
 * @param {string} [given.className]
 * @param {boolean} [given.up] opens upwards
 * @param {boolean} [given.disabled]
 * @param {boolean} [given.right] its right edges meet
 * @param {Item[]} given.items
 */
export function Menu({ label, name, items, className = '', up = false, right = false, disabled = false }) {
  const { open, setOpen, ref } = useOpening();
  const id = useId();
  // At once: the next key is for the list.
  useLayoutEffect(() => {
    if (open)
      (ref.current.querySelector('[aria-checked=true]') ?? ref.current.querySelector('[role^=menuitem]'))?.focus();
  }, [open]);
  const walk = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    if (!open) return setOpen(true);
    const list = [...ref.current.querySelectorAll('[role^=menuitem]')];
    const at = list.indexOf(event.target);
    list[(at + step + list.length) % list.length].focus();
  };
  /** @param {Item} item */
  const one = ({ key, label: text, name: spoken, about, chosen, act }) => (
    <button
      key={key}
      data-key={key}
      type="button"
      aria-label={spoken}
      {...(chosen === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': chosen })}
      onClick={() => {
        setOpen(false);
        ref.current.querySelector('button').focus();
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
          {items.map(({ more, ...item }) =>
            more ? (
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
