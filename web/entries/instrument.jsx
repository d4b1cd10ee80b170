// The main part of the page, for wide and narrow screens.

import { isOpen } from '../features/train/settings.js';
import { viewOf } from '../features/views.js';
import { useSession } from '../ui/context.js';

/** @import { Ref } from 'preact' */
/** @import { State } from '../store/state.js' */
/** @import { Run } from '../store/types.js' */

/**
 * Returns true if the view also covers the place of the model. During training the model is always shown.
 * @param {State} state @param {Run | null} run
 */
export const isGrown = (state, run) => Boolean(viewOf(state.view, run).grows) && !isOpen(state);

/**
 * The element around model, picture and panel. In another page it is not <main>, because that page has its own.
 * @param {{ look: string, area?: Ref<HTMLElement>, children: import('preact').ComponentChildren }} props
 */
export function Instrument({ look, area, children }) {
  const Main = useSession().embedded ? 'section' : 'main';
  return (
    <Main class={`instrument ${look}`} ref={area}>
      {children}
    </Main>
  );
}
