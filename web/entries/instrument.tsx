// The main part of the page, for wide and narrow screens.

import type { ComponentChildren, Ref } from 'preact';
import { FailedRun, Waiting } from '../features/waiting/feature.ts';
import type { State } from '../model/state.ts';
import { isOpen } from '../model/training/settings.ts';
import type { Run } from '../model/types.ts';
import { useSession } from '../store/context.ts';
import { viewOf } from './views.ts';

/** Returns true if the view also covers the area of the thumbnails. During training the thumbnails are always shown. */
export const isGrown = (state: State, run: Run | null) => Boolean(viewOf(state.view, run).grows) && !isOpen(state);

/** The large picture. Over it, a line says that a run is awaited; the reason why a run failed replaces it. */
export function LargePicture({ children, area }: { children: ComponentChildren; area?: Ref<HTMLDivElement> }) {
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

/** Thumbnails, picture and panel. Not <main> inside another page, which may have a <main> of its own. */
export function Instrument({
  look,
  area,
  children,
}: {
  look: string;
  area?: Ref<HTMLElement>;
  children: ComponentChildren;
}) {
  const session = useSession();
  const Main = session.embedded ? 'section' : 'main';
  const old = session.isOld.value;
  return (
    <Main class={`instrument ${look}`} ref={area} data-old={old} aria-busy={old && session.isWaiting.value}>
      {children}
    </Main>
  );
}
