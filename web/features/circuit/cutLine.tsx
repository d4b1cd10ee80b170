// The circuit in the what-if line: the edges that are cut, a button that undoes the cuts, and the value that a cut edge
// carries.

import { useSession } from '../../store/context.ts';
import type { Kind } from '../../ui/layout.ts';
import { CarriesMenu } from './carriesMenu.tsx';
import { change, lineText, settingsIn, textsIn } from './circuitState.ts';

export function CutLine({ kind }: { kind: Kind }) {
  const session = useSession();
  const own = textsIn(session);
  const { cut } = settingsIn(session);
  const only = cut.length === 1 && session.circuit.shown.value?.lines.find(({ name }) => name === cut[0]);
  return (
    <>
      {cut.length > 0 && (
        <span class="group patched">
          <span>
            {only ? (
              <>
                <b>{own.cut}</b> {lineText(own, only)}
              </>
            ) : (
              <b>{own.cuts(cut.length)}</b>
            )}
          </span>
          <button type="button" class="word" onClick={() => change(session, { cut: [] })}>
            {own.undo}
          </button>
        </span>
      )}
      {kind !== 'tablet' && kind !== 'phone' && <CarriesMenu up />}
    </>
  );
}
