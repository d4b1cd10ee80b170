// The lines above the map. They show the corpus, and the progress of a scan.

import { useState } from 'preact/hooks';
import type { AtlasMap } from '../../../model/protocol/atlasProtocol.ts';
import { useSession } from '../../../store/context.ts';
import { Menu } from '../../../ui/menu.tsx';
import { timeText } from '../numbers.ts';
import { OwnTexts } from '../ownTexts.tsx';
import { useAtlasTexts } from '../texts.ts';

export function MapHeader({ map }: { map: AtlasMap | null }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const [isOpen, setOpen] = useState(false);
  const scanned = session.atlas.map.value;
  const isTable = session.atlas.table.value;
  const isRunning = scanned?.state === 'running' || scanned?.state === 'paused';
  return (
    <header class="atlas-header">
      <h2 class="title">{texts.title(map ? map.layers * map.heads : 0)}</h2>
      <p>
        {!map || map.source === 'sentence' ? <BeforeScan /> : <Corpus map={map} />}{' '}
        {!isRunning && session.about.value?.kind === 'transformer' && (
          <button type="button" class="word" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {texts.own}
          </button>
        )}
        {map && (
          <button type="button" class="word as-table" onClick={() => session.atlas.setTable(!isTable)}>
            {isTable ? texts.asMap : texts.asTable}
          </button>
        )}
      </p>
      {isOpen && <OwnTexts onClose={() => setOpen(false)} />}
      {scanned && isRunning && <Progress map={scanned} />}
      {scanned && !isRunning && <LeftOut map={scanned} />}
    </header>
  );
}

/** The line that is shown before the first scan, when one sentence determines the positions of the heads. */
function BeforeScan() {
  const session = useSession();
  const texts = useAtlasTexts();
  const estimate = session.atlas.estimate.value;
  if (!estimate) return <>{texts.based}</>;
  return (
    <>
      {texts.based}{' '}
      <button type="button" class="word strong scan" onClick={() => session.atlas.scan({ title: '' })}>
        {texts.scan(estimate.passages)}
      </button>
      , {texts.about(timeText(texts, estimate.milliseconds * estimate.passages))}
    </>
  );
}

/** The corpus of a map, with a menu that starts a scan of the same corpus or of another one. */
function Corpus({ map }: { map: AtlasMap }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const { passages, done, tokens, title, state, longest, source } = map;
  const isRunning = state === 'running' || state === 'paused';
  const whole = isRunning || state === 'finished';
  const label =
    source === 'folder'
      ? texts.inFolder(passages, longest)
      : whole
        ? texts.over(passages, tokens)
        : texts.overSome(done, passages);
  const named = title && source !== 'folder' ? `${label} ${texts.of(title)}` : label;
  if (isRunning || source === 'folder') return <>{named}</>;
  const item =
    title === ''
      ? { key: 'again', label: texts.again, act: () => session.atlas.scan({ title }, { again: true }) }
      : { key: 'demo', label: texts.demo, act: () => session.atlas.scan({ title: '' }) };
  return <Menu label={named} name={named} items={[item]} />;
}

function Progress({ map: { done, passages, time, state } }: { map: AtlasMap }) {
  const { atlas } = useSession();
  const texts = useAtlasTexts();
  const paused = state === 'paused';
  const left = (time / Math.max(done, 1)) * (passages - done);
  return (
    <div class="atlas-progress">
      <p>
        <b>{texts.passage(done, passages)}</b>{' '}
        <span class="quiet-text">{paused ? texts.paused : done > 1 ? texts.left(timeText(texts, left)) : ''}</span>
        <span class="buttons">
          <button type="button" class="word" onClick={() => atlas.control(paused ? 'continue' : 'pause')}>
            {paused ? texts.goOn : texts.pause}
          </button>
          <button type="button" class="word" onClick={() => atlas.control('stop')}>
            {texts.stop}
          </button>
        </span>
      </p>
      <progress max={passages} value={done} aria-label={texts.passage(done, passages)} />
    </div>
  );
}

/** Says how many passages were skipped, and how many were truncated. */
function LeftOut({ map: { skipped, truncated, passages, longest, title } }: { map: AtlasMap }) {
  const texts = useAtlasTexts();
  if (title === '' || (skipped.length === 0 && truncated === 0)) return null;
  return (
    <p class="quiet-text">
      {skipped.length > 0 && (
        <details>
          <summary>{texts.left_out(passages - skipped.length, passages, skipped.length)}</summary>
          {skipped.join(', ')}
        </details>
      )}
      {truncated > 0 && <span>{texts.truncated(truncated, longest)}</span>}
    </p>
  );
}
