// The head's name, what it does and its scores, in the empty corner of the picture.

import { writeAddress } from '../../store/state.js';
import { px, useSession, weightText } from '../../ui/context.js';
import { attendsToFirst, findsNothing, told } from '../heads/roles.js';
import { goTo } from '../story/goTo.js';
import { effective } from '../whatif/edits.js';

/** A name above a narrow picture reaches beyond it, as far as there is room. */
const ABOVE = 460;
/** A picture with room for what pale rows are. */
const EXPLAINED = 330;
/** What has room under the name: what the head does, the way into the story, how the picture is read. */
const [TOLD, LED, ROOMY] = [230, 250, 560];

/** top: the room above the cells, where the name stands above; room: from the first column to the page's next. */
export function Corner({ picture, compact }) {
  const { run, above, stacked = false, y, x, side, wide = side, top: taken = 0, room = 0 } = picture;
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const { layer, head } = run;
  const scale = effective(state.scale, layer, head, 1);
  const trade = session.roles.value?.[layer]?.[head];
  // The names of heads come after the picture.
  const known = session.roles.value !== null;
  const scores = told(run.scores?.[layer]?.[head] ?? {});
  const { about } = run;
  const { nothing = [] } = picture;
  const idle = findsNothing(trade, run);
  const { mean } = state;
  const one = mean === 'head';
  const single = about.layers * about.heads === 1;
  const name = !one ? words.means.title(mean, layer) : single ? about.title : words.headName(layer, head);
  // The room above the stairs: half of the side, and what is free above the matrix.
  const top = Math.max(y - (above ? taken : 60), 0);
  const bare = !above && side < TOLD;
  const across = above ? Math.max(wide, Math.min(room, ABOVE)) : side;
  return (
    <div
      class={`corner ${above ? 'above' : ''} ${stacked ? 'few' : ''}`}
      style={px({
        left: above ? x : undefined,
        top,
        width: above ? undefined : 0.66 * side,
        right: `calc(100% - ${x + across}px)`,
      })}
    >
      {name && (
        <h2>
          {name}
          {!one ? '' : scale === 0 ? ` ${words.isOff}` : scale !== 1 ? ` ${words.isPart(scale)}` : ''}
        </h2>
      )}
      <p hidden={bare}>
        {!one
          ? words.means[`${mean}About`]
          : scale === 0
            ? words.offMeans(layer === about.layers - 1)
            : idle
              ? words.usually(words.trades[trade])
              : trade
                ? (words.does[trade] ?? session.about.value.terms?.[session.language.value][trade][1])
                : known && words.doesNot}
      </p>
      {nothing.length > 0 && !idle && (above || side >= EXPLAINED) && scale !== 0 && (
        <p class="rests">
          {words.nothingFound[attendsToFirst(picture.weights, run.T, nothing) ? 'first' : 'elsewhere']}
        </p>
      )}
      {one && !compact && !above && scale !== 0 && (
        <dl title={words.scoresTitle}>
          {scores.map(([kind, score]) => (
            <div key={kind}>
              <dt>{words.trades[kind]}</dt>
              <dd>{weightText(score)}</dd>
            </div>
          ))}
        </dl>
      )}
      {!above && side >= LED && <Begin roomy={side >= ROOMY && !compact} />}
    </div>
  );
}

/** To whoever has just come and has done nothing yet: how the picture is read, and the way into the story. */
function Begin({ roomy }) {
  const session = useSession();
  const { begin } = session.words.value;
  const touched = writeAddress(session.state.value) !== '' || Object.keys(session.storyLog.value).length > 0;
  if (session.embedded || !session.models.includes('whale') || touched) return null;
  return (
    <div class="begin">
      {roomy && <p>{begin.read}</p>}
      <button type="button" class="word strong" onClick={() => goTo(session, 0)}>
        {roomy ? begin.story : begin.short}
      </button>
    </div>
  );
}
