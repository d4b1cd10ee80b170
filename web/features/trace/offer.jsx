// The offer of a trace, next to the guesses: the pinned run has another text.

import { useSession } from '../../ui/context.js';
import { openTrace, textsIn } from './traceState.js';

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
