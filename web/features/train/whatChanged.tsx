// The changes of a model that is fine-tuned: how probable the text has become, which heads attend differently, and
// which tokens are predicted differently.

import { RAMP } from '../../drawing/colourRamp.ts';
import type { HeadChanges, HeadPlace } from '../../model/protocol/protocol.ts';
import { useSession } from '../../store/context.ts';
import type { Theme } from '../../ui/palette.ts';
import { useKeyboardScroll } from '../../ui/useKeyboardScroll.ts';
import { byChange, figureOf, likelierFirst, perToken } from './changes.ts';
import { Chart } from './charts.tsx';
import { useTrainTexts } from './texts.ts';

/** Maximum number of heads and of tokens that are listed. */
const [HEADS, TOKENS] = [5, 4];
/** The rows and columns that an arrow key moves in the grid of heads, whose top row is the last layer. */
const ARROWS: Record<string, number[]> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [1, 0],
  ArrowDown: [-1, 0],
};

export function WhatChanged({ phone = false }: { phone?: boolean }) {
  const session = useSession();
  const texts = useTrainTexts();
  const scrolled = useKeyboardScroll();
  const changes = session.training.changes.value;
  const now = session.training.progress.value;
  if (!changes || !now) return <section class="charts" aria-label={texts.changed} />;
  const step = now.at ?? now.steps;
  return (
    <section class="charts changed" aria-label={texts.changed} ref={scrolled}>
      <h2 class="title">{texts.changed}</h2>
      <Likelihood changes={changes} />
      {!phone && <LossChart step={step} end={now.end} />}
      <p class="how">{texts.headsChanged}</p>
      <HeadGrid changes={changes} />
      {changes.step > 0 && <MostChanged changes={changes} />}
      {changes.step > 0 && <Tokens changes={changes} />}
    </section>
  );
}

/** Shows the mean probability of a token of the text, and its bits. */
function Likelihood({ changes: { step, loss, learned } }: { changes: HeadChanges }) {
  const texts = useTrainTexts();
  const rows = [
    { name: texts.learnedToken, losses: learned },
    { name: texts.heldOutToken, losses: loss },
  ].flatMap(({ name, losses }) => (losses ? [{ name, pair: losses.map(perToken) }] : []));
  return (
    <table class="likelihood">
      <thead>
        <tr>
          <td />
          <th scope="col">{texts.before}</th>
          <th scope="col">{texts.step(step)}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, pair: [before, after] }) => (
          <tr key={name} title={texts.bits(before.bits, after.bits)}>
            <th scope="row">{name}</th>
            <td>{texts.percent(before.likely)}</td>
            <td>{texts.percent(after.likely)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function LossChart({ step, end }: { step: number; end: number }) {
  const { training } = useSession();
  const texts = useTrainTexts();
  const [curves, before] = [training.curves.value, training.previousCurves.value];
  const loss = { name: texts.loss, marks: curves.loss, before: before?.loss, about: texts.lossAbout };
  return <Chart {...loss} step={step} end={end} noisy text={(x) => x.toFixed(2)} />;
}

function useShowHead() {
  const session = useSession();
  return ({ layer, head }: HeadPlace) => session.update({ layer, head, view: 'compare', versus: 'beside' });
}

/** All heads, with the last layer on top. One head is in the tab order, and arrow keys go to the others. */
function HeadGrid({ changes: { heads } }: { changes: HeadChanges }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTrainTexts();
  const show = useShowHead();
  const theme: Theme = session.theme.value;
  const { layer, head } = session.state.value;
  const walk = (event: KeyboardEvent) => {
    const [up, right] = ARROWS[event.key] ?? [0, 0];
    const next = { layer: layer + up, head: head + right };
    if (!(event.key in ARROWS) || heads[next.layer]?.[next.head] === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    show(next);
    const grid = event.currentTarget as HTMLElement;
    (grid.querySelector(`[data-head="${next.layer}.${next.head}"]`) as HTMLElement | null)?.focus();
  };
  return (
    <div
      class="head-changes"
      role="group"
      aria-label={texts.byLayer}
      style={{ '--heads': heads[0].length }}
      onKeyDown={walk}
    >
      <i style={{ gridRow: heads.length + 1 }}>{texts.headColumn}</i>
      {heads[0].map((_, h) => (
        <span key={`head ${h}`} style={{ gridRow: heads.length + 1, gridColumn: h + 2 }}>
          {h}
        </span>
      ))}
      {heads.flatMap((row, l) => [
        <i key={`layer ${l}`} style={{ gridRow: heads.length - l }}>
          {words.layer(l)}
        </i>,
        ...row.map((x, h) => (
          <button
            key={`${l}.${h}`}
            type="button"
            data-head={`${l}.${h}`}
            tabIndex={l === layer && h === head ? 0 : -1}
            aria-pressed={l === layer && h === head}
            aria-label={texts.headChanged(words.headInText(l, h), x)}
            class={RAMP[theme].isLight(x) ? 'dark' : 'pale'}
            style={{ gridRow: heads.length - l, background: RAMP[theme].css(x) }}
            onClick={() => show({ layer: l, head: h })}
          >
            {figureOf(x)}
          </button>
        )),
      ])}
    </div>
  );
}

function MostChanged({ changes: { heads } }: { changes: HeadChanges }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTrainTexts();
  const show = useShowHead();
  const roles = session.roles.value;
  const { layer, head } = session.state.value;
  const nameOf = (place: HeadPlace) => {
    const role = roles?.[place.layer]?.[place.head];
    return role ? words.roleNames[role as keyof typeof words.roleNames] : '';
  };
  return (
    <div>
      <h3>{texts.mostChanged}</h3>
      <ol class="most-changed">
        {byChange(heads)
          .slice(0, HEADS)
          .map((place) => (
            <li key={`${place.layer}.${place.head}`}>
              <button
                type="button"
                aria-pressed={place.layer === layer && place.head === head}
                onClick={() => show(place)}
              >
                <b>
                  {place.layer}.{place.head}
                </b>
                <span>{nameOf(place)}</span>
                <span class="value">{place.change.toFixed(2)}</span>
              </button>
            </li>
          ))}
      </ol>
    </div>
  );
}

function Tokens({ changes: { likely } }: { changes: HeadChanges }) {
  const session = useSession();
  const texts = useTrainTexts();
  const pieces = session.run.value?.pieces ?? [];
  return (
    <div>
      <h3>{texts.tokensChanged}</h3>
      <table class="token-changes">
        <tbody>
          {likelierFirst(likely)
            .slice(0, TOKENS)
            .map(({ t, before, now }) => (
              <tr key={t}>
                <th scope="row" lang="en">
                  {pieces[t]?.name}
                </th>
                <td>
                  {texts.percent(before)} → <b>{texts.percent(now)}</b>
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
