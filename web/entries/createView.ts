// Creates a view of the package, which is the page, or a part of it, in an element of another page.

import { effect, type Signal, signal } from '@preact/signals';
import { argumentError, HeadlightError } from '../../src/js/check/errors.ts';
import type { WorkerLike } from '../model/protocol/workerLike.ts';
import { PROGRAM_MODEL, type State } from '../model/state.ts';
import { readAddress } from '../store/address.ts';
import { routed } from '../worker/answerInPage.ts';
import style from './embedded.css';
import { embedded, type Shape } from './embedded.tsx';
import { mount } from './mount.tsx';
import type { View, ViewOptions, ViewState } from './mountOptions.ts';
import {
  type Counts,
  checkHead,
  checkListener,
  checkNames,
  describesModel,
  readFields,
  readSource,
  readState,
  sizesOf,
} from './readOptions.ts';
export type Page = ReturnType<typeof mount>;

/** Returns true if an element's height does not depend on the content. */
function hasHeight(element: HTMLElement) {
  const probe = document.createElement('div');
  probe.style.cssText = 'height: 100%';
  element.append(probe);
  const { clientHeight } = probe;
  probe.remove();
  return clientHeight > 0;
}

/** Makes a check of layer and head, which needs the model. */
function createHeadCheck(caller: string, options: ViewOptions) {
  let checked = false;
  let error: unknown = null;
  return {
    get error() {
      return error;
    },
    skip() {
      checked = true;
    },
    /** Checks once; returns the problem, if any. */
    refuses(about: Counts): string | null {
      if (checked) return null;
      checked = true;
      try {
        checkHead(caller, options, about);
        return null;
      } catch (thrown) {
        error = thrown;
        return (thrown as Error).message;
      }
    },
  };
}

/** Resolves after the first picture in the chosen language. `wrong` returns an option's error that prevents it. */
function readyOf(caller: string, session: Page['session'], wrong: () => unknown): Promise<void> {
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

export function createView(
  caller: string,
  element: HTMLElement,
  options: ViewOptions,
  {
    start,
    models,
    onTheme,
  }: {
    start: () => WorkerLike;
    /** models of the menu whose files are available */
    models: readonly string[];
    onTheme?: (theme: string) => void;
  },
): View {
  checkNames(caller, options);
  checkListener(caller, options.onState);
  const input = readSource(caller, options);
  const fields = readFields(caller, options, input);
  const earlier = readState(caller, options.state);
  const firstHead = earlier === '' && input ? { layer: 0, head: 0 } : {};
  const state = typeof earlier === 'string' && earlier !== '' ? readAddress(earlier) : earlier || {};
  const headCheck = createHeadCheck(caller, options);
  const { view = 'instrument', controls = true } = options;
  const shape = signal({ view: view as string, controls, ...sizesOf(input, options.part) });
  const fills = hasHeight(element);
  let page: Page;
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
        onState: options.onState as ((state: State) => void) | undefined,
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
      return page.state as ViewState;
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

function updateView({ session, update }: Page, shape: Signal<Shape>, change: Partial<ViewOptions>) {
  const isNew = describesModel(change);
  const input = isNew ? readSource('update', change) : null;
  const patch = readFields('update', change, input, isNew ? null : session.about.peek());
  if (change.theme) session.setTheme(change.theme);
  if (change.language) session.setLanguage(change.language);
  const { view, controls, T, S } = shape.peek();
  const sizes = isNew ? sizesOf(input, change.part) : { T, S };
  shape.value = { view: change.view ?? view, controls: change.controls ?? controls, ...sizes };
  if (change.state !== undefined) update(readState('update', change.state) as string | Partial<State>);
  if (input) {
    session.showProgramModel(input);
    update({ model: PROGRAM_MODEL, layer: 0, head: 0, cell: null, ...patch });
  } else if (isNew) update({ model: 'whale', ...patch });
  else if (Object.keys(patch).length > 0) update(patch);
}
