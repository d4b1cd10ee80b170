// The reading column on a phone, which is a sheet. The title of the sheet is above the what-if line; a click on the
// title opens the sheet.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Closing } from '../features/first/feature.ts';
import { Title } from '../parts/cellTitle.tsx';
import { useSession } from '../store/context.ts';
import { useClosing } from '../ui/useOpening.ts';
import { panelFor } from './panels.ts';

export function Sheet() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  // True if a panel other than the reading was requested. Such a panel opens the sheet, and closes with it.
  const isRequested = session.state.value.panel !== 'reading';
  // The last step of the first visit asks for the calculation.
  const [open, setOpen] = useState(isRequested || session.closing.peek() === 'why');
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) setOpen(isRequested);
    isFirst.current = false;
  }, [isRequested]);
  const toggle = () => {
    setOpen(!open);
    if (open && isRequested) session.update({ panel: 'reading' });
  };
  const ref = useClosing(open, (isEscape: boolean) => isEscape && toggle());
  const Panel = panelFor(session.state.value, session.run.value);
  if (!cell || !run?.T) return null;
  return (
    <div class={`sheet ${open ? 'open' : ''}`} ref={ref}>
      <button type="button" class="sheet-line" aria-expanded={open} onClick={toggle}>
        <Title run={run} cell={cell} />
        <span class="how-short">
          {open ? words.close : words.howShort}
          <svg class={`chevron ${open ? '' : 'turned'}`} viewBox="0 0 10 6" aria-hidden="true">
            <path d="M1 1l4 4 4-4" />
          </svg>
        </span>
      </button>
      {open && (
        <>
          <Panel compact title={false} />
          <Closing />
        </>
      )}
    </div>
  );
}
