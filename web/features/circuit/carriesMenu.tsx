// A menu for the value that a cut edge of the circuit carries instead of its original value.

import { CARRIES } from '../../model/circuit/settings.ts';
import { useSession } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';
import { change, textsIn } from './circuitState.ts';

export function CarriesMenu({ up = false }: { up?: boolean }) {
  const session = useSession();
  const own = textsIn(session);
  const { pinned, circuit } = session.state.value;
  const begun = session.circuit.shown.value?.begun;
  const carries = (begun && !begun.problem ? begun.carries : circuit?.carries) ?? 'mean';
  return (
    <span class="group carries">
      <span class="label">{own.carries}</span>
      <Menu
        up={up}
        label={own.values[carries]}
        name={`${own.carries}: ${own.values[carries]}`}
        items={CARRIES.map((value) => ({
          key: value,
          label: own.values[value],
          about: value === 'other' && !pinned ? own.needsOther : own.valuesAbout[value],
          chosen: value === carries,
          disabled: value === 'other' && !pinned,
          act: () => change(session, { carries: value, lines: null }),
        }))}
      />
    </span>
  );
}
