// The cell that is read, in one line, such as "me looks at Ish: 0.79".

import type { Cell, Run } from '../drawing/types.ts';
import { isAhead } from '../model/derivation.ts';
import { shownWeights } from '../model/meanOfHeads.ts';
import { weightText } from '../model/numbers.ts';
import { positionIn } from '../model/tokens.ts';
import { useSession } from '../store/context.ts';

const namesOf = (pieces: { name: string }[]) => pieces.map(({ name }) => name);

export function Title({ run, cell: { t, s } }: { run: Run; cell: Cell }) {
  const session = useSession();
  const words = session.words.value;
  const weight = shownWeights(run, session.state.value.mean)[t * run.S + s];
  const isMasked =
    run.values?.scores[t * run.S + s] === Number.NEGATIVE_INFINITY || isAhead(weight, t, s, !run.about.causal);
  return (
    <h2 class="title" tabIndex={-1}>
      <Named kind="query" names={namesOf(run.pieces)} index={t} /> {isMasked ? words.cannot[0] : words.looksAt}{' '}
      <Named kind="key" names={namesOf(run.keys)} index={s} />
      {!isMasked && (
        <>
          <span class="colon">: </span>
          <span data-name="weight">{weightText(weight)}</span>
        </>
      )}
    </h2>
  );
}

/** The name of a token, with its position if another token has the same name. */
export function Named({ kind, names, index }: { kind: 'query' | 'key'; names: string[]; index: number }) {
  const position = positionIn(names, index);
  return (
    <>
      <q class={kind}>{names[index]}</q>
      {position !== null && <sub>{position}</sub>}
    </>
  );
}
