// The advice below the single row of a decoder that has written nothing yet.

import type { Picture } from '../../drawing/types.ts';
import { shownPart } from '../../model/modelEdits.ts';
import { WriteOn } from '../../parts/continueText.tsx';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { px } from '../../ui/px.ts';

/** Height that the advice needs, with its distance from the row. */
const [HEIGHT, GAP] = [110, 28];

/** Returns true if a picture has one row because the decoder has written nothing, and has room for advice below it. */
export function isFirstToken({ about, state }: Session, { T, y, matrixHeight, foot }: Picture, height: number) {
  const isDecoder = about.value?.parts.includes('cross') && shownPart(about.value, state.value) !== 'encoder';
  return T === 1 && isDecoder && about.value?.writes && height - y - matrixHeight - foot >= HEIGHT;
}

export function FirstToken({ picture: { x, y, matrixWidth, matrixHeight, foot } }: { picture: Picture }) {
  const words = useSession().words.value;
  return (
    <div class="first-token" style={px({ left: x, top: y + matrixHeight + foot + GAP, width: matrixWidth })}>
      <p>{words.open.firstToken}</p>
      <WriteOn />
    </div>
  );
}
