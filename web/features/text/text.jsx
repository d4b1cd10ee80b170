// The view Text. Each token of the text has a line below it, which is the deeper, the more the token surprised the
// model.

import { useRef, useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { Picture } from '../heatmap/heatmap.jsx';
import { WriteOn } from '../prompt/continueText.jsx';
import { isOpen } from '../train/settings.js';
import { EditText } from './editText.jsx';
import { EXAMPLE, offersExample } from './example.js';
import { MeanLine } from './meanLine.jsx';
import { Strip } from './strip.jsx';
import { textsIn } from './textState.js';
import { TextTable } from './textTable.jsx';
import { useTextKeys } from './useTextKeys.js';

/** @import { ViewProps } from '../heatmap/types.js' */
/** @import { Measured } from '../../store/surprise.js' */

export { TextMarks } from './marks.jsx';
export { TextPanel } from './panel.jsx';
export { default as styles } from './text.css';

/** @param {ViewProps} props */
export function Text({ width, height, most, compact = false, free = false }) {
  const session = useSession();
  const own = textsIn(session);
  const measured = session.surprise.measured.value;
  const keys = useTextKeys(measured);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [editing, setEditing] = useState(false);
  const [asTable, setAsTable] = useState(false);
  if (isOpen(session.state.value))
    return <Picture width={width} height={height} most={most} compact={compact} free={free} />;
  return (
    <section class="text-view" aria-label={own.title} style={px({ height })} onKeyDown={keys.onEscape}>
      {editing ? (
        <EditText close={() => setEditing(false)} />
      ) : !measured ? (
        <div class="strip-box" />
      ) : asTable ? (
        <TextTable measured={measured} />
      ) : (
        <>
          <Strip measured={measured} box={box} onKey={keys.onKey} width={width} />
          <ShortText measured={measured} />
        </>
      )}
      <div class="text-choices">
        <button type="button" class="word" onClick={() => setEditing(!editing)}>
          {editing ? own.ok : own.edit}
        </button>
        <WriteOn />
        <button type="button" class="word" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? own.asPicture : own.asTable}
        </button>
        {measured && <Progress measured={measured} />}
      </div>
      {measured && !editing && !asTable && <MeanLine measured={measured} box={box} width={width} />}
    </section>
  );
}

/** Offers a longer passage if the text is short. @param {{ measured: Measured }} props */
function ShortText({ measured }) {
  const session = useSession();
  const own = textsIn(session);
  const about = session.about.value;
  if (!about || !offersExample({ T: measured.pieces.length, context: about.context, words: about.words === true }))
    return null;
  return (
    <p class="short-text">
      {own.short}{' '}
      <button type="button" class="word" onClick={() => session.update({ text: EXAMPLE, cell: null })}>
        {own.longer}
      </button>
    </p>
  );
}

/** Shows the progress of the measurement if it takes long. @param {{ measured: Measured }} props */
function Progress({ measured: { done, total, masked, stopped } }) {
  const session = useSession();
  const own = textsIn(session);
  if (done >= total || !masked) return null;
  return (
    <span class="text-progress">
      <span role="status">{own.done(done, total)}</span>
      <progress max={total} value={done} aria-label={own.done(done, total)} />
      <button type="button" class="word strong" onClick={stopped ? session.surprise.again : session.surprise.stop}>
        {stopped ? own.goOn : own.stop}
      </button>
    </span>
  );
}
