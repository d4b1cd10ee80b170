// The entry `headlight-attention/view` of the package.

/** @module headlight-attention/view */

import { argumentError, HeadlightError } from '../../src/js/check/errors.js';
import { createView } from './createView.js';
import { models, startWorker } from './view.startWorker.js';

/** @typedef {import('./mountOptions.js').Part} Part */
/** @typedef {import('./mountOptions.js').View} View */
/** @typedef {import('./mountOptions.js').ViewOptions} ViewOptions */
/** @typedef {import('./mountOptions.js').ViewState} ViewState */
/** @typedef {import('./mountOptions.js').Weights} Weights */

/** Messages that replace a view. @type {WeakMap<Element, Element>} */
const messages = new WeakMap();

/** @param {Element} element @param {string} text */
function say(element, text) {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  const paragraph = Object.assign(document.createElement('p'), { textContent: text });
  paragraph.setAttribute('role', 'alert');
  paragraph.style.cssText = 'margin: 0; font: 15px/1.5 system-ui, sans-serif';
  root.append(paragraph);
  element.append(host);
  messages.set(element, host);
}

/**
 * Shows a model or attention weights in an element. The view is as wide as the element. It is also as high as the
 * element if the element's height does not depend on the content. The view has its own shadow root, computes in a
 * worker if necessary, and uploads nothing.
 * @param {Element | null} element the result of querySelector; null throws an error
 * @param {ViewOptions} [options]
 * @returns {View}
 */
export function mount(element, options = {}) {
  if (!(element instanceof HTMLElement)) throw argumentError('mount', 'element', element, 'an element of the page');
  messages.get(element)?.remove();
  messages.delete(element);
  try {
    return createView('mount', element, options, { start: startWorker, models });
  } catch (error) {
    say(element, error instanceof Error ? error.message : String(error));
    throw error;
  }
}

export { HeadlightError };
