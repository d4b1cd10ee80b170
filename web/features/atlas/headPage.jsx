// The page of the chosen head: its usual role, how often the rule of that role holds, how far back the head looks,
// which tokens it looks from and at, and the cost of switching it off.

import { useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { attendsToFirst, findsNothing, rowsWithNothing } from '../heads/roles.js';
import { barsOf } from './distanceBins.js';
import { HeadCost } from './headCost.jsx';
import { percentText } from './numbers.js';
import { useAtlasTexts } from './texts.js';
import { useMap, useRoles } from './useAtlas.js';
import { shareOf } from './usualRole.js';

/** @import { AtlasHead, AtlasMap, AtlasRole, TokenWeight } from '../../store/atlasProtocol.js' */

/** Rows of a table of tokens, first and after the visitor has asked for more. */
const [ROWS, MORE_ROWS] = [5, 20];

export function HeadPage() {
  const session = useSession();
  const words = session.words.value;
  const texts = useAtlasTexts();
  const map = useMap();
  const roles = useRoles(map);
  const { layer, head } = session.state.value;
  const page = session.atlas.head.value;
  const role = map ? (roles[layer * map.heads + head] ?? null) : null;
  const isCurrent = page && page.key === map?.key && page.layer === layer && page.head === head;
  const isScanned = map !== null && map.source !== 'sentence';
  return (
    <section class="atlas-head reading" aria-label={words.headName(layer, head)}>
      <div>
        <h2 class="title">{words.headName(layer, head)}</h2>
        {(isScanned || role) && <p class="atlas-does">{texts.does[role ?? 'none']}</p>}
        <Here role={role} />
      </div>
      {map && isScanned && (
        <>
          <Rule map={map} role={role} head={layer * map.heads + head} />
          {isCurrent && <Distances page={page} />}
          {isCurrent && (
            <div class="atlas-tokens">
              <Tokens look="query" title={texts.looksFrom} tokens={page.queryTokens} />
              <Tokens look="key" title={texts.looksAt} tokens={page.keyTokens} />
            </div>
          )}
          <HeadCost map={map} role={role} />
        </>
      )}
    </section>
  );
}

/** The chosen head in the current text. @param {{ role: AtlasRole | null }} props */
function Here({ role }) {
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

/**
 * Shows how often the rule of a head's role holds.
 * @param {{ map: AtlasMap, role: AtlasRole | null, head: number }} props
 */
function Rule({ map, role, head }) {
  const texts = useAtlasTexts();
  const first = map.holds.first?.[head];
  return (
    <dl class="atlas-rule">
      <div>
        <dt>{texts.usually}</dt>
        <dd>{texts.roles[role ?? 'none']}</dd>
      </div>
      {role && (role !== 'nearby' ? map.holds[role] : map.near) && (
        <div>
          <dt>{texts.holds[role]}</dt>
          <dd>
            {role === 'nearby'
              ? percentText(shareOf(map, role, head))
              : texts.ofTime(percentText(shareOf(map, role, head)))}
          </dd>
        </div>
      )}
      {role !== 'first' && first !== undefined && (
        <div>
          <dt>{texts.onFirst}</dt>
          <dd>{texts.ofTime(percentText(first))}</dd>
        </div>
      )}
    </dl>
  );
}

/** @param {{ page: AtlasHead }} props */
function Distances({ page }) {
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

/** @param {{ look: string, title: string, tokens: TokenWeight[] }} props */
function Tokens({ look, title, tokens }) {
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
