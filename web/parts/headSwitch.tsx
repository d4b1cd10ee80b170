// The switch of a head, in the title of its picture and in the sentence of the first visit.

import type { ButtonHTMLAttributes } from 'preact';
import { effective, placeOfLayer, withPlace } from '../model/modelEdits.ts';
import { useSession } from '../store/context.ts';

/** `more`: other attributes and listeners of the button. */
export function Switch({
  name,
  on,
  turn,
  ...more
}: { name: string; on: boolean; turn: () => void } & Partial<ButtonHTMLAttributes>) {
  return (
    <button type="button" role="switch" class="switch" aria-checked={on} aria-label={name} onClick={turn} {...more}>
      <span class="pill" />
    </button>
  );
}

/** The switch of the shown head. While it has the pointer or the focus, the prediction without the head is shown. */
export function HeadSwitch() {
  const session = useSession();
  const words = session.words.value;
  const { scale } = session.state.value;
  // The switch is next to the name of the shown head, also while the page waits for another one.
  const { layer, head } = session.shownState.value;
  const place = placeOfLayer(session, layer);
  const on = effective(scale, place, head, 1) !== 0;
  const point = (is: boolean) => () => session.setSwitchHover(is);
  return (
    <Switch
      name={words.first.head}
      on={on}
      turn={() => session.update({ scale: withPlace(scale, `${place}.${head}`, on ? 0 : 1, 1) })}
      onPointerEnter={point(true)}
      onPointerLeave={point(false)}
      onFocus={point(true)}
      onBlur={point(false)}
    />
  );
}
