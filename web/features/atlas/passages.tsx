// The passages with the strongest attention of the chosen head. A slider selects passages with weaker attention. Before
// the first scan, they are the words of the current text.

import { useMemo, useState } from 'preact/hooks';
import type { AtlasRole, AtlasSample } from '../../model/protocol/atlasProtocol.ts';
import { useSession } from '../../store/context.ts';
import { useSize } from '../../ui/useSize.ts';
import { PassageStrip } from './passageStrip.tsx';
import { intervalsOf, passagesAt } from './quantile.ts';
import { sentencePage, strongestRows } from './sentencePage.ts';
import { type Arc, fittingStrip, strongestOf } from './strip.ts';
import { useAtlasTexts } from './texts.ts';

/** Width in pixels of a letter, and of the number before the words. */
const [LETTER, FIGURE] = [8.2, 46];

export function Passages({ roles, list }: { roles: (AtlasRole | null)[]; list: { current: HTMLOListElement | null } }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const map = session.atlas.map.value;
  const page = session.atlas.head.value;
  const { layer, head } = session.state.value;
  const role = roles[layer * (map ?? session.run.value?.about ?? { heads: 0 }).heads + head] ?? null;
  const [position, setPosition] = useState(0);
  const isCurrent = page !== null && page.key === map?.key && page.layer === layer && page.head === head;
  const shown = useMemo(() => {
    if (!isCurrent || !page) return [];
    const strength = (sample: AtlasSample) => strongestOf(sample, role).weight;
    return passagesAt(page.samples, position, strength);
  }, [page, isCurrent, position, role]);
  const parts = isCurrent && page ? intervalsOf(page.samples).length : 1;
  const running = map?.state === 'running' || map?.state === 'paused';
  const at = Math.min(position, parts - 1);
  const label =
    at === 0 ? texts.ten(shown.length, map?.done ?? 0, Boolean(running)) : texts.part(shown.length, at, parts);
  return (
    <section class="atlas-passages" aria-label={texts.strongestTitle}>
      <h2 class="title">{texts.strongestTitle}</h2>
      {map ? (
        <p class="atlas-slider slider">
          <span aria-hidden="true">{texts.strongest}</span>
          <input
            type="range"
            min={0}
            max={Math.max(parts - 1, 1)}
            step={1}
            value={at}
            disabled={parts < 2}
            aria-label={texts.slider}
            aria-valuetext={label}
            onInput={(event) => setPosition(Number(event.currentTarget.value))}
            style={{ '--share': `${(100 * at) / Math.max(parts - 1, 1)}%` }}
          />
          <span aria-hidden="true">{texts.weakest}</span>
          <b>{shown.length > 0 ? label : ''}</b>
        </p>
      ) : (
        <p class="atlas-note">{texts.beforeScan}</p>
      )}
      {!map && <SentenceList role={role} list={list} />}
      {map && !isCurrent && <p class="atlas-note">{texts.reading}</p>}
      {isCurrent && shown.length === 0 && <p class="atlas-note">{texts.noPassages}</p>}
      {map && <List shown={shown} role={role} list={list} />}
    </section>
  );
}

/** The strongest attention of the chosen head in the current text: one line for each word that looks. */
function SentenceList({ role, list }: { role: AtlasRole | null; list: { current: HTMLOListElement | null } }) {
  const session = useSession();
  const { layer, head } = session.state.value;
  const run = session.run.value;
  const { width } = useSize(list);
  const page = useMemo(() => sentencePage(run, layer, head), [run, layer, head]);
  const rows = useMemo(() => (page ? strongestRows(page, role) : []), [page, role]);
  const open = (_: AtlasSample, { t, s }: Arc) => session.update({ view: 'heatmap', cell: { t, s } });
  return (
    <ol class="passage-list" ref={list} onKeyDown={walkPassages}>
      {page &&
        rows.map((arc) => (
          <li key={arc.t}>
            <PassageStrip
              sample={page.samples[0]}
              strip={fittingStrip(page.samples[0], role, (width - FIGURE) / LETTER, arc)}
              onOpen={open}
            />
          </li>
        ))}
    </ol>
  );
}

/** Moves the focus from one passage to the next with the arrow keys. */
function walkPassages(event: KeyboardEvent) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const all = [...(event.currentTarget as HTMLElement).querySelectorAll('button')];
  const next = all.indexOf(event.target as HTMLButtonElement) + step;
  all[Math.min(Math.max(next, 0), all.length - 1)]?.focus();
}

function List({
  shown,
  role,
  list,
}: {
  shown: AtlasSample[];
  role: AtlasRole | null;
  list: { current: HTMLOListElement | null };
}) {
  const session = useSession();
  const { width } = useSize(list);
  const about = session.about.value;
  const canOpen = about?.reads === 'text' || about?.folder;
  /** Makes a passage the text of the page, and chooses the cell with its strongest weight. */
  const open = (sample: AtlasSample, { t, s }: Arc) => {
    // The passages of a folder are entries of the folder, so the entry is opened instead of setting a text.
    if (about?.folder) {
      session.update({ entry: sample.sequence, view: 'heatmap', cell: { t, s } });
      return;
    }
    // Special tokens, which the tokenizer inserts, are not part of the text.
    const text = sample.tokens
      .filter((token, i) => i > 0 || !/^(<.+>|\[[A-Z]+\])$/.test(token))
      .join('')
      .trim();
    session.update({ text, view: 'heatmap', cell: { t, s } });
  };
  return (
    <ol class="passage-list" ref={list} onKeyDown={walkPassages}>
      {shown.map((sample) => (
        <li key={sample.sequence}>
          <PassageStrip
            sample={sample}
            strip={fittingStrip(sample, role, (width - FIGURE) / LETTER)}
            onOpen={canOpen ? open : null}
          />
        </li>
      ))}
    </ol>
  );
}
