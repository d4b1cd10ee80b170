// The view Text. Each token of the text has a line below it, which is the deeper, the more the token surprised the
// model.

import { useRef, useState } from 'preact/hooks';
import type { ViewProps } from '../../drawing/types.ts';
import { isOpen } from '../../model/training/settings.ts';
import { WriteOn } from '../../parts/continueText.tsx';
import { useSession } from '../../store/context.ts';
import type { Measured } from '../../store/measured/surprise.ts';
import { px } from '../../ui/px.ts';
import { Picture } from '../heatmap/feature.ts';
import { EditText } from './editText.tsx';
import { EXAMPLE, offersExample } from './example.ts';
import { MeanLine } from './meanLine.tsx';
import { Strip } from './strip.tsx';
import { textsIn } from './textState.ts';
import { TextTable } from './textTable.tsx';
import { useTextKeys } from './useTextKeys.ts';

export { TextMarks } from './marks.tsx';
export { TextPanel } from './panel.tsx';
export { default as styles } from './text.css';

export function Text({ width, height, most, compact = false, free = false }: ViewProps) {
  const session = useSession();
  const own = textsIn(session);
  const measured = session.surprise.measured.value;
  const keys = useTextKeys(measured);
  const box = useRef(null as HTMLDivElement | null);
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

function ShortText({ measured }: { measured: Measured }) {
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

function Progress({ measured: { done, total, masked, stopped } }: { measured: Measured }) {
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
