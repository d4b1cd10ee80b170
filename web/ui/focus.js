// Keeps the keyboard focus on the page when the focused element disappears: a button that is no longer needed, a panel
// that is closed. A user of a screen reader would start again at the top of the page, so the focus moves to the nearest
// element.

import { useEffect } from 'preact/hooks';

/** Text fields are excluded: on a phone they would bring up the keyboard. */
const FOCUSABLE = 'button:not(:disabled, .skip), input:not([type=file]), [tabindex="0"]';

/** @param {Element} element */
function ancestorsOf(element) {
  const list = [];
  for (let at = element.parentElement; at; at = at.parentElement) list.push(at);
  return list;
}

/** The section that replaces a removed one: it has the same class. @param {ShadowRoot} root @param {Element} old */
const replacementOf = (root, { tagName, classList }) =>
  tagName === 'SECTION' && classList.length > 0 ? root.querySelector(`section.${classList[0]}`) : null;

const nameOf = (/** @type {Element} */ element) => element.textContent || element.getAttribute('aria-label');

/** The element with the same name: one that was removed and drawn again. @param {Element[]} all @param {Element} old */
const twinOf = (all, old) =>
  nameOf(old) ? all.find((other) => other.tagName === old.tagName && nameOf(other) === nameOf(old)) : undefined;

/** The element that is to have the focus. @param {ShadowRoot} root @param {Element} old @param {Element[]} ancestors */
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
    // Some browsers send this event while the element is still there. A focus that moved elsewhere is not restored.
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
