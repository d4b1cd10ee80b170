// Keeps the keyboard focus on the page when the focused element disappears, such as a button that is no longer needed
// or a panel that is closed. The focus moves to the nearest element, because otherwise a user of a screen reader would
// start again at the top of the page.

import { useEffect } from 'preact/hooks';

/** Elements that may get the focus. Text fields are excluded, because on a phone they would bring up the keyboard. */
const FOCUSABLE = 'button:not(:disabled, .skip), input:not([type=file]), [tabindex="0"]';

function ancestorsOf(element: Element) {
  const list = [];
  for (let at = element.parentElement; at; at = at.parentElement) list.push(at);
  return list;
}

/** Finds the section with the same class as a removed one. */
const replacementOf = (root: ShadowRoot, { tagName, classList }: Element) =>
  tagName === 'SECTION' && classList.length > 0 ? root.querySelector(`section.${classList[0]}`) : null;

const nameOf = (element: Element) => element.textContent || element.getAttribute('aria-label');

const twinOf = (all: Element[], old: Element) =>
  nameOf(old) ? all.find((other) => other.tagName === old.tagName && nameOf(other) === nameOf(old)) : undefined;

/** Finds the element that gets the focus. */
function nearestTo(root: ShadowRoot, old: Element, ancestors: Element[]) {
  for (const ancestor of ancestors) {
    const place = ancestor.isConnected ? ancestor : replacementOf(root, ancestor);
    const all = [...(place?.querySelectorAll(FOCUSABLE) ?? [])].filter((element) => element.checkVisibility());
    const next = twinOf(all, old) ?? all[0];
    if (next) return next as HTMLElement;
  }
}

/** `host`: an element with the page in its shadow root. */
export function useKeptFocus(host: HTMLElement) {
  useEffect(() => {
    const root = host.shadowRoot as ShadowRoot;
    /** The element that had the focus last, and its ancestors. */
    let last: HTMLElement | null = null;
    let ancestors = [] as Element[];
    const isGone = (element: HTMLElement) => !element.isConnected || (element as HTMLButtonElement).disabled;
    const onFocus = ({ target }: Event) => {
      last = target as HTMLElement;
      ancestors = ancestorsOf(last);
    };
    const restore = () => {
      if (last && !root.activeElement && isGone(last)) nearestTo(root, last, ancestors)?.focus({ preventScroll: true });
    };
    // Some browsers send this event before they remove the element. If the focus moved elsewhere, it is not restored.
    const onBlur = (event: Event) => {
      const { relatedTarget, target } = event as FocusEvent;
      const element = target as HTMLElement;
      queueMicrotask(() => {
        if (!relatedTarget && isGone(element)) restore();
        else if (last === element) last = null;
      });
    };
    const observer = new MutationObserver(restore);
    observer.observe(root, { childList: true, subtree: true });
    root.addEventListener('focusin', onFocus);
    root.addEventListener('focusout', onBlur);
    return () => {
      observer.disconnect();
      root.removeEventListener('focusin', onFocus);
      root.removeEventListener('focusout', onBlur);
    };
  }, [host]);
}
