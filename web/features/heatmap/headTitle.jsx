// The title of a picture: the head's name, its role and its scores, in the empty half or above. heatmap.css positions
// it by the custom properties of `geometryOf`, and hides the parts that a narrow picture has no room for.

import { writeAddress } from '../../store/state.js';
import { weightText } from '../../texts/numbers.js';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { attendsToFirst, findsNothing, highestScores, roleName } from '../heads/roles.js';
import { goTo } from '../story/goTo.js';
import { effective } from '../whatif/modelEdits.js';

/** @import { Session } from '../../store/session.js' */
/** @import { RoleName } from '../heads/roles.js' */
/** @import { ComponentChildren } from 'preact' */
/** @import { Picture, Run } from './types.js' */

/**
 * The geometry that the title needs.
 * @typedef {Partial<Picture> & Pick<Picture, 'run' | 'above' | 'x' | 'y' | 'matrixWidth'>} Titled
 */

/** The geometry of a picture as custom properties. @param {Titled} picture */
const geometryOf = ({ x, y, top = 0, matrixWidth, matrixHeight = matrixWidth, widthFromX = 0 }) =>
  px({
    '--x': x,
    '--y': y,
    '--title-height': top,
    '--matrix-width': matrixWidth,
    '--matrix-height': matrixHeight,
    '--width-from-x': widthFromX,
  });

/**
 * The box as wide as the matrix that holds a title.
 * @param {{ picture: Titled, className: string, children: ComponentChildren }} props
 */
export function TitleArea({ picture, className, children }) {
  return (
    <div class="title-area" style={geometryOf(picture)}>
      <div class={`corner ${picture.above ? 'above' : ''} ${className}`}>{children}</div>
    </div>
  );
}

/** @param {{ picture: Titled, compact: boolean }} props */
export function HeadTitle({ picture, compact }) {
  const { run, above, stacked = false } = picture;
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const { layer, head } = run;
  const isOneHead = state.mean === 'head';
  const scale = effective(state.scale, layer, head, 1);
  const hasScores = isOneHead && scale !== 0 && !above && !compact;
  return (
    <TitleArea picture={picture} className={`${stacked ? 'few' : ''} ${compact ? 'compact' : ''}`}>
      <Name run={run} scale={scale} />
      <p class="role-text">
        {isOneHead ? roleText(session, run, scale) : words.means[/** @type {'allAbout'} */ (`${state.mean}About`)]}
      </p>
      {scale !== 0 && <UnmatchedText picture={picture} />}
      {hasScores && <Scores scores={run.scores?.[layer]?.[head] ?? {}} />}
      {!above && <Begin />}
    </TitleArea>
  );
}

/** @param {{ run: Run, scale: number }} props */
function Name({ run: { about, layer, head }, scale }) {
  const session = useSession();
  const words = session.words.value;
  const { mean } = session.state.value;
  const isOneHead = mean === 'head';
  const isOnlyHead = about.layers * about.heads === 1;
  const name = !isOneHead ? words.means.title(mean, layer) : isOnlyHead ? about.title : words.headName(layer, head);
  if (!name) return null;
  return (
    <h2>
      {name}
      {!isOneHead || scale === 1 ? '' : scale === 0 ? ` ${words.isOff}` : ` ${words.isPart(scale)}`}
    </h2>
  );
}

/** @param {Session} session @param {Run} run @param {number} scale of the head's output */
function roleText(session, run, scale) {
  const words = session.words.value;
  const { about, layer, head } = run;
  const role = session.roles.value?.[layer]?.[head] ?? null;
  if (scale === 0) return words.offMeans(layer === about.layers - 1);
  if (role && findsNothing(role, run)) return words.usually(roleName(session, role));
  if (role)
    return words.does[/** @type {RoleName} */ (role)] ?? session.about.value?.terms?.[session.language.value][role][1];
  // The roles of all heads arrive after the picture.
  return session.roles.value !== null && words.doesNot;
}

/** The keys that the pale rows attend to instead. @param {{ picture: Titled }} props */
function UnmatchedText({ picture: { run, weights, unmatchedRows = [] } }) {
  const session = useSession();
  const words = session.words.value;
  const role = session.roles.value?.[run.layer]?.[run.head];
  if (!weights || unmatchedRows.length === 0 || findsNothing(role, run)) return null;
  return (
    <p class="rests">{words.nothingFound[attendsToFirst(weights, run.T, unmatchedRows) ? 'first' : 'elsewhere']}</p>
  );
}

/** @param {{ scores: Record<string, number> }} props */
function Scores({ scores }) {
  const words = useSession().words.value;
  return (
    <dl title={words.scoresTitle}>
      {highestScores(scores).map(([kind, score]) => (
        <div key={kind}>
          <dt>{words.roleNames[/** @type {RoleName} */ (kind)]}</dt>
          <dd>{weightText(score)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** For a first visit, until something is changed: how the picture is read, and a button that opens the story. */
function Begin() {
  const session = useSession();
  const { begin } = session.words.value;
  const touched = writeAddress(session.state.value) !== '' || Object.keys(session.storyLog.value).length > 0;
  if (session.embedded || !session.models.includes('whale') || touched) return null;
  return (
    <div class="begin">
      <p class="in-wide">{begin.read}</p>
      <button type="button" class="word strong" onClick={() => goTo(session, 0)}>
        <span class="in-wide">{begin.story}</span>
        <span class="in-narrow">{begin.short}</span>
      </button>
    </div>
  );
}
