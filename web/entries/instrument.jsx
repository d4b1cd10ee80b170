// The main part of the page, for wide and narrow screens.

import { isOpen } from '../features/train/settings.js';
import { viewOf } from '../features/views.js';
import { useSession } from '../ui/context.js';

/** @import { Ref } from 'preact' */
/** @import { State } from '../store/state.js' */
/** @import { Run } from '../store/types.js' */

/**
 * Returns true if the view also covers the area of the thumbnails. During training the thumbnails are always shown.
 * @param {State} state @param {Run | null} run
 */
export const isGrown = (state, run) => Boolean(viewOf(state.view, run).grows) && !isOpen(state);

/**
 * The element around thumbnails, picture and panel. Inside another page it is not <main>, because the other page may
 * have a <main> of its own.
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
