// The entry `headlight-attention/view` of the package.

/** @module headlight-attention/view */

import { argumentError, HeadlightError } from '../../src/js/check/errors.ts';
import { createView } from './createView.ts';
import { models, startWorker } from './view.startWorker.ts';

export type { Part, View } from './mountOptions.ts';

import type { View, ViewOptions } from './mountOptions.ts';

export type { ViewOptions, ViewState, Weights } from './mountOptions.ts';

/** Messages that replace a view. */
const messages: WeakMap<Element, Element> = new WeakMap();

function say(element: Element, text: string) {
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
 * @param element the result of querySelector; null throws an error
 */
export function mount(element: Element | null, options: ViewOptions = {}): View {
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
