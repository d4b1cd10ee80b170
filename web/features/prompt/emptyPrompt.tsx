// Instructions and a button that inserts a text, shown in place of the picture if there is no token.

import { readsNumbers } from '../../model/tokens.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';

export function Empty({ height }: { height: number }) {
  const session = useSession();
  const words = session.words.value.nothing;
  const about = session.run.value?.about;
  const numbers = about && readsNumbers(about);
  const { firstText } = session.opening;
  return (
    <div class="nothing" style={px({ minHeight: height })}>
      <h2>{words.title}</h2>
      <p>{numbers ? words.numbers : words.text}</p>
      {firstText() && (
        <button type="button" class="word" onClick={session.opening.restoreText}>
          <span class="under">{numbers ? words.beginNumbers : words.begin}</span>
        </button>
      )}
    </div>
  );
}
