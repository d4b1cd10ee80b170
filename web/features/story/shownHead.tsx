// The name of the chosen head and its switch, for steps in which a phone shows no picture with them.

import { effective, placeOfLayer, withPlace } from '../../model/modelEdits.ts';
import { Switch } from '../../parts/headSwitch.tsx';
import { useSession } from '../../store/context.ts';

/** Has no preview of the prediction, unlike the picture's: it would move this switch away from the pointer. */
export function ShownHead() {
  const session = useSession();
  const words = session.words.value;
  const { layer, head, scale } = session.state.value;
  const place = placeOfLayer(session);
  const on = effective(scale, place, head, 1) !== 0;
  const turn = () => session.update({ scale: withPlace(scale, `${place}.${head}`, on ? 0 : 1, 1) });
  return (
    <p class="shown-head">
      {words.headName(layer, head)} <Switch name={words.first.head} on={on} turn={turn} />
    </p>
  );
}
