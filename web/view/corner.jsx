// The head's name, what it does and its scores, in the empty corner of the picture.

import { told } from '../model/trades.js';
import { effective } from '../model/whatif.js';
import { px, useSession, weightText } from './context.js';

export function Corner({ picture: { run, full, y, x, side }, compact }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const { layer, head } = run;
  const scale = effective(state.scale, layer, head, 1);
  const trade = session.trades.value?.[layer]?.[head];
  // The names of heads come after the picture.
  const known = session.trades.value !== null;
  const scores = told(run.scores?.[layer]?.[head] ?? {});
  const { about } = run;
  const name = about.layers * about.heads === 1 ? about.title : words.headName(layer, head);
  // The room above the stairs: half of the side, and what is free above the matrix.
  const top = full ? 0 : Math.max(y - 60, 0);
  return (
    <div
      class={`corner ${full ? 'above' : ''}`}
      style={px({
        left: full ? x : undefined,
        top,
        width: full ? undefined : 0.66 * side,
        right: `calc(100% - ${x + side}px)`,
      })}
    >
      {name && (
        <h2>
          {name}
          {scale === 0 ? ` ${words.isOff}` : scale !== 1 ? ` ${words.isPart(scale)}` : ''}
        </h2>
      )}
      <p>
        {scale === 0
          ? words.offMeans
          : trade
            ? (words.does[trade] ?? session.about.value.terms?.[session.language.value][trade][1])
            : known && words.doesNot}
      </p>
      {!compact && !full && scale !== 0 && (
        <dl title={words.scoresTitle}>
          {scores.map(([kind, score]) => (
            <div key={kind}>
              <dt>{words.trades[kind]}</dt>
              <dd>{weightText(score)}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
