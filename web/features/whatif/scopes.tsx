// A menu of the scope of a change: this head, all heads of its layer, or all heads.

import { useSession } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';

/** `name`: kind of change that has this scope, for screen readers. */
export function Scopes({ name }: { name: string }) {
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
        act: () => session.update({ scope: key as 'all' | 'layer' | 'head' }),
      }))}
    />
  );
}
