// The choice between the two views of flow: what adds to the prediction, and the circuit.

import { usualCircuit } from '../model/circuit/settings.ts';
import { useSession, useTexts } from '../store/context.ts';

const en = { ways: 'Flow', adds: 'what adds', circuit: 'the circuit' };
const zh = { ways: '流', adds: '贡献', circuit: '回路' };

export function Ways() {
  const session = useSession();
  const texts = useTexts({ en, zh });
  const { circuit } = session.state.value;
  const show = (is: boolean) => () => session.update({ circuit: is ? usualCircuit : null });
  return (
    <span class="choice ways" role="group" aria-label={texts.ways}>
      <button type="button" class="word" aria-pressed={circuit === null} onClick={show(false)}>
        {texts.adds}
      </button>
      <button type="button" class="word" aria-pressed={circuit !== null} onClick={show(true)}>
        {texts.circuit}
      </button>
    </span>
  );
}
