// The comparison of two sentences by a sentence encoder: their cosine, in place of the predictions, and the share of
// each token in the cosine.

import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useState } from 'preact/hooks';
import { isCompared } from '../../model/modelEdits.ts';
import { plain } from '../../model/numbers.ts';
import type { SimilarTokens } from '../../model/protocol/protocol.ts';
import { shown } from '../../model/tokens.ts';
import { useSession, useTexts } from '../../store/context.ts';
import { Track } from '../../ui/track.tsx';
import { similarity as en } from './similarity.en.ts';
import { similarity as zh } from './similarity.zh.ts';

export { default as styles } from './similarity.css';

export type Place = { side: 0 | 1; token: number };

const TEXTS = { en, zh };

/** The comparison, for a model that compares two sentences. */
export function Similarity() {
  const session = useSession();
  const own = useTexts(TEXTS);
  const { layer, head } = session.state.value;
  const { compares = null } = session.run.value?.about ?? {};
  const compared = session.similarity.value;
  const words = session.words.value;
  const other = compared && isCompared(compared, session.switchHover.value) ? compared : null;
  return (
    <TwoSentences cosine={compared?.cosine} before={other?.other}>
      {other && (
        <p class="other">
          <span class="mark" />
          {other.kind === 'without' ? words.other_without(words.headInText(layer, head)) : words[`other_${other.kind}`]}
        </p>
      )}
      {compared?.tokens && (
        <Shares key={compared.tokens.names.join()} tokens={compared.tokens} whole={compared.cosine} />
      )}
      {compares !== null && compares !== 'mean' && <p>{own[compares]}</p>}
    </TwoSentences>
  );
}

export function TwoSentences({
  cosine,
  before = null,
  children,
}: {
  cosine?: number | null;
  /** cosine in the other case */
  before?: number | null;
  children?: ComponentChildren;
}) {
  const session = useSession();
  const own = useTexts(TEXTS);
  const isKnown = typeof cosine === 'number' && Number.isFinite(cosine);
  return (
    <section class={`prediction about ${before === null ? '' : 'compared'}`} role="group" aria-label={own.title}>
      <h2>
        <b>{own.title}</b>
      </h2>
      <input
        class="second"
        aria-label={own.second}
        placeholder={own.second}
        value={session.state.value.second}
        onInput={(event) => session.update({ second: event.currentTarget.value, cell: null }, 'second')}
        onBlur={session.endGesture}
        onKeyDown={(event) => event.stopPropagation()}
      />
      <p class="likeness" title={own.about}>
        {isKnown ? (
          <Track now={Math.max(cosine, 0)} before={before === null ? null : Math.max(before, 0)} />
        ) : (
          <span class="track" />
        )}
        <b data-name="likeness">{isKnown ? plain(cosine) : ''}</b>
      </p>
      {children ?? <p>{own.about}</p>}
    </section>
  );
}

/** The tokens of both sentences with bars; while one is chosen, the other sentence shows the shares of its pairs. */
function Shares({ tokens, whole }: { tokens: SimilarTokens; whole: number }) {
  const own = useTexts(TEXTS);
  const [chosen, choose] = useState(null as Place | null);
  const most = Math.max(...tokens.first.map(Math.abs), ...tokens.second.map(Math.abs), 1e-9);
  const rows = ([0, 1] as const).map((side) => ({ side, ...sharesOf(tokens, side, chosen) }));
  const share = chosen && tokens[chosen.side === 0 ? 'first' : 'second'][chosen.token];
  return (
    <>
      <p class="share-note">
        {chosen && share !== null
          ? own.share(nameOf(tokens.names[chosen.side][chosen.token]), plain(share, 3), plain(whole))
          : own.sharesAbout}
      </p>
      <div class="shares" role="group" aria-label={own.shares} onPointerLeave={() => choose(null)}>
        {rows.map(({ side, shares, isPairs }) => (
          <TokenShares
            key={side}
            names={tokens.names[side]}
            shares={shares}
            most={isPairs ? Math.max(...shares.map(Math.abs), 1e-9) : most}
            label={(name, value) => own.share(name, plain(value, 3), plain(whole))}
            chosen={chosen?.side === side ? chosen.token : null}
            choose={(token) => choose(token === null ? null : { side, token })}
          />
        ))}
      </div>
    </>
  );
}

const nameOf = (token: string) => shown(token).trim() || '␣';

/** Returns the shares of one sentence or, while a token of the other is chosen, of the pairs with that token. */
function sharesOf({ first, second, pairs }: SimilarTokens, side: 0 | 1, chosen: Place | null) {
  if (!chosen || chosen.side === side) return { shares: [...(side === 0 ? first : second)], isPairs: false };
  const columns = second.length;
  const shares =
    side === 1
      ? [...pairs.subarray(chosen.token * columns, (chosen.token + 1) * columns)]
      : Array.from(first, (_, t) => pairs[t * columns + chosen.token]);
  return { shares, isPairs: true };
}

/** The number of tokens that an arrow key moves. */
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

function TokenShares({
  names,
  shares,
  most,
  label,
  chosen,
  choose,
}: {
  names: string[];
  shares: number[];
  /** share of the longest bar */
  most: number;
  label: (name: string, share: number) => string;
  chosen: number | null;
  choose: (token: number | null) => void;
}) {
  const walk = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const next = (chosen ?? 0) + STEPS[event.key];
    if (!(next >= 0 && next < names.length)) return;
    event.preventDefault();
    event.stopPropagation();
    (event.currentTarget.children[next] as HTMLElement).focus();
  };
  return (
    <div class="share-row" role="group" onKeyDown={walk}>
      {names.map((name, token) => (
        <button
          key={token}
          type="button"
          class={`share ${shares[token] < 0 ? 'negative' : ''}`}
          tabIndex={token === (chosen ?? 0) ? 0 : -1}
          aria-label={label(nameOf(name), shares[token])}
          aria-pressed={chosen === token}
          onPointerEnter={() => choose(token)}
          onFocus={() => choose(token)}
          onBlur={() => choose(null)}
        >
          <span>{nameOf(name)}</span>
          <i style={{ '--share': Math.abs(shares[token]) / most }} />
        </button>
      ))}
    </div>
  );
}
