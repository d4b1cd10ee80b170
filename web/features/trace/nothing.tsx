// Explains why nothing can be measured between two sentences, and what the visitor can do about it.

import type { TraceProblem } from '../../model/protocol/traceProtocol.ts';
import type { Trace } from '../../model/trace/places.ts';
import { ALL, OWN } from '../../model/trace/settings.ts';
import { useSession } from '../../store/context.ts';
import { pairsIn, showPair, textsIn } from './traceState.ts';

export function Nothing({
  trace,
  problem,
  setWriting,
}: {
  trace: Trace;
  problem: TraceProblem;
  setWriting: (what: 'upper' | 'lower' | 'words') => void;
}) {
  const session = useSession();
  const own = textsIn(session);
  const { task, pair } = session.state.value.trace;
  const pairs = pairsIn(session);
  const { answers, ids, upper } = trace;
  const higher = answers[upper.both[0] >= upper.both[1] ? 0 : 1];
  const missing = answers[ids[0].length === 0 ? 0 : 1];
  const text = own.nothing[problem];
  return (
    <div class="trace-nothing">
      <p role="status">{typeof text === 'string' ? text : text(problem === 'noAnswer' ? missing : higher)}</p>
      <p>
        {task !== OWN && pair !== ALL && pairs.length > 1 && (
          <button
            type="button"
            class="word strong"
            onClick={() => showPair(session, task, pairs, (pair + 1) % pairs.length)}
          >
            {own.nextPair}
          </button>
        )}
        {problem !== 'same' && problem !== 'noPlace' && (
          <button type="button" class="word strong" onClick={() => setWriting('words')}>
            {own.chooseWords}
          </button>
        )}
        <button type="button" class="word strong" onClick={() => setWriting('lower')}>
          {own.writeOther}
        </button>
      </p>
    </div>
  );
}
