// The reading column of the view Text: the token that is read, the other predictions at its position, and the numbers
// of the whole text.

import { percentText, plain } from '../../model/numbers.ts';
import type { SurprisedToken } from '../../model/protocol/surpriseProtocol.ts';
import { endOf, shown } from '../../model/tokens.ts';
import { isOpen } from '../../model/training/settings.ts';
import { useSession } from '../../store/context.ts';
import type { Measured } from '../../store/measured/surprise.ts';
import { Track } from '../../ui/track.tsx';
import { useKeyboardScroll } from '../../ui/useKeyboardScroll.ts';
import { Reading } from '../reading/feature.ts';
import { changeOf, largestCosts, summaryOf } from './measured.ts';
import { chooseToken, otherName, textsIn, tokenIn } from './textState.ts';

/** Maximum number of tokens in the list of the largest differences. */
const MAX_COSTS = 4;

export function TextPanel({ compact = false, title = true }: { compact?: boolean; title?: boolean }) {
  const session = useSession();
  const own = textsIn(session);
  const measured = session.surprise.measured.value;
  const scrolled = useKeyboardScroll();
  if (isOpen(session.state.value)) return <Reading compact={compact} title={title} />;
  if (!measured || measured.pieces.length === 0) return <section class="reading surprise" />;
  const t = tokenIn(session, measured);
  const token = measured.now[t];
  return (
    <section class="reading surprise" aria-label={own.reading} ref={scrolled}>
      <TokenTitle measured={measured} t={t} />
      {token && <Guesses token={token} other={measured.other[t]} name={otherName(session, measured)} />}
      <Largest measured={measured} />
      <Whole measured={measured} />
    </section>
  );
}

function TokenTitle({ measured, t }: { measured: Measured; t: number }) {
  const own = textsIn(useSession());
  const { pieces, now, silent, masked } = measured;
  const token = now[t];
  const name = (
    <i lang="en" class="read-name">
      {pieces[t].name}
    </i>
  );
  if (!token)
    return (
      <>
        <h2 class="title" tabIndex={-1}>
          {name}
        </h2>
        <p class="how">{!silent.includes(t) ? own.notYet : masked ? own.notMasked : own.nothingBefore}</p>
      </>
    );
  const [before, after] = masked ? own.filled : own.gave;
  return (
    <>
      <h2 class="title" tabIndex={-1}>
        {before as string}
        {name}
        {(after as (percent: string) => string)(percentText(token.probability))}
      </h2>
      <p class="how">
        {masked ? (
          own.maskedAbout
        ) : (
          <>
            {own.after}
            <i lang="en">… {endOf(pieces.slice(0, t))}</i>
          </>
        )}
      </p>
    </>
  );
}

function Guesses({ token, other, name }: { token: SurprisedToken; other: SurprisedToken | undefined; name: string }) {
  const own = textsIn(useSession());
  const before = new Map(other?.guesses.map(({ id, now }) => [id, now]));
  return (
    <div class="surprise-guesses">
      <h3>{own.guesses}</h3>
      <ul>
        {token.guesses.map(({ id, text, now }) => {
          const was = before.get(id);
          return (
            <li key={id} class={id === token.id ? 'here' : ''}>
              <span class="guessed" lang="en">
                {shown(text).trim() || '␣'}
              </span>
              <Track now={now} before={was} />
              <b>{percentText(now)}</b>
            </li>
          );
        })}
      </ul>
      {other && (
        <p class="how">
          <span class="mark" />
          {name}
        </p>
      )}
    </div>
  );
}

/** Lists the tokens at which the other case differs most. */
function Largest({ measured }: { measured: Measured }) {
  const session = useSession();
  const own = textsIn(session);
  const { pieces, kind } = measured;
  const places = largestCosts(measured, { count: MAX_COSTS, both: kind !== 'without' });
  if (places.length === 0) return null;
  return (
    <div class="surprise-costs">
      <h3>{kind === 'without' ? own.helps : own.different}</h3>
      <ul>
        {places.map((t) => (
          <li key={t}>
            <button type="button" onClick={() => chooseToken(session, t)}>
              <i lang="en">
                {pieces[t - 1]?.name} <b>{pieces[t].name}</b>
              </i>
              <span>{changeText(own, changeOf(measured, t))}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

const changeText = (own: ReturnType<typeof textsIn>, bits: number) =>
  bits < 0 ? own.easier(plain(-bits, 1)) : own.harder(plain(bits, 1));

/** The numbers of the whole text before and after a change; the other case without a head is the one after. */
function Whole({ measured }: { measured: Measured }) {
  const session = useSession();
  const own = textsIn(session);
  const { count, now, other, dearer } = summaryOf(measured);
  if (count === 0) return null;
  const bits = [now, other].map((of) => of && plain(of.bits, 1));
  const first = [now, other].map((of) => of && `${Math.round(100 * of.first)}%`);
  const name = otherName(session, measured);
  const isFirst = measured.kind === 'without' || !other;
  const inOrder = (both: (string | null)[]) => (isFirst ? both : [...both].reverse());
  return (
    <div class="surprise-whole">
      <h3>{own.whole}</h3>
      {other && <p class="how">{own.order(...(inOrder([own.now, name]) as [string, string]))}</p>}
      <dl>
        <Both name={own.bits} values={inOrder(bits)} bold={isFirst ? 0 : 1} />
        <Both name={own.first} values={inOrder(first)} bold={isFirst ? 0 : 1} />
        {other && (
          <div>
            <dt>{own.dearer}</dt>
            <dd>
              <b>{dearer}</b>
              {own.of(count)}
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** One or two values with an arrow between them. The value of the current run is bold. */
const Both = ({ name, values, bold }: { name: string; values: (string | null)[]; bold: number }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {values.map(
        (value, i) =>
          value !== null && (
            <span key={i}>
              {i > 0 && ' → '}
              {i === bold ? <b>{value}</b> : value}
            </span>
          ),
      )}
    </dd>
  </div>
);
