// The order of the heads in a row: by number, or by a value that the menu chooses.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { shownPart } from '../../model/modelEdits.ts';
import type { RoleName } from '../../model/roles.ts';
import { isOpen } from '../../model/training/settings.ts';
import { beginAblation, isAblatable } from '../../parts/ablation.tsx';
import { useSession } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';
import type * as SortHeads from './sortHeads.ts';

/** Returns each layer's heads in display order; null for the order by number, used in training as scores change. */
export function useOrder(): number[][] | null {
  const session = useSession();
  const { sort, run, ablation, state, about } = session;
  const part = shownPart(about.value, state.value);
  const [module, setModule] = useState(null as typeof SortHeads | null);
  const by = isOpen(state.value) ? 'place' : sort.value;
  useEffect(() => {
    if (by !== 'place' && !module) import('./sortHeads.ts').then(setModule);
  }, [by]);
  const isComplete = ablation.value?.switchedOff.length === ablation.value?.total;
  return useMemo(
    () => (by === 'place' || !module || !run.value?.T ? null : module.orderOf(by, run.value, ablation.value, part)),
    [by, module, run.value, isComplete && ablation.value, part],
  );
}

/** The menu of orders. It also opens the list of ablations and the table of all scores. */
export function SortMenu() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const { heads = 1 } = session.about.value ?? {};
  const isOn = isAblatable(session.about.value);
  const { ablating, ablation } = session;
  const chosen = session.sort.value;
  if (heads < 2 || !run?.T || isOpen(session.state.value) || session.state.value.panel === 'story') return null;
  const scores = Object.keys(words.roleNames).filter((name) => Number.isFinite(run.scores?.[0]?.[0]?.[name]));
  const ways = ['place', ...(isOn ? ['effect'] : []), ...(run.large ? [] : ['uniform'])];
  const nameOf = (by: string) => words.sorts[by as keyof typeof words.sorts] ?? words.roleNames[by as RoleName];
  return (
    <span class="sort">
      <Menu
        right
        name={`${words.rank}: ${nameOf(chosen)}`}
        label={chosen === 'place' ? words.rank : nameOf(chosen)}
        items={[
          ...[...ways, ...scores].map((by) => ({
            key: by,
            label: nameOf(by),
            chosen: by === chosen,
            act() {
              session.setSort(by);
              if (by === 'effect' && !session.ablation.value) session.runAblation();
            },
          })),
          ...(isOn
            ? [
                {
                  key: 'ablate',
                  label: ablating.value
                    ? words.ablation.stop(ablation.value?.switchedOff.length ?? 0, ablation.value?.total ?? 0)
                    : words.ablation.begin,
                  act: ablating.value ? session.stopAblation : () => beginAblation(session),
                },
              ]
            : []),
          { key: 'table', label: words.allHeads, act: () => session.update({ panel: 'table' }) },
        ]}
      />
    </span>
  );
}
