// What is read, in one line: me looks at Ish: 0.79

import { isAhead, weightsOf } from '../model/reading.js';
import { useSession, weightText } from './context.js';

export function Title({ run, cell: { t, s } }) {
  const words = useSession().words.value;
  const weight = weightsOf(run, run.layer, run.head)[t * run.S + s];
  const hidden = run.values?.scores[t * run.S + s] === Number.NEGATIVE_INFINITY;
  const ahead = hidden || isAhead(weight, t, s, !run.about.causal);
  return (
    <h2 class="title">
      <q class="query">{run.pieces[t].name}</q> {ahead ? words.cannot[0] : words.looksAt}{' '}
      <q class="key">{run.keys[s].name}</q>
      {!ahead && (
        <>
          : <span data-name="weight">{weightText(weight)}</span>
        </>
      )}
    </h2>
  );
}
