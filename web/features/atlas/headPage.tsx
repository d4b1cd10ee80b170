// The page of the chosen head: its role, the weight that it gives to the tokens of its role, how far back it looks,
// which tokens it looks from and at, and the cost of switching it off.

import { useMemo, useState } from 'preact/hooks';
import { weightText } from '../../model/numbers.ts';
import type { AtlasHead, AtlasMap, AtlasRole, TokenWeight } from '../../model/protocol/atlasProtocol.ts';
import { attendsToFirst, findsNothing, rowsWithNothing } from '../../model/roles.ts';
import { useSession } from '../../store/context.ts';
import { measuredText, ownRole } from '../../store/shownRoles.ts';
import { barsOf } from './distanceBins.ts';
import { HeadCost } from './headCost.tsx';
import { percentText } from './numbers.ts';
import { sentencePage } from './sentencePage.ts';
import { useAtlasTexts } from './texts.ts';
import { useMap, useRoles } from './useAtlas.ts';

/** Rows of a table of tokens, first and after the visitor has asked for more. */
const [ROWS, MORE_ROWS] = [5, 20];

export function HeadPage() {
  const session = useSession();
  const words = session.words.value;
  const texts = useAtlasTexts();
  const map = useMap();
  const roles = useRoles(map);
  const { layer, head } = session.state.value;
  const scanned = session.atlas.head.value;
  const run = session.run.value;
  const ofText = useMemo(() => sentencePage(run, layer, head), [run, layer, head]);
  const role = map ? (roles[layer * map.heads + head] ?? null) : null;
  const isCurrent = scanned && scanned.key === map?.key && scanned.layer === layer && scanned.head === head;
  const isScanned = map !== null && map.source !== 'sentence';
  const page = isScanned ? (isCurrent ? scanned : null) : ofText;
  const isKnown = session.roles.value !== null;
  const own = ownRole(session, layer, head);
  // A folder that another program wrote has numbers for some rules only.
  const isPartial = map?.source === 'folder' && !map.means.first;
  return (
    <section class="atlas-head reading" aria-label={words.headName(layer, head)}>
      <div>
        <h2 class="title">{words.headName(layer, head)}</h2>
        {isKnown && <p class="atlas-does">{own?.[1] ?? texts.does[role ?? (isPartial ? 'unknown' : 'none')]}</p>}
        <Here role={role} />
      </div>
      {isKnown && <Rule map={map} role={role} layer={layer} head={head} />}
      {page && <Distances page={page} />}
      {page && (
        <div class="atlas-tokens">
          <Tokens look="query" title={texts.looksFrom} tokens={page.queryTokens} />
          <Tokens look="key" title={texts.looksAt} tokens={page.keyTokens} />
        </div>
      )}
      {map && isScanned && <HeadCost map={map} role={role} />}
    </section>
  );
}

/** The chosen head in the current text. */
function Here({ role }: { role: AtlasRole | null }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const run = session.run.value;
  const { layer, head } = session.state.value;
  if (!run?.T || run.large || run.layer !== layer || run.head !== head) return null;
  const size = run.T * run.S;
  const weights = run.weights.subarray(
    (layer * run.about.heads + head) * size,
    (layer * run.about.heads + head + 1) * size,
  );
  if (findsNothing(role, run)) {
    const rows = rowsWithNothing(
      role,
      run.pieces.map(({ id }) => id),
    );
    return <p class="quiet-text">{texts.hereNothing(attendsToFirst(weights, run.T, rows))}</p>;
  }
  const t = session.cell.value?.t ?? run.T - 1;
  const row = weights.subarray(t * run.S, (t + 1) * run.S);
  const s = row.reduce((best, w, i) => (w > row[best] ? i : best), 0);
  const [before, query, between, key, after] = texts.here(run.pieces[t].name, run.keys[s].name, row[s].toFixed(2));
  return (
    <p class="quiet-text atlas-here">
      {before}
      <i class="query">{query}</i>
      {between}
      <i class="key">{key}</i>
      {after}
    </p>
  );
}

/** Shows a head's role and its mean weight on the role's tokens: as measured for the name, and over the passages. */
function Rule({
  map,
  role,
  layer,
  head,
}: {
  map: AtlasMap | null;
  role: AtlasRole | null;
  layer: number;
  head: number;
}) {
  const session = useSession();
  const texts = useAtlasTexts();
  const weight = session.roleWeights.value?.[layer]?.[head] ?? null;
  const scanned = map && map.source !== 'sentence' ? map : null;
  const index = layer * (map?.heads ?? 0) + head;
  const onRole = role ? scanned?.means[role]?.[index] : undefined;
  const onFirst = role === 'first' ? undefined : scanned?.means.first?.[index];
  const isNumber = (x: number | undefined) => x !== undefined && Number.isFinite(x);
  return (
    <dl class="atlas-rule">
      {role && (
        <div>
          <dt>{texts.usually}</dt>
          <dd>{texts.roles[role]}</dd>
        </div>
      )}
      {role && weight !== null && (
        <div title={measuredText(session)}>
          <dt>{texts.gives[role]}</dt>
          <dd>{texts.onAverage(weightText(weight))}</dd>
        </div>
      )}
      {scanned && isNumber(onRole) && (
        <div>
          <dt>{texts.inPassages(scanned.done)}</dt>
          <dd>{weightText(Number(onRole))}</dd>
        </div>
      )}
      {scanned && isNumber(onFirst) && (
        <div>
          <dt>{texts.onFirst(scanned.done)}</dt>
          <dd>{weightText(Number(onFirst))}</dd>
        </div>
      )}
    </dl>
  );
}

function Distances({ page }: { page: AtlasHead }) {
  const texts = useAtlasTexts();
  const bars = barsOf(page.distances);
  const all = bars.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <figure class="atlas-distances">
      <figcaption>
        <b>{texts.distance}</b> {texts.byWeight}
      </figcaption>
      <ol aria-label={`${texts.distance}, ${texts.byWeight}`}>
        {bars.map(({ from, weight, share }) => (
          <li key={from} style={{ '--share': share }}>
            <span>{from}</span>
            <span class="spoken">: {percentText(weight / all)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}

function Tokens({ look, title, tokens }: { look: string; title: string; tokens: TokenWeight[] }) {
  const texts = useAtlasTexts();
  const [isLong, setLong] = useState(false);
  const highest = tokens[0]?.weight ?? 1;
  return (
    <div class={look}>
      <h3>{title}</h3>
      <ol>
        {tokens.slice(0, isLong ? MORE_ROWS : ROWS).map(({ token, weight }) => (
          <li key={token} style={{ '--share': weight / highest }}>
            <span class="serif">{token.trim() || (token.includes('\n') ? '↵' : '␣')}</span>
          </li>
        ))}
      </ol>
      {tokens.length > ROWS && (
        <button
          type="button"
          class="word"
          aria-expanded={isLong}
          aria-label={`${title}: ${texts.more}`}
          onClick={() => setLong(!isLong)}
        >
          {isLong ? texts.fewer : texts.more}
        </button>
      )}
    </div>
  );
}
