// Sends the answer to `show` for a transformer: the run, the comparison, the pinned run and the roles of the heads.

import { hasTrial } from '../../features/story/trial.js';
import { effective, isOff, layerPlace, otherCase, replacementOf, shownPart } from '../../features/whatif/modelEdits.js';
import { runOf } from '../../store/runInput.js';
import { describe } from './describeRun.js';
import { createPause, fitting } from './longRuns.js';
import { readRun } from './modelInput.js';
import { labelNames, likeliest, probabilities, rowOf } from './predictions.js';
import { patchPartners } from './runCache.js';

/** @import { PatchOptions, Run, ShownRun, State } from '../../store/protocol.js' */
/** @import { Hl, TransformerSource } from '../sources/types.js' */
/** @import { Reply, WorkerContext } from '../types.js' */
/** @import { Read } from './modelInput.js' */
/** @import { Values } from './runModel.js' */
/** @typedef {ReturnType<typeof chosenHead>} ChosenHead */
/** @typedef {(run: Run) => Values} ValuesOf */

/**
 * @param {Hl} hl
 * @param {TransformerSource} source
 * @param {State} state
 * @param {Reply} reply
 * @param {Pick<WorkerContext, 'runs' | 'roles'>} worker
 */
export async function showTransformer(hl, source, state, reply, worker) {
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
  /** @type {ValuesOf} */
  const valuesOf = (run) => worker.runs.values(hl, source, run, how);
  const compute = (/** @type {Run} */ run, /** @type {number | undefined} */ head = undefined) =>
    fitting(hl, source, { tokens: read.ids.length, changed: changesScores(run) }, () =>
      worker.runs.compute(hl, source, run, { ...how, head }, createPause(reply, read.ids.length)),
    );
  const now = hasTrial(state) ? await trialOf() : await compute(runOf(state), chosen.head);
  const other = otherCaseOf(source, state, chosen, now, valuesOf);
  const computeOther = async () => {
    if (readRun(source, other.run, part).ids.length > 0) await compute(other.run);
  };
  async function trialOf() {
    const { trialRun } = await import('./trialRun.js');
    const [run, { pinned }] = [runOf(state), state];
    const edits = worker.runs.edits(hl, source, run, { layer, pinned, T: read.ids.length });
    const before = (/** @type {number} */ at) => worker.runs.values(hl, source, run, { layer: at, pinned });
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
  const letters = source.sound && { letters: (await import('../sound/speech.js')).lettersOf(source, now) };
  const run = { ...shared, ...letters, ...fields };
  const shown =
    state.units === 'words' && !run.large
      ? (await import('./joinWords.js')).joinWords(run, state, { layers, heads })
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
    /** @type {ArrayBuffer[]} */ (sent.map(({ buffer }) => buffer)),
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
    const { similarityOf } = await import('./similarity.js');
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

/** @param {Run} run */
const changesScores = ({ temperature, mask, painted = {} }) =>
  [temperature, mask, painted].some((map) => Object.keys(map).length > 0);

/**
 * Returns the head of the state, or the nearest head that the source has.
 * @param {TransformerSource} source @param {State} state
 */
export function chosenHead({ about, model: { options } }, state) {
  const part = shownPart(about, state);
  const { layers, numHeads: heads } = part === 'encoder' && options.encoder ? options.encoder : options;
  const layer = Math.min(state.layer, layers - 1);
  return { part, layers, heads, layer, place: layerPlace(part, layer), head: Math.min(state.head, heads - 1) };
}

/**
 * @param {TransformerSource} source
 * @param {State} state
 * @param {Read} read
 * @param {ChosenHead} chosen
 * @returns {Omit<ShownRun, 'weights'>}
 */
function inputFields(source, state, { pieces, keys, cut, place }, { part, layer, head }) {
  const { about, model, pixels } = source;
  const picture = about.reads === 'picture' && {
    image: pixels?.fine ?? pixels?.image,
    patch: /** @type {PatchOptions} */ (model.options.patch),
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

/**
 * Returns the partners of the tokens in the pinned run, if something is patched.
 * @param {TransformerSource} source
 * @param {State} state
 * @param {string} part
 */
const partnersFor = (source, state, part) =>
  state.pinned && source.about.edits && Object.keys(state.patch).length > 0
    ? { partners: patchPartners(source, runOf(state), state.pinned, part) }
    : {};

/**
 * Returns the run that the shown run is compared with.
 * @param {TransformerSource} source
 * @param {State} state
 * @param {ChosenHead} chosen
 * @param {Values} now
 * @param {ValuesOf} valuesOf
 */
function otherCaseOf(source, state, { part, layer, place, head }, now, valuesOf) {
  const { kind, run } = hasTrial(state)
    ? { kind: /** @type {const} */ ('before'), run: runOf(state) }
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

/**
 * Compares the hidden states of the shown run and of the other run, for a model that predicts nothing.
 * @param {TransformerSource} source
 * @param {State} state
 * @param {Values} now
 * @param {ReturnType<typeof otherCaseOf>} other
 * @param {Reply} reply
 */
async function sendAngles(source, state, now, other, reply) {
  const { turnedFrom } = await import('./turned.js');
  const { pieces } = readRun(source, state);
  const angles = turnedFrom(other.values().hidden, now.hidden, pieces);
  if (angles) reply.send('turned', { kind: other.kind, ...angles });
}

/**
 * Sends how well each sentence matches the picture.
 * @param {Hl} hl
 * @param {TransformerSource} source
 * @param {State} state
 * @param {ChosenHead} chosen
 * @param {Values | null} now null for a sentence without tokens
 * @param {Reply} reply
 * @param {Pick<WorkerContext, 'runs'>} worker
 */
async function sendMatches(hl, source, state, { layer, head, place }, now, reply, { runs }) {
  const { sendRanking } = await import('./textImage.js');
  const towers = /** @type {NonNullable<TransformerSource['towers']>} */ (source.towers);
  const other = otherCase({ ...state, layer, head }, place);
  await sendRanking({ hl, runs, towers, pinned: state.pinned, source, state, now }, other, reply);
}

/** @param {TransformerSource} source @param {Run} run @param {ChosenHead} chosen */
const temperatureIn = ({ about }, run, { place, head }) =>
  about.edits ? effective(run.temperature, place, head, 1) : 1;

/**
 * @param {TransformerSource} source
 * @param {State} state
 * @param {ChosenHead} chosen
 * @param {Read} read
 * @param {Values} values
 * @param {{ kind: string, first: number | null }} other first: the likeliest label in the other run
 */
function describeNow(source, state, chosen, { ids, keys, place }, values, { kind, first }) {
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

/**
 * @param {TransformerSource} source
 * @param {Run} pinned
 * @param {ChosenHead} chosen
 * @param {Values} values of the pinned run
 * @param {number | null} token the label whose probability is shown
 * @param {Reply} reply
 */
async function sendPinnedHead(source, pinned, chosen, values, token, reply) {
  const { part, layers, layer, head } = chosen;
  const read = readRun(source, pinned, part);
  const { pinnedRun } = await import('./pinnedHead.js');
  const temperature = temperatureIn(source, pinned, chosen);
  const query = { layer, head, layers, part, token, name: labelNames(source), temperature };
  reply.send('pinnedHead', pinnedRun(source, values, read, query));
}
