// What has the focus may go away with what it has done: a word that is there no longer, a panel that is closed. Who
// does not see the page would then begin at its top. So the focus goes to what stands nearest to where it was.

import { useEffect } from 'preact/hooks';

/** A field is left out: on a phone it would bring up the keyboard. */
const TAKES = 'button:not(:disabled, .skip), input:not([type=file]), [tabindex="0"]';

/** @param {Element} element */
function ancestorsOf(element) {
  const list = [];
  for (let at = element.parentElement; at; at = at.parentElement) list.push(at);
  return list;
}

/** The place of an ancestor that has gone: what is there now by its name. @param {ShadowRoot} root */
const instead = (root, { tagName, classList }) =>
  tagName === 'SECTION' && classList.length > 0 ? root.querySelector(`section.${classList[0]}`) : null;

/**
 * What has the same words: it stands in the place of one that was drawn anew.
 * @param {Element[]} all @param {Element} one
 */
const twinOf = (all, { tagName, textContent }) =>
  textContent ? all.find((other) => other.tagName === tagName && other.textContent === textContent) : undefined;

/** Does not let the focus of the page in an element's shadow root be lost. @param {HTMLElement} host */
export function useKeptFocus(host) {
  useEffect(() => {
    const root = /** @type {ShadowRoot} */ (host.shadowRoot);
    /** What had the focus last, and what it stood in. */
    let last = /** @type {any} */ (null);
    let around = /** @type {Element[]} */ ([]);
    const take = (/** @type {any} */ { target }) => {
      last = target;
      around = ancestorsOf(target);
    };
    const look = () => {
      if (!last || root.activeElement || (last.isConnected && !last.disabled)) return;
      for (const one of around) {
        const place = one.isConnected ? one : instead(root, one);
        const all = [...(place?.querySelectorAll(TAKES) ?? [])].filter((element) => element.checkVisibility());
        const heir = twinOf(all, last) ?? all[0];
        if (!heir) continue;
        return /** @type {HTMLElement} */ (heir).focus({ preventScroll: true });
      }
    };
    // Some browsers tell of it while the element is still there. Who has gone elsewhere has let it go.
    const leave = (/** @type {any} */ { relatedTarget, target }) =>
      queueMicrotask(() => {
        if (relatedTarget || (target.isConnected && !target.disabled)) last = last === target ? null : last;
        else look();
      });
    const observer = new MutationObserver(look);
    observer.observe(root, { childList: true, subtree: true });
    root.addEventListener('focusin', take);
    root.addEventListener('focusout', leave);
    return () => {
      observer.disconnect();
      root.removeEventListener('focusin', take);
      root.removeEventListener('focusout', leave);
    };
  }, [host]);
}
