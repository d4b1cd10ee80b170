// The tokens of an input that cannot be edited, such as an image or the tokens of opened weights. Each token has a bar
// with its weight from the query token. If there are many tokens, only those around the query are shown, and the whole
// row as a strip.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { sized } from '../../drawing/paintWeights.ts';
import { shownWeights } from '../../model/meanOfHeads.ts';
import { excerptOf, type Piece } from '../../model/tokens.ts';
import { useColours } from '../../parts/useColours.ts';
import { useSession } from '../../store/context.ts';
import { gridOf } from '../../ui/layout.ts';
import { useSize } from '../../ui/useSize.ts';
import { Patches } from '../patches/feature.ts';
import { SoundTitle } from '../sound/feature.ts';

/** Maximum number of tokens that are shown without an excerpt around the query. */
const MAX_TOKENS = 30;

export function Row({ children }: { children: ComponentChildren }) {
  const session = useSession();
  const run = session.run.value;
  const cell = session.cell.value;
  if (!run?.T || !cell) return <section class="sentence" />;
  const { keys, S } = run;
  const weights = shownWeights(run, session.state.value.mean).subarray(cell.t * S, (cell.t + 1) * S);
  const ramp = useColours();
  const same = run.T === S && run.keys.every(({ name }: Piece, s: number) => name === run.pieces[s].name);
  // If the keys are tokens of another text than the queries, the excerpt is around the chosen key.
  const [from, to] = S <= MAX_TOKENS ? [0, S] : excerptOf(S, same ? cell.t : cell.s);
  if (run.image) {
    const { rows, columns } = gridOf(run);
    return (
      <section class="sentence fixed" aria-label={session.words.value.tokensIn}>
        {session.state.value.view !== 'heatmap' && <Patches />}
        <h2 class="title-line">{session.words.value.open.picture(rows, columns)}</h2>
        {children}
      </section>
    );
  }
  if (run.sound)
    return (
      <section class="sentence fixed" aria-label={session.words.value.tokensIn}>
        <SoundTitle />
        {children}
      </section>
    );
  // An excerpt is around the query, so it would move under the pointer if the pointer changed the query.
  const whole = to - from === S;
  const point = (s: number) => () => same && whole && session.setHover({ t: s, s: -1 });
  return (
    <section class="sentence fixed" aria-label={session.words.value.tokensIn}>
      <div class="row-words" onPointerLeave={() => session.setHover(null)}>
        <p>
          {from > 0 && '… '}
          {keys.slice(from, to).map(({ name }: Piece, i: number) => {
            const s = from + i;
            return (
              <span key={s}>
                <span
                  class={`piece ${same && s === cell.t ? 'is-query' : s === cell.s ? 'is-key' : ''}`}
                  style={{ '--bar': s > cell.t && run.about.causal ? 'transparent' : ramp.css(weights[s]) }}
                  onPointerEnter={point(s)}
                  onClick={() => same && session.look({ cell: { t: s, s: Math.min(cell.s, s) } })}
                >
                  {name}
                </span>{' '}
              </span>
            );
          })}
          {to < S && '…'}
        </p>
        {S > MAX_TOKENS && <Strip weights={weights} ramp={ramp} />}
      </div>
      {children}
      <p class="note">
        {session.words.value.note[0]}
        <br />
        <b class="query">{run.pieces[cell.t].name}</b> {session.words.value.note[1]}
      </p>
    </section>
  );
}

/** A whole row as a strip. Each pixel shows the largest of its weights. */
export function Strip({ weights, ramp }: { weights: ArrayLike<number>; ramp: { css: (weight: number) => string } }) {
  const canvas = useRef(null as HTMLCanvasElement | null);
  const box = useRef(null as HTMLDivElement | null);
  const { width, height } = useSize(box);
  useEffect(() => {
    if (width < 1 || !canvas.current) return;
    const context = sized(canvas.current, width, height);
    for (let x = 0; x < width; x++) {
      const [from, to] = [x, x + 1].map((at) => Math.floor((at * weights.length) / width));
      let max = weights[from];
      for (let s = from; s < Math.max(to, from + 1); s++) max = Math.max(max, weights[s]);
      context.fillStyle = ramp.css(max);
      context.fillRect(x, 0, 1, height);
    }
  }, [weights, width, height, ramp]);
  return (
    <div class="row-strip" ref={box}>
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}
