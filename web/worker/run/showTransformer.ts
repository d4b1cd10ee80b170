// Sends the answer to `show` for a transformer: the run, the comparison, the pinned run and the roles of the heads.

import { effective, isOff, layerPlace, otherCase, replacementOf, shownPart } from '../../model/modelEdits.ts';
import type { PatchOptions, Run, ShownRun, State } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import { hasTrial } from '../../model/trial.ts';
import type { Hl, TransformerSource } from '../sources/types.ts';
import type { Reply, WorkerContext } from '../types.ts';
import { describe } from './describeRun.ts';
import { createPause, fitting } from './longRuns.ts';
import { type Read, readRun } from './modelInput.ts';
import { labelNames, likeliest, probabilities, rowOf } from './predictions.ts';
import { patchPartners } from './runCache.ts';
import type { Values } from './runModel.ts';
export type ChosenHead = ReturnType<typeof chosenHead>;
export type ValuesOf = (run: Run) => Values;

export async function showTransformer(
  hl: Hl,
  source: TransformerSource,
  state: State,
  reply: Reply,
  worker: Pick<WorkerContext, 'runs' | 'roles'>,
) {
  const { about } = source;
  const chosen = chosenHead(source, state);
  const { part, layers, heads, layer, head } = chosen;
  const causal = part !== 'encoder' && part !== 'cross' && about.causal;
  reply.send('source', { about: { ...about, layers, heads, causal, sums: about.sums && part !== 'encoder' } });
  const read = readRun(source, state, part);
  const shared = inputFields(source, state, read, chosen);
  if (read.ids.length === 0) {
    reply.send('run', { ...shared, weights: new Float32Array(0) });
    return source.towers && sendMatches(hl, source, state, chosen, null, reply, worker);
  }
  if (await reply.checkCancelled()) return;
  const how = { layer, pinned: state.pinned, part };
  const valuesOf: ValuesOf = (run) => worker.runs.values(hl, source, run, how);
  const compute = (run: Run, head: number | undefined = undefined) =>
    fitting(hl, source, { tokens: read.ids.length, changed: changesScores(run) }, () =>
      worker.runs.compute(hl, source, run, { ...how, head }, createPause(reply, read.ids.length)),
    );
  const now = hasTrial(state) ? await trialOf() : await compute(runOf(state), chosen.head);
  const other = otherCaseOf(source, state, chosen, now, valuesOf);
  const computeOther = async () => {
    if (readRun(source, other.run, part).ids.length > 0) await compute(other.run);
  };
  async function trialOf() {
    const { trialRun } = await import('./trialRun.ts');
    const [run, { pinned }] = [runOf(state), state];
    const edits = worker.runs.edits(hl, source, run, { layer, pinned, T: read.ids.length });
    const before = (at: number) => worker.runs.values(hl, source, run, { layer: at, pinned });
    return trialRun(hl, source, state, { layer, edits, before });
  }
  // The label that was the likeliest before a change stays chosen and listed, even if it is unlikely after the change.
  const isFollowed = read.place !== null && (other.kind === 'pinned' || (about.edits && other.kind !== 'without'));
  if (isFollowed) await computeOther();
  const before = isFollowed ? other.probabilities() : null;
  const { likely, top, name, named, fields } = describeNow(source, state, chosen, read, now, {
    kind: other.kind,
    first: before && likeliest(before, 1)[0],
  });
  const letters = source.sound && { letters: (await import('../sound/speech.ts')).lettersOf(source, now) };
  const run = { ...shared, ...letters, ...fields };
  const shown =
    state.units === 'words' && !run.large
      ? (await import('./joinWords.ts')).joinWords(run, state, { layers, heads })
      : run;
  const isOfText = about.reads !== 'picture' && (part === 'decoder' || part === 'text');
  // The roles of a model that hears are those on its own words, because random passages would need a sound. All other
  // roles do not depend on the run and follow it.
  const none = { roles: null, weights: null };
  const runRoles = !isOfText ? none : source.sound ? (named ?? none) : null;
  // Only the arrays of a long run are not kept.
  const sent = [shown.weights, ...(now.inside && shown.values ? [shown.values.scores] : [])];
  const { pictures } = now;
  reply.send(
    'run',
    { ...shown, ...(pictures && { pictures }), ...(runRoles && { roles: runRoles }) },
    sent.map(({ buffer }) => buffer) as ArrayBuffer[],
  );
  if (await reply.checkCancelled()) return;
  if (likely && (about.edits || other.kind === 'pinned')) {
    if (!before) await computeOther();
    const row = before ?? other.probabilities();
    if (row)
      reply.send('comparison', {
        kind: other.kind,
        top: top.map((id) => row[id]),
        likeliest: name(likeliest(row, 1)[0]),
      });
    if (await reply.checkCancelled()) return;
  }
  if (source.towers) {
    await sendMatches(hl, source, state, chosen, now, reply, worker);
    if (await reply.checkCancelled()) return;
  } else if (about.compares && state.second) {
    const { similarityOf } = await import('./similarity.ts');
    reply.send('similarity', { similarity: similarityOf(source, runOf(state), other, valuesOf) });
    if (await reply.checkCancelled()) return;
  } else if (!likely && about.edits) {
    await computeOther();
    await sendAngles(source, state, now, other, reply);
    if (await reply.checkCancelled()) return;
  }
  if (state.pinned && state.view === 'compare') {
    const values = await compute(state.pinned, head);
    await sendPinnedHead(source, state.pinned, chosen, values, fields.chosen?.id ?? null, reply);
    if (await reply.checkCancelled()) return;
  }
  if (runRoles) return;
  const roles = await worker.roles.of(hl, source, reply);
  if (roles) reply.send('roles', roles);
}

const changesScores = ({ temperature, mask, painted = {} }: Run) =>
  [temperature, mask, painted].some((map) => Object.keys(map).length > 0);

export function chosenHead({ about, model: { options } }: TransformerSource, state: State) {
  const part = shownPart(about, state);
  const { layers, numHeads: heads } = part === 'encoder' && options.encoder ? options.encoder : options;
  const layer = Math.min(state.layer, layers - 1);
  return { part, layers, heads, layer, place: layerPlace(part, layer), head: Math.min(state.head, heads - 1) };
}

function inputFields(
  source: TransformerSource,
  state: State,
  { pieces, keys, cut, place }: Read,
  { part, layer, head }: ChosenHead,
): Omit<ShownRun, 'weights'> {
  const { about, model, pixels } = source;
  const picture = about.reads === 'picture' && {
    image: pixels?.fine ?? pixels?.image,
    patch: model.options.patch as PatchOptions,
  };
  return {
    ...picture,
    ...partnersFor(source, state, part),
    pieces,
    keys,
    cut,
    place,
    T: pieces.length,
    S: keys?.length,
    layer,
    head,
    ...source.sound?.shown(part),
  };
}

const partnersFor = (source: TransformerSource, state: State, part: string) =>
  state.pinned && source.about.edits && Object.keys(state.patch).length > 0
    ? { partners: patchPartners(source, runOf(state), state.pinned, part) }
    : {};

function otherCaseOf(
  source: TransformerSource,
  state: State,
  { part, layer, place, head }: ChosenHead,
  now: Values,
  valuesOf: ValuesOf,
) {
  const { kind, run } = hasTrial(state)
    ? { kind: 'before' as const, run: runOf(state) }
    : otherCase({ ...state, layer, head }, place);
  return {
    kind,
    run,
    values: () => valuesOf(run),
    /** Computes the probabilities in the other run; null if the model predicts nothing or has no logits. */
    probabilities() {
      const { place } = readRun(source, run, part);
      if (place === null || !now.logits) return null;
      return probabilities(rowOf(valuesOf(run), place));
    },
  };
}

/** Compares the hidden states of the shown run and of the other run, for a model that predicts nothing. */
async function sendAngles(
  source: TransformerSource,
  state: State,
  now: Values,
  other: ReturnType<typeof otherCaseOf>,
  reply: Reply,
) {
  const { turnedFrom } = await import('./turned.ts');
  const { pieces } = readRun(source, state);
  const angles = turnedFrom(other.values().hidden, now.hidden, pieces);
  if (angles) reply.send('turned', { kind: other.kind, ...angles });
}

/** Sends how well each sentence matches the picture. `now`: null for a sentence without tokens. */
async function sendMatches(
  hl: Hl,
  source: TransformerSource,
  state: State,
  { layer, head, place }: ChosenHead,
  now: Values | null,
  reply: Reply,
  { runs }: Pick<WorkerContext, 'runs'>,
) {
  const { sendRanking } = await import('./textImage.ts');
  const towers = source.towers as NonNullable<TransformerSource['towers']>;
  const other = otherCase({ ...state, layer, head }, place);
  await sendRanking({ hl, runs, towers, pinned: state.pinned, source, state, now }, other, reply);
}

const temperatureIn = ({ about }: TransformerSource, run: Run, { place, head }: ChosenHead) =>
  about.edits ? effective(run.temperature, place, head, 1) : 1;

/** `first`: the likeliest label in the other run. */
function describeNow(
  source: TransformerSource,
  state: State,
  chosen: ChosenHead,
  { ids, keys, place }: Read,
  values: Values,
  { kind, first }: { kind: string; first: number | null },
) {
  const { part, layers, layer, head } = chosen;
  const described = describe(source, values, {
    ids,
    layer,
    head,
    token: state.token ?? (kind === 'pinned' ? null : first),
    also: first ?? undefined,
    place,
    part,
    layers,
    other: Boolean(keys),
    name: labelNames(source),
    temperature: temperatureIn(source, state, chosen),
  });
  const changes = {
    scale: effective(state.scale, chosen.place, head, 1),
    patched: state.pinned !== null && effective(state.patch, chosen.place, head, 0) === 1,
    isMean: isOff(state, chosen.place, head) && replacementOf(source.about, state) === 'mean',
  };
  const { fields } = described;
  return { ...described, fields: { ...fields, values: { ...fields.values, ...changes } } };
}

/** `values`: of the pinned run; `token`: the label whose probability is shown. */
async function sendPinnedHead(
  source: TransformerSource,
  pinned: Run,
  chosen: ChosenHead,
  values: Values,
  token: number | null,
  reply: Reply,
) {
  const { part, layers, layer, head } = chosen;
  const read = readRun(source, pinned, part);
  const { pinnedRun } = await import('./pinnedHead.ts');
  const temperature = temperatureIn(source, pinned, chosen);
  const query = { layer, head, layers, part, token, name: labelNames(source), temperature };
  reply.send('pinnedHead', pinnedRun(source, values, read, query));
}
