// The map as a table, with the numbers of every head.

import type { AtlasMap, AtlasRole } from '../../../model/protocol/atlasProtocol.ts';
import { useSession } from '../../../store/context.ts';
import { axesOf, valuesOn } from '../axes.ts';
import { valueText } from '../numbers.ts';
import { useAtlasTexts } from '../texts.ts';
import { useRoleNames } from '../useAtlas.ts';

export function MapTable({ map, roles }: { map: AtlasMap; roles: (AtlasRole | null)[] }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const nameOf = useRoleNames(map, roles);
  const axes = axesOf(map);
  const values = axes.map((name) => valuesOn(map, name));
  const { layer, head } = session.state.value;
  return (
    <div class="atlas-table" tabIndex={0} role="region" aria-label={texts.table}>
      <table>
        <thead>
          <tr>
            <th scope="col">{texts.head}</th>
            <th scope="col">{texts.role}</th>
            {axes.map((name) => (
              <th key={name} scope="col">
                {texts.axes[name]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {roles.map((_, i) => {
            const [l, h] = [Math.floor(i / map.heads), i % map.heads];
            const isChosen = l === layer && h === head;
            return (
              <tr key={i} class={isChosen ? 'chosen-row' : ''}>
                <th scope="row">
                  <button
                    type="button"
                    class="word"
                    aria-pressed={isChosen}
                    onClick={() => session.update({ layer: l, head: h }, 'head')}
                  >
                    {l}.{h}
                  </button>
                </th>
                <td>{nameOf(i)}</td>
                {axes.map((name, axis) => (
                  <td key={name} class="figures">
                    {valueText(name, values[axis][i])}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
