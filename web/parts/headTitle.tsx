// The title of a picture: the name of the head, its role and its scores, in the empty half of the picture or above it.
// heatmap.css positions the title by the custom properties of `geometryOf`, and hides the parts for which a narrow
// picture has no room.

import type { ComponentChildren } from 'preact';
import type { Picture, Run } from '../drawing/types.ts';
import { effective, placeOfLayer, replacementOf, shownPart } from '../model/modelEdits.ts';
import { weightText } from '../model/numbers.ts';
import { attendsToFirst, findsNothing, highestScores, type RoleName } from '../model/roles.ts';
import { canShow } from '../model/viewRules.ts';
import { useSession } from '../store/context.ts';
import { measuredText, roleName, roleWeightText } from '../store/shownRoles.ts';
import type { Strings } from '../texts/languages.ts';
import { px } from '../ui/px.ts';
import { HeadSwitch } from './headSwitch.tsx';

export type Titled = Partial<Picture> & Pick<Picture, 'run' | 'above' | 'x' | 'y' | 'matrixWidth'>;

/** Returns the geometry of a picture as custom properties. */
const geometryOf = ({ x, y, top = 0, matrixWidth, matrixHeight = matrixWidth, widthFromX = 0 }: Titled) =>
  px({
    '--x': x,
    '--y': y,
    '--title-height': top,
    '--matrix-width': matrixWidth,
    '--matrix-height': matrixHeight,
    '--width-from-x': widthFromX,
  });

/** The box that holds a title. It is as wide as the matrix. */
export function TitleArea({
  picture,
  className,
  children,
}: {
  picture: Titled;
  className: string;
  children: ComponentChildren;
}) {
  return (
    <div class="title-area" style={geometryOf(picture)}>
      <div class={`corner ${picture.above ? 'above' : ''} ${className}`}>{children}</div>
    </div>
  );
}

export function HeadTitle({ picture, compact }: { picture: Titled; compact: boolean }) {
  const { run, stacked = false } = picture;
  const session = useSession();
  const words = session.words.value;
  const state = session.shownState.value;
  const { layer, head } = run;
  const isOneHead = state.mean === 'head';
  const scale = effective(state.scale, placeOfLayer(session, layer), head, 1);
  return (
    <TitleArea picture={picture} className={`${stacked ? 'few' : ''} ${compact ? 'compact' : ''}`}>
      <Name run={run} scale={scale} scores={isOneHead ? run.scores?.[layer]?.[head] : undefined} />
      <p class="role-text">
        {isOneHead ? <Role run={run} scale={scale} /> : words.means[`${state.mean}About` as 'allAbout']}
      </p>
      {scale !== 0 && <UnmatchedText picture={picture} />}
      {!compact && !picture.above && <ReadAlong picture={picture} />}
    </TitleArea>
  );
}

/** The name of the head, with its switch. The scores of the head are shown while the pointer is over the name. */
function Name({
  run: { about, layer, head },
  scale,
  scores,
}: {
  run: Run;
  scale: number;
  scores?: Record<string, number>;
}) {
  const session = useSession();
  const words = session.words.value;
  const { mean } = session.shownState.value;
  const isOneHead = mean === 'head';
  const isOnlyHead = about.layers * about.heads === 1;
  const name = !isOneHead ? words.means.title(mean, layer) : isOnlyHead ? about.title : words.headName(layer, head);
  if (!name) return null;
  return (
    <h2>
      <span class="head-name" title={scores && scoresText(words, scores)}>
        {name}
        {!isOneHead || scale === 1 ? '' : scale === 0 ? ` ${words.isOff}` : ` ${words.isPart(scale)}`}
      </span>
      {isOneHead && about.edits && <HeadSwitch />}
    </h2>
  );
}

/** Says what the head does; if it finds nothing in this text, opens the atlas. `scale`: factor on the head's output. */
function Role({ run, scale }: { run: Run; scale: number }) {
  const session = useSession();
  const words = session.words.value;
  const { about, layer, head } = run;
  const role = session.roles.value?.[layer]?.[head] ?? null;
  // The last layer of an encoder is not the last layer of the model, because the decoder follows.
  const isLast = layer === about.layers - 1 && shownPart(about, session.state.value) !== 'encoder';
  if (scale === 0) return <>{words.offMeans[replacementOf(about, session.shownState.value)](isLast)}</>;
  if (role && findsNothing(role, run)) {
    const usual = words.usually(roleName(session, role));
    // An embedded instrument has no atlas to open.
    if (session.embedded || !canShow('atlas', run)) return <>{usual}</>;
    return (
      <button type="button" class="word usual" onClick={() => session.update({ view: 'atlas' })}>
        {usual}
      </button>
    );
  }
  const ownWords = session.about.value?.terms?.[session.language.value];
  if (role) {
    const given = roleWeightText(session, layer, head);
    return (
      <>
        {words.does[role as RoleName] ?? ownWords?.[role][1]}
        {given && (
          <span class="role-weight" title={measuredText(session)}>
            {given}
          </span>
        )}
      </>
    );
  }
  // The roles of all heads arrive later than the picture, so nothing is shown before.
  return <>{session.roles.value !== null && words.doesNot}</>;
}

/** Maximum number of tokens of a picture whose empty half has room for a sentence about rows. */
const MAX_EXPLAINED = 24;

/** Explains how a picture is read, while the pointer is on it. */
function ReadAlong({ picture: { run, full = false } }: { picture: Titled }) {
  const session = useSession();
  const t = session.cell.value?.t ?? run.T - 1;
  if (session.hover.value === null || run.T > MAX_EXPLAINED || t >= run.T) return null;
  return <p class="read-along">{session.words.value.readAlong(run.pieces[t].name, full)}</p>;
}

/** Says which keys the rows without a match look at instead. */
function UnmatchedText({ picture: { run, weights, keys, unmatchedRows = [] } }: { picture: Titled }) {
  const session = useSession();
  const words = session.words.value;
  const role = session.roles.value?.[run.layer]?.[run.head];
  if (!weights || !keys || unmatchedRows.length === 0 || findsNothing(role, run)) return null;
  const isFirst = attendsToFirst(weights, run.T, unmatchedRows);
  return (
    <p class="rests">
      <span class="nothing-mark" aria-hidden="true" />
      {words.noMatch}
      {isFirst && (
        <>
          {words.looksMostly}
          <i lang="en">{keys[0]}</i>
        </>
      )}
    </p>
  );
}

const scoresText = (words: Strings, scores: Record<string, number>) =>
  [
    words.scoresTitle,
    ...highestScores(scores).map(([kind, score]) => `${words.roleNames[kind as RoleName]} ${weightText(score)}`),
  ].join('\n');
