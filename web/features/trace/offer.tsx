// The button next to the predictions that opens the trace view. It is shown when the text of the pinned run differs
// from the current text.

import { useSession } from '../../store/context.ts';
import { openTrace, textsIn } from './traceState.ts';

export function TraceOffer() {
  const session = useSession();
  return (
    <p class="trace-offer">
      <button type="button" class="word" onClick={() => openTrace(session)}>
        {textsIn(session).begin}
      </button>
    </p>
  );
}
