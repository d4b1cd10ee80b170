// Questions of the page and their answers. A question has a verb and an id; its answer comes in parts, { id, part, … },
// and ends with { id, done: true } or { id, error }. Of questions with the same verb only the newest is answered.
// Another file adds a verb by adding it to VERBS.

import { saidTwice } from '../../train/whale/twice.js';
import { piecesOf } from '../model/sentence.js';
import { runOf, UNCHANGED } from '../model/state.js';
import { tradeOf } from '../model/trades.js';
import { otherCase } from '../model/whatif.js';
import {
  addedTo,
  allEdits,
  capturesFor,
  forward,
  headValues,
  lensOf,
  likeliest,
  probabilities,
  rowOf,
  scoresOf,
  weightsOf,
} from './run.js';
import { openSource } from './sources.js';
import { writeOn } from './write.js';

/** @import { Run, State } from '../model/state.js' */
/** @import { Fetch, Source } from './sources.js' */
/** @import { Values } from './run.js' */
/**
 * What a verb is given: the question's fields, and how it answers.
 * @typedef {object} Asked
 * @property {any} question
 * @property {(part: string, fields: object, transfer?: ArrayBuffer[]) => void} say
 * @property {() => Promise<boolean>} stale lets newer messages in, and says whether this question still counts
 */

/** Runs that are kept: the one shown, the other case, the pinned one, and those before them. */
const KEPT = 8;
const TOP = 5;

/**
 * @param {object} given
 * @param {(options?: any) => Promise<any>} given.load
 * @param {Fetch} given.fetchBeside
 * @param {(message: object, transfer?: ArrayBuffer[]) => void} given.post
 */
export function createAnswerer({ load, fetchBeside, post }) {
  /** @type {Promise<any> | undefined} */
  let core;
  /** @type {Map<string, Promise<Source>>} */
  const sources = new Map();
  /** @type {Map<string, Values>} */
  const runs = new Map();
  /** @type {Map<string, (string | null)[][]>} */
  const trades = new Map();
  /** The newest question of each verb. @type {Map<string, number>} */
  const newest = new Map();

  const hl = () => (core ??= load());

  /** @param {string} name @param {Asked['say']} say */
  async function sourceOf(name, say) {
    if (!sources.has(name))
      sources.set(
        name,
        openSource(await hl(), fetchBeside, name, (read, total) => say('progress', { read, total })),
      );
    try {
      return /** @type {Source} */ (await sources.get(name));
    } catch (error) {
      // A visitor may ask again.
      sources.delete(name);
      throw error;
    }
  }

  /** @param {Source} source @param {string} text */
  function encode({ tokenizer, about }, text) {
    const encoding = tokenizer.encode(text);
    const cut = encoding.ids.length > about.context;
    const ids = encoding.ids.slice(0, about.context);
    return { pieces: piecesOf(text, { ids, offsets: encoding.offsets }), ids, cut };
  }

  /** @param {any} core @param {Source} source @param {Run} run @param {number} layer @param {Run | null} pinned */
  function valuesOf(core, source, run, layer, pinned) {
    const patched = Object.keys(run.patch).length > 0 ? pinned : null;
    const key = JSON.stringify([source.about.name, layer, runOf(run), patched]);
    const known = runs.get(key);
    if (known) runs.delete(key);
    const { ids } = encode(source, run.text);
    const edits = () =>
      allEdits(source, patched ? run : { ...run, patch: {} }, ids.length, () =>
        valuesOf(core, source, { .../** @type {Run} */ (patched), patch: {} }, layer, null),
      );
    const values = known ?? forward(core, source, ids, edits(), capturesFor(layer));
    runs.set(key, values);
    for (const old of [...runs.keys()].slice(0, -KEPT)) runs.delete(old);
    return values;
  }

  /** Names of heads, found once for a model. @param {any} core @param {Source} source */
  function tradesOf(core, source) {
    const { name, layers } = source.about;
    const known = trades.get(name);
    if (known) return known;
    const ids = saidTwice(source.model.options.vocab, 1, 4);
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
    /** All that the screen shows. @param {Asked} asked */
    async show({ question, say, stale }) {
      const state = /** @type {State} */ (question.state);
      const source = await sourceOf(state.model, say);
      const loaded = await hl();
      const { about } = source;
      say('source', { about });
      const [layer, head] = [Math.min(state.layer, about.layers - 1), Math.min(state.head, about.heads - 1)];
      const { pieces, ids, cut } = encode(source, state.text);
      const shared = { pieces, cut, T: ids.length, layer, head };
      if (ids.length === 0) return say('run', { ...shared, weights: new Float32Array(0) });
      if (await stale()) return;
      const now = valuesOf(loaded, source, runOf(state), layer, state.pinned);
      const weights = weightsOf(source, now);
      const name = (/** @type {number} */ id) => source.tokenizer.decode([id], { skipSpecial: false });
      const likely = probabilities(rowOf(now));
      const top = likeliest(likely, TOP);
      const chosen = state.token !== null && state.token < likely.length ? state.token : top[0];
      if (!top.includes(chosen)) top[TOP - 1] = chosen;
      const values = headValues(source, now, layer, head, chosen);
      say(
        'run',
        {
          ...shared,
          weights,
          values: { ...values, labels: values.labels.map((id) => ({ id, text: name(id) })) },
          chosen: { id: chosen, text: name(chosen) },
          top: top.map((id) => ({ id, text: name(id), now: likely[id] })),
          lens: lensOf(source, now, chosen),
          added: addedTo(source, now, chosen),
          scores: scoresOf(
            Array.from({ length: about.layers }, (_, l) => now.captured[`blocks.${l}.weights`]),
            { data: ids, shape: [ids.length] },
          ),
        },
        [weights.buffer],
      );
      if (await stale()) return;
      const { kind, run } = otherCase({ ...state, layer, head });
      const other = probabilities(rowOf(valuesOf(loaded, source, run, layer, state.pinned)));
      say('other', { kind, top: top.map((id) => other[id]), likeliest: name(likeliest(other, 1)[0]) });
      if (await stale()) return;
      say('trades', { trades: tradesOf(loaded, source) });
    },

    /**
     * How likely each token of the text was before it was read: now, and with nothing changed.
     * @param {Asked} asked
     */
    async real({ question, say }) {
      const state = /** @type {State} */ (question.state);
      const source = await sourceOf(state.model, say);
      const loaded = await hl();
      const { ids } = encode(source, state.text);
      const given = (/** @type {Run} */ run) => {
        const values = valuesOf(loaded, source, run, state.layer, state.pinned);
        return Float64Array.from(ids.slice(1), (id, t) => probabilities(rowOf(values, t))[id]);
      };
      if (ids.length < 2) return say('real', { state, now: [], ever: [] });
      say('real', { state, now: given(runOf(state)), ever: given({ ...runOf(state), ...UNCHANGED }) });
    },

    /** Goes on with the text, token by token. @param {Asked} asked */
    async write({ question, say, stale }) {
      const state = /** @type {State} */ (question.state);
      const source = await sourceOf(state.model, say);
      const loaded = await hl();
      const { ids } = encode(source, state.text);
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
      if (verb !== 'write' && (await stale())) return post({ id, verb, done: true, dropped: true });
      await /** @type {any} */ (VERBS)[verb]({ question, say, stale });
      post({ id, verb, done: true, dropped: isStale() });
    } catch (error) {
      post({ id, verb, error: /** @type {Error} */ (error).message });
    }
  };
}
