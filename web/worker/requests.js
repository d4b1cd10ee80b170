// Questions of the page and their answers. A question has a verb and an id; its answer comes in parts, { id, part, … },
// and ends with { id, done: true } or { id, error }. Of questions with the same verb only the newest is answered.
// Another file adds a verb by adding it to VERBS.

import { saidTwice } from '../features/heads/repeatedPassages.js';
import { tradeOf } from '../features/heads/roles.js';
import { effective, otherCase, withPlace } from '../features/whatif/edits.js';
import { runOf, TRAINED, UNCHANGED } from '../store/runInput.js';
import { feedsOf } from './composition.js';
import { describe } from './describeRun.js';
import { writeOn } from './generate.js';
import { readRun } from './modelInput.js';
import { createShelf } from './modelStore.js';
import { allEdits, capturesFor, forward, likeliest, probabilities, rowOf, scoresOf } from './runModel.js';
import { Problem } from './sources/problem.js';
import { openSource } from './sources/sources.js';

/** @import { Run, State } from '../store/state.js' */
/** @import { Fetch, Source } from './sources/sources.js' */
/** @import { Values } from './runModel.js' */
/**
 * What a verb is given: the question's fields, and how it answers.
 * @typedef {object} Asked
 * @property {any} question
 * @property {(part: string, fields: object, transfer?: ArrayBuffer[]) => void} say
 * @property {() => boolean} isStale whether a newer question has come
 * @property {() => Promise<boolean>} stale lets newer messages in, and says whether this question still counts
 */

/** Verbs of which no question is passed over. */
const EVERY = new Set(['write', 'steer', 'seen', 'train', 'give']);
/** Runs that are kept: the one shown, the other case, the pinned one, and those before them. */
const KEPT = 8;

/**
 * @param {object} given
 * @param {(options?: any) => Promise<any>} given.load
 * @param {Fetch} given.fetchBeside
 * @param {(message: object, transfer?: ArrayBuffer[]) => void} given.post
 * @param {import('./modelStore.js').Shelf} [given.shelf] where models that are trained here are kept
 */
export function createAnswerer({ load, fetchBeside, post, shelf = createShelf() }) {
  /** @type {Promise<any> | undefined} */
  let core;
  /** @type {Map<string, Promise<Source>>} */
  const sources = new Map();
  /** What ends their reading. @type {Map<string, AbortController>} */
  const stops = new Map();
  /** @type {Map<string, Values>} */
  const runs = new Map();
  /** @type {Map<string, (string | null)[][]>} */
  const trades = new Map();
  /** The newest question of each verb. @type {Map<string, number>} */
  const newest = new Map();

  const hl = () => (core ??= load());
  /** Most visitors come to look: what trains is loaded when it is asked for. @type {Promise<any> | undefined} */
  let trainer;
  const training = () =>
    (trainer ??= import('./trainer/requests.js').then(({ createTraining }) => createTraining({ hl, shelf })));

  /** @param {Pick<State, 'model'> & Partial<State>} state @param {Asked['say']} say */
  async function sourceOf(state, say) {
    const { model: name } = state;
    if (name === TRAINED) return (await training()).source(state);
    if (!sources.has(name)) {
      const stop = new AbortController();
      stops.set(name, stop);
      const fetch = (/** @type {string} */ file, /** @type {any} */ onProgress) =>
        fetchBeside(file, onProgress, stop.signal);
      sources.set(
        name,
        openSource(hl(), fetch, name, (read, total) => say('progress', { read, total })),
      );
    }
    try {
      return /** @type {Source} */ (await sources.get(name));
    } catch (error) {
      // A visitor may ask again.
      sources.delete(name);
      throw error;
    }
  }

  /**
   * @param {any} core
   * @param {Source} source
   * @param {Run} run
   * @param {number} layer
   * @param {Run | null} pinned
   * @param {string} [part]
   */
  function valuesOf(core, source, run, layer, pinned, part = 'decoder') {
    const patched = Object.keys(run.patch).length > 0 ? pinned : null;
    const key = JSON.stringify([source.about.name, source.version, part, layer, runOf(run), patched]);
    const known = runs.get(key);
    if (known) runs.delete(key);
    const { ids, input } = readRun(source, run, part);
    const edits = () =>
      source.about.edits
        ? allEdits(source, patched ? run : { ...run, patch: {} }, ids.length, () =>
            valuesOf(core, source, { .../** @type {Run} */ (patched), patch: {} }, layer, null),
          )
        : [];
    const values = known ?? forward(core, source, input, edits(), capturesFor(source, part, layer));
    runs.set(key, values);
    for (const old of [...runs.keys()].slice(0, -KEPT)) runs.delete(old);
    return values;
  }

  /** What a number of a source's output is called. @param {Source} source @returns {(id: any) => string} */
  function nameIn({ about, model, tokenizer }) {
    const labels = model.config?.id2label;
    if (about.guess === 'classes') return (id) => String(labels?.[id] ?? id).split(',')[0];
    if (about.reads !== 'picture' && !about.words) return (id) => (id === null || id < 0 ? '' : ` #${id}`);
    return (id) => (id === null || id < 0 ? '' : tokenizer.decode([id], { skipSpecial: false }));
  }

  /** Names of heads, found once for a model. @param {any} core @param {Source} source */
  function tradesOf(core, source) {
    const { layers } = source.about;
    const name = `${source.about.name} ${source.version ?? ''}`;
    const known = trades.get(name);
    if (known) return known;
    const ids = source.exemplar
      ? { data: Int32Array.from(source.exemplar), shape: [1, source.exemplar.length] }
      : saidTwice(source.model.options.vocab, 1, 4);
    const weights = core.scope(() => {
      const { captured } = source.model.forward({ ids }, { capture: ['blocks.*.weights'] });
      return Array.from({ length: layers }, (_, l) => {
        const tensor = captured[`blocks.${l}.weights`];
        return { data: tensor.copy(), shape: [...tensor.shape] };
      });
    });
    const found = scoresOf(weights, ids).map((heads) => heads.map(tradeOf));
    trades.set(name, found);
    return found;
  }

  const VERBS = {
    /** @param {Asked} asked */
    train: async (asked) => (await training()).verbs.train(asked),
    /** @param {Asked} asked */
    steer: async (asked) => (await training()).verbs.steer(asked),
    seen: async () => (await training()).verbs.seen(),

    /** All that the screen shows. @param {Asked} asked */
    async show({ question, say, stale }) {
      const state = /** @type {State} */ (question.state);
      const source = await sourceOf(state, say);
      const loaded = await hl();
      const { about } = source;
      if (source.attentions) {
        const { showWeights } = await import('./sources/showWeights.js');
        return showWeights(source, state, { say, stale });
      }
      if (source.pose)
        return (await import('./sources/attentionOnly.js')).showHeads(loaded, source, state, { say, stale });
      const part = about.parts.includes(state.part) ? state.part : 'decoder';
      const { layers, numHeads: heads } = part === 'encoder' ? source.model.options.encoder : source.model.options;
      say('source', { about: { ...about, layers, heads, causal: part === 'decoder' && about.causal } });
      const [layer, head] = [Math.min(state.layer, layers - 1), Math.min(state.head, heads - 1)];
      const { pieces, keys, ids, cut, place } = readRun(source, state, part);
      const seen = about.reads === 'picture' && {
        image: source.pixels?.fine ?? source.pixels?.image,
        patch: source.model.options.patch,
      };
      const shared = { ...seen, pieces, keys, cut, place, T: ids.length, S: keys?.length, layer, head };
      if (ids.length === 0) return say('run', { ...shared, weights: new Float32Array(0) });
      if (await stale()) return;
      const heat = (/** @type {Run} */ run) => (about.edits ? effective(run.temperature, layer, head, 1) : 1);
      const now = valuesOf(loaded, source, runOf(state), layer, state.pinned, part);
      const { kind, run } = otherCase({ ...state, layer, head });
      const otherRow = () => {
        const at = readRun(source, run, part).place;
        // A model of pictures may have no logits.
        if (at === null || !now.logits) return null;
        return probabilities(rowOf(valuesOf(loaded, source, run, layer, state.pinned, part), at));
      };
      // What was guessed before a change is followed, and stays in the list however unlikely it is now.
      const known = place !== null && (kind === 'pinned' || (about.edits && kind !== 'without'));
      const before = known ? otherRow() : null;
      const first = before && likeliest(before, 1)[0];
      const { fields, likely, top, name } = describe(source, now, {
        ids,
        layer,
        head,
        token: state.token ?? (kind === 'pinned' ? null : first),
        also: first ?? undefined,
        place,
        part,
        layers,
        other: Boolean(keys),
        name: nameIn(source),
        temperature: heat(state),
      });
      const { scores } = fields;
      Object.assign(fields.values, {
        scale: effective(state.scale, layer, head, 1),
        patched: state.pinned !== null && effective(state.patch, layer, head, 0) === 1,
      });
      say('run', { ...shared, ...fields }, [fields.weights.buffer]);
      if (await stale()) return;
      if (likely && (about.edits || kind === 'pinned')) {
        const other = before ?? otherRow();
        if (other) say('other', { kind, top: top.map((id) => other[id]), likeliest: name(likeliest(other, 1)[0]) });
        if (await stale()) return;
      }
      if (state.pinned && state.view === 'compare') {
        const values = valuesOf(loaded, source, state.pinned, layer, state.pinned, part);
        const read = readRun(source, state.pinned, part);
        const { pinnedRun } = await import('./pinnedHead.js');
        const asked = { layer, head, layers, part, token: fields.chosen?.id ?? null, name: nameIn(source) };
        const temperature = heat(state.pinned);
        say('versus', pinnedRun(source, values, read, { ...asked, temperature }));
        if (await stale()) return;
      }
      // Of a model of the visitor's the names of heads come from this text: a run of its own would cost as much again.
      const trades =
        about.name === 'whale' || source.exemplar ? tradesOf(loaded, source) : scores?.map((row) => row.map(tradeOf));
      say('trades', { trades: about.reads === 'picture' ? null : (trades ?? null) });
    },

    /** A visitor's own files become a source. @param {Asked} asked */
    async open({ question, say, isStale }) {
      const stop = new AbortController();
      const loaded = await hl();
      // Most visitors open nothing of their own.
      const { openFiles } = await import('./sources/userFiles.js');
      const { source, told } = await openFiles(loaded, question.name, question.files, {
        title: question.title,
        transposed: question.transposed,
        signal: stop.signal,
        onProgress(read, total) {
          if (isStale()) stop.abort();
          else say('opening', { read, total });
        },
      });
      if (isStale()) return source.model?.dispose();
      sources.set(question.name, Promise.resolve(source));
      say('opened', { about: source.about, told });
    },

    /** Into how many heads the queries of a file are split. @param {Asked} asked */
    async split({ question, say }) {
      const source = await sourceOf({ model: question.name }, say);
      source.split?.(question.heads);
      say('named', {});
    },

    /** Texts that name the tokens of weights. @param {Asked} asked */
    async name({ question, say }) {
      const source = await sourceOf({ model: question.name }, say);
      source.tokens = { ...source.tokens, ...question.tokens };
      source.version = (source.version ?? 0) + 1;
      say('named', {});
    },

    /** Another picture for a model that reads patches; none is the one that is drawn. @param {Asked} asked */
    async picture({ question, say }) {
      const source = await sourceOf({ model: question.name }, say);
      const patch = source.patch ?? source.model.options.patch;
      const { drawnPixels, pixelsOf } = await import('./pixels.js');
      if (question.file)
        try {
          source.pixels = pixelsOf(await createImageBitmap(question.file), patch, source.look);
        } catch {
          throw new Problem('noPicture', question.file.name ?? '');
        }
      else source.pixels = drawnPixels(patch, source.look);
      source.version = (source.version ?? 0) + 1;
      say('pictured', {});
    },

    /** What the page that holds this one hands over. @param {Asked} asked */
    async give({ question, say }) {
      const { name, given } = question;
      const made = hl().then(async (loaded) => {
        const { openGiven } = await import('./sources/programSource.js');
        return openGiven(loaded, name, given, (read, total) => say('progress', { read, total }));
      });
      const before = sources.get(name);
      sources.set(
        name,
        made.then(({ source }) => source),
      );
      before?.then(({ model }) => model?.dispose()).catch(() => {});
      const { source, told } = await made;
      say('given', { about: source.about, told });
    },

    /** Frees what an opened model holds, or ends its reading. @param {Asked} asked */
    async close({ question }) {
      stops.get(question.name)?.abort();
      const source = await sources.get(question.name)?.catch(() => undefined);
      sources.delete(question.name);
      source?.model?.dispose();
    },

    /**
     * How likely each token of the text was before it was read: now, and with nothing changed.
     * @param {Asked} asked
     */
    async real({ question, say }) {
      const state = /** @type {State} */ (question.state);
      const source = await sourceOf(state, say);
      const loaded = await hl();
      const { ids } = readRun(source, state);
      const given = (/** @type {Run} */ run) => {
        const values = valuesOf(loaded, source, run, state.layer, state.pinned);
        return Float64Array.from(ids.slice(1), (id, t) => probabilities(rowOf(values, t))[id]);
      };
      if (ids.length < 2) return say('real', { state, now: [], ever: [] });
      say('real', { state, now: given(runOf(state)), ever: given({ ...runOf(state), ...UNCHANGED }) });
    },

    /** Which heads feed the queries, keys and values of a head, and whose it feeds. @param {Asked} asked */
    async feeds({ question: { state }, say, stale }) {
      const source = await sourceOf(state, say);
      const { layers, heads } = source.about;
      const [layer, head] = [Math.min(state.layer, layers - 1), Math.min(state.head, heads - 1)];
      if (!source.exact) return;
      for await (const feeds of feedsOf(source, { layer, head })) {
        if (await stale()) return;
        say('feeds', { layer, head, feeds });
      }
    },

    /** What the chosen token loses without each head in turn. @param {Asked} asked */
    async heads({ question, say, stale }) {
      const state = /** @type {State} */ (question.state);
      const source = await sourceOf(state, say);
      const loaded = await hl();
      const { ids, input, place } = readRun(source, state);
      if (ids.length === 0 || place === null) return;
      const before = probabilities(rowOf(valuesOf(loaded, source, runOf(state), state.layer, state.pinned), place));
      const token = state.token ?? likeliest(before, 1)[0];
      const { layers, heads } = source.about;
      const about = { token, text: nameIn(source)(token), before: before[token], total: layers * heads };
      say('heads', { ...about, tried: [] });
      const tried = [];
      const pinned = () =>
        valuesOf(loaded, source, { .../** @type {Run} */ (state.pinned), patch: {} }, state.layer, null);
      for (let layer = layers - 1; layer >= 0; layer--)
        for (let head = 0; head < heads; head++) {
          if (await stale()) return;
          const run = { ...runOf(state), scale: withPlace(state.scale, `${layer}.${head}`, 0, 1) };
          const edits = allEdits(source, state.pinned ? run : { ...run, patch: {} }, ids.length, pinned);
          const likely = probabilities(rowOf(forward(loaded, source, input, edits, []), place));
          tried.push({ layer, head, probability: likely[token] });
          say('heads', { ...about, tried });
        }
    },

    /** Goes on with the text, token by token. @param {Asked} asked */
    async write({ question, say, stale }) {
      const state = /** @type {State} */ (question.state);
      const source = await sourceOf(state, say);
      const loaded = await hl();
      const { ids } = readRun(source, state);
      const pinned = () =>
        valuesOf(loaded, source, { .../** @type {Run} */ (state.pinned), patch: {} }, state.layer, null);
      const edit = () =>
        allEdits(source, { ...runOf(state), ...(state.pinned ? {} : { patch: {} }) }, ids.length, pinned);
      await writeOn({ source, ids, edit: edit(), max: question.max, seed: question.seed, say, stale });
    },
  };

  /** Newer messages come in before this goes on. */
  const turn = () => new Promise((resolve) => setTimeout(resolve));

  return async (/** @type {any} */ question) => {
    const { id, verb } = question;
    newest.set(verb, id);
    if (verb === 'cancel') return newest.set(question.of, id);
    const isStale = () => newest.get(verb) !== id;
    const stale = async () => {
      await turn();
      return isStale();
    };
    const say = (
      /** @type {string} */ part,
      /** @type {object} */ fields,
      /** @type {ArrayBuffer[]} */ transfer = [],
    ) => post({ id, verb, part, ...fields }, transfer);
    try {
      // Of several questions that wait only the newest is begun.
      if (!EVERY.has(verb) && (await stale())) return post({ id, verb, done: true, dropped: true });
      await /** @type {any} */ (VERBS)[verb]({ question, say, stale, isStale });
      post({ id, verb, done: true, dropped: isStale() });
    } catch (error) {
      const { message, code, values } = /** @type {any} */ (error);
      post({ id, verb, error: message, code, values });
    }
  };
}
