// The legend of the view Text. It shows the depth of the line for five probabilities.

import { isOpen } from '../../model/training/settings.ts';
import { Ramp } from '../../parts/ramp.tsx';
import { useSession } from '../../store/context.ts';
import { otherName, textsIn } from './textState.ts';

const SAMPLES: [name: string, probability: number][] = [
  ['100%', 1],
  ['50%', 0.5],
  ['10%', 0.1],
  ['1%', 0.01],
  ['0.1%', 0.001],
];

export function TextMarks() {
  const session = useSession();
  const own = textsIn(session);
  const measured = session.surprise.measured.value;
  if (isOpen(session.state.value)) return <Ramp isWhole />;
  const name = measured?.other.some(Boolean) ? otherName(session, measured) : '';
  return (
    <>
      <span class="depths" role="img" aria-label={own.scale}>
        {SAMPLES.map(([name, probability]) => (
          <span key={name}>
            <span class="token" style={{ '--bits': (-Math.log2(probability)).toFixed(2) }} />
            {name}
          </span>
        ))}
      </span>
      <span class="depth-about">
        {measured?.masked ? own.chanceMasked : own.chance}
        {name && (
          <span>
            <span class="mark" />
            {name}
          </span>
        )}
      </span>
    </>
  );
}
