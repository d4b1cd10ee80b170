// Creates a view of the package, which is the page, or a part of it, in an element of another page.

import { effect, signal } from '@preact/signals';
import { argumentError, HeadlightError } from '../../src/js/check/errors.js';
import { PROGRAM_MODEL, readAddress } from '../store/state.js';
import { routed } from '../worker/answerInPage.js';
import style from './embedded.css';
import { embedded } from './embedded.jsx';
import { mount } from './mount.jsx';
import {
  checkHead,
  checkListener,
  checkNames,
  describesModel,
  readFields,
  readSource,
  readState,
  sizesOf,
} from './readOptions.js';

/** @import { State } from '../store/state.js' */
/** @import { View, ViewOptions, ViewState } from './mountOptions.js' */
/** @typedef {ReturnType<typeof mount>} Page */

/** Returns true if an element's height does not depend on the content. @param {HTMLElement} element */
function hasHeight(element) {
  const probe = document.createElement('div');
  probe.style.cssText = 'height: 100%';
  element.append(probe);
  const { clientHeight } = probe;
  probe.remove();
  return clientHeight > 0;
}

/** Makes a check of layer and head, which needs the model. @param {string} caller @param {ViewOptions} options */
function createHeadCheck(caller, options) {
  let checked = false;
  /** @type {unknown} */
  let error = null;
  return {
    get error() {
      return error;
    },
    skip() {
      checked = true;
    },
    /** Checks once. @param {import('./readOptions.js').Counts} about @returns {string | null} the problem, if any */
    refuses(about) {
      if (checked) return null;
      checked = true;
      try {
        checkHead(caller, options, about);
        return null;
      } catch (thrown) {
        error = thrown;
        return /** @type {Error} */ (thrown).message;
      }
    },
  };
}

/**
 * Returns a promise that resolves after the first picture in the chosen language.
 * @param {string} caller
 * @param {Page['session']} session
 * @param {() => unknown} wrong returns the error of an option, if that error prevents the picture
 * @returns {Promise<void>}
 */
function readyOf(caller, session, wrong) {
  const drawn = new Promise((resolve, reject) => {
    const end = effect(() => {
      const failure = session.failure.value;
      if (failure !== null) reject(wrong() ?? new HeadlightError('STATE', `${caller}: ${failure}`));
      else if (session.run.value) resolve(undefined);
      else return;
      queueMicrotask(() => end());
    });
  });
  const ready = Promise.all([drawn, session.languageReady]).then(() => {});
  // A caller need not await the promise, because the element shows the failure too.
  ready.catch(() => {});
  return ready;
}

/**
 * @param {string} caller
 * @param {HTMLElement} element
 * @param {ViewOptions} options
 * @param {object} own
 * @param {() => import('../worker/client.js').WorkerLike} own.start starts the worker
 * @param {readonly string[]} own.models models of the menu whose files are available
 * @param {(theme: string) => void} [own.onTheme]
 * @returns {View}
 */
export function createView(caller, element, options, { start, models, onTheme }) {
  checkNames(caller, options);
  checkListener(caller, options.onState);
  const input = readSource(caller, options);
  const fields = readFields(caller, options, input);
  const earlier = readState(caller, options.state);
  const firstHead = earlier === '' && input ? { layer: 0, head: 0 } : {};
  const state = typeof earlier === 'string' && earlier !== '' ? readAddress(earlier) : earlier || {};
  const headCheck = createHeadCheck(caller, options);
  const { view = 'instrument', controls = true } = options;
  const shape = signal({ view: /** @type {string} */ (view), controls, ...sizesOf(input, options.part) });
  const fills = hasHeight(element);
  /** @type {Page} */
  let page;
  try {
    page = mount(
      element,
      {
        start: () => routed(start, PROGRAM_MODEL),
        state: { ...firstHead, ...state, ...(input && { model: PROGRAM_MODEL }), ...fields },
        programModel: input,
        refuses: headCheck.refuses,
        embedded: true,
        models,
        theme: options.theme,
        language: options.language,
        onState: /** @type {((state: State) => void) | undefined} */ (options.onState),
      },
      embedded(shape, fills),
      [style],
    );
  } catch (error) {
    if (error instanceof RangeError)
      throw argumentError(caller, 'state', options.state, `a valid state (${error.message})`);
    throw error;
  }
  page.host.classList.toggle('fills', fills);
  const stopTheme = onTheme && page.session.theme.subscribe(onTheme);
  return {
    get state() {
      return /** @type {ViewState} */ (page.state);
    },
    ready: readyOf(caller, page.session, () => headCheck.error),
    address: () => page.address(),
    update(change) {
      checkNames('update', change);
      headCheck.skip();
      updateView(page, shape, change);
    },
    destroy() {
      stopTheme?.();
      page.destroy();
    },
  };
}

/**
 * @param {Page} page
 * @param {import('@preact/signals').Signal<import('./embedded.jsx').Shape>} shape
 * @param {Partial<ViewOptions>} change
 */
function updateView({ session, update }, shape, change) {
  const isNew = describesModel(change);
  const input = isNew ? readSource('update', change) : null;
  const patch = readFields('update', change, input, isNew ? null : session.about.peek());
  if (change.theme) session.setTheme(change.theme);
  if (change.language) session.setLanguage(change.language);
  const { view, controls, T, S } = shape.peek();
  const sizes = isNew ? sizesOf(input, change.part) : { T, S };
  shape.value = { view: change.view ?? view, controls: change.controls ?? controls, ...sizes };
  if (change.state !== undefined) update(/** @type {string | Partial<State>} */ (readState('update', change.state)));
  if (input) {
    session.showProgramModel(input);
    update({ model: PROGRAM_MODEL, layer: 0, head: 0, cell: null, ...patch });
  } else if (isNew) update({ model: 'whale', ...patch });
  else if (Object.keys(patch).length > 0) update(patch);
}
