// Keeps the keyboard focus on the page when the focused element disappears, such as a button that is no longer needed
// or a panel that is closed. The focus moves to the nearest element, because otherwise a user of a screen reader would
// start again at the top of the page.

import { useEffect } from 'preact/hooks';

/** Elements that may get the focus. Text fields are excluded, because on a phone they would bring up the keyboard. */
const FOCUSABLE = 'button:not(:disabled, .skip), input:not([type=file]), [tabindex="0"]';

/** @param {Element} element */
function ancestorsOf(element) {
  const list = [];
  for (let at = element.parentElement; at; at = at.parentElement) list.push(at);
  return list;
}

/** Finds the section with the same class as a removed one. @param {ShadowRoot} root @param {Element} old */
const replacementOf = (root, { tagName, classList }) =>
  tagName === 'SECTION' && classList.length > 0 ? root.querySelector(`section.${classList[0]}`) : null;

const nameOf = (/** @type {Element} */ element) => element.textContent || element.getAttribute('aria-label');

/** Finds the element that replaces a removed one, by its name. @param {Element[]} all @param {Element} old */
const twinOf = (all, old) =>
  nameOf(old) ? all.find((other) => other.tagName === old.tagName && nameOf(other) === nameOf(old)) : undefined;

/** Finds the element that gets the focus. @param {ShadowRoot} root @param {Element} old @param {Element[]} ancestors */
function nearestTo(root, old, ancestors) {
  for (const ancestor of ancestors) {
    const place = ancestor.isConnected ? ancestor : replacementOf(root, ancestor);
    const all = [...(place?.querySelectorAll(FOCUSABLE) ?? [])].filter((element) => element.checkVisibility());
    const next = twinOf(all, old) ?? all[0];
    if (next) return /** @type {HTMLElement} */ (next);
  }
}

/** @param {HTMLElement} host an element with the page in its shadow root */
export function useKeptFocus(host) {
  useEffect(() => {
    const root = /** @type {ShadowRoot} */ (host.shadowRoot);
    /** The element that had the focus last, and its ancestors. @type {HTMLElement | null} */
    let last = null;
    let ancestors = /** @type {Element[]} */ ([]);
    const isGone = (/** @type {HTMLElement} */ element) =>
      !element.isConnected || /** @type {HTMLButtonElement} */ (element).disabled;
    const onFocus = (/** @type {Event} */ { target }) => {
      last = /** @type {HTMLElement} */ (target);
      ancestors = ancestorsOf(last);
    };
    const restore = () => {
      if (last && !root.activeElement && isGone(last)) nearestTo(root, last, ancestors)?.focus({ preventScroll: true });
    };
    // Some browsers send this event before they remove the element. If the focus moved elsewhere, it is not restored.
    const onBlur = (/** @type {Event} */ event) => {
      const { relatedTarget, target } = /** @type {FocusEvent} */ (event);
      const element = /** @type {HTMLElement} */ (target);
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
