// The advice below the single row of a decoder that has written nothing yet.

import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { WriteOn } from '../prompt/continueText.jsx';
import { shownPart } from '../whatif/modelEdits.js';

/** @import { Picture } from './types.js' */

/** Height that the advice needs, with its distance from the row. */
const [HEIGHT, GAP] = [110, 28];

/** Returns true if a picture has one row because the decoder has written nothing, and has room for advice below it.
 * @param {import('../../store/session.js').Session} session @param {Picture} picture @param {number} height
 */
export function isFirstToken({ about, state }, { T, y, matrixHeight, foot }, height) {
  const isDecoder = about.value?.parts.includes('cross') && shownPart(about.value, state.value) !== 'encoder';
  return T === 1 && isDecoder && about.value?.writes && height - y - matrixHeight - foot >= HEIGHT;
}

/** @param {{ picture: Picture }} props */
export function FirstToken({ picture: { x, y, matrixWidth, matrixHeight, foot } }) {
  const words = useSession().words.value;
  return (
    <div class="first-token" style={px({ left: x, top: y + matrixHeight + foot + GAP, width: matrixWidth })}>
      <p>{words.open.firstToken}</p>
      <WriteOn />
    </div>
  );
}
