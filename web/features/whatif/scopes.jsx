// Where a change is made: in this head, its layer, all heads.

import { useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';

/** @param {{ name: string }} given what is changed there, for those who do not see where it stands */
export function Scopes({ name }) {
  const session = useSession();
  const words = session.words.value;
  const { scope } = session.state.value;
  return (
    <Menu
      up
      name={`${name}: ${words.scopes[scope]}`}
      label={words.scopes[scope]}
      items={Object.entries(words.scopes).map(([key, label]) => ({
        key,
        label,
        chosen: key === scope,
        act: () => session.update({ scope: /** @type {any} */ (key) }),
      }))}
    />
  );
}
