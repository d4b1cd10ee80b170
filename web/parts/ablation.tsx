// The ablation of every head. Its result is the change of the next token's probability without the head, in percentage
// points, or the angle by which the hidden states turn. Also the button that starts it.

import type { Ablation, About, AttentionPart } from '../model/protocol/protocol.ts';
import { useSession } from '../store/context.ts';
import type { Session } from '../store/session.ts';

/** Returns a change of probability in percentage points, without a negative zero. */
export const pointsFrom = (probability: number, before: number) => Math.round(100 * (probability - before)) + 0;

/** Returns the changes by ablating heads of one attention so far, by 'layer.head': percentage points or degrees. */
export const pointsOf = (ablation: Ablation | null, shown: AttentionPart): Record<string, number> | null =>
  ablation &&
  Object.fromEntries(
    ablation.switchedOff
      .filter(({ part }) => part === shown)
      .map(({ layer, head, value }) => [
        `${layer}.${head}`,
        ablation.measure === 'angle' ? value : pointsFrom(value, ablation.before),
      ]),
  );

/** Returns true if the heads of a model can be switched off. */
export const isAblatable = (about: Pick<About, 'kind' | 'edits'> | null) =>
  about?.kind === 'transformer' && about.edits;

export function beginAblation(session: Session) {
  session.runAblation();
  session.update({ panel: 'tried' });
}

/** The button that starts or stops the ablation. `opensPanel`: the start opens the list. */
export function AblationButton({ opensPanel = true }: { opensPanel?: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const { about, ablating, ablation } = session;
  if (!isAblatable(about.value) || session.state.value.panel === 'story') return null;
  const begin = opensPanel ? () => beginAblation(session) : session.runAblation;
  return (
    <button
      type="button"
      class="word try"
      // Without a text no token is predicted, so nothing can be measured.
      disabled={!session.run.value?.T}
      onClick={ablating.value ? session.stopAblation : begin}
    >
      {ablating.value
        ? words.ablation.stop(ablation.value?.switchedOff.length ?? 0, ablation.value?.total ?? 0)
        : words.ablation.begin}
    </button>
  );
}
