// The main part of the page, for wide and narrow screens.

import { isOpen } from '../features/train/settings.js';
import { viewOf } from '../features/views.js';
import { useSession } from '../ui/context.js';
import { later } from '../ui/lazy.jsx';

/** @import { Ref } from 'preact' */
/** @import { State } from '../store/state.js' */
/** @import { Run } from '../store/types.js' */

/**
 * Returns true if the view also covers the area of the thumbnails. During training the thumbnails are always shown.
 * @param {State} state @param {Run | null} run
 */
export const isGrown = (state, run) => Boolean(viewOf(state.view, run).grows) && !isOpen(state);

const [Waiting, FailedRun] = ['Waiting', 'FailedRun'].map((name) =>
  later(() => import('../features/waiting/waiting.jsx'), name),
);

/**
 * The large picture. Over it, a line says that a run is awaited; the reason why a run failed replaces it.
 * @param {{ children: import('preact').ComponentChildren, area?: Ref<HTMLDivElement> }} props
 */
export function LargePicture({ children, area }) {
  const session = useSession();
  const failed = session.failedRun.value !== null;
  const late = session.isLate.value && (session.isOld.value || session.computing.value !== null);
  return (
    <div class="view" ref={area}>
      {failed ? <FailedRun /> : children}
      {late && <Waiting />}
    </div>
  );
}

/**
 * The element around thumbnails, picture and panel. Inside another page it is not <main>, because the other page may
 * have a <main> of its own.
 * @param {{ look: string, area?: Ref<HTMLElement>, children: import('preact').ComponentChildren }} props
 */
export function Instrument({ look, area, children }) {
  const session = useSession();
  const Main = session.embedded ? 'section' : 'main';
  const old = session.isOld.value;
  return (
    <Main class={`instrument ${look}`} ref={area} data-old={old} aria-busy={old && session.isWaiting.value}>
      {children}
    </Main>
  );
}
