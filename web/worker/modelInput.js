// What a model is given: a text, numbers, a picture, or two texts; and what its tokens are called.

import { piecesOf } from '../features/prompt/tokens.js';
import { Problem } from './sources/problem.js';

/** @import { Run } from '../store/state.js' */
/** @import { Source } from './sources/sources.js' */
/** @typedef {import('../features/prompt/tokens.js').Piece} Piece */
/**
 * @typedef {object} Read
 * @property {Piece[]} pieces tokens that ask
 * @property {Piece[]} [keys] tokens that answer, where they are others
 * @property {number[]} ids
 * @property {boolean} cut there were more tokens than the model reads
 * @property {any} input of forward
 * @property {number | null} place the token whose logits are the guess; null for none
 */

/** A tokenizer is given no more letters than may be of use: it would take a megabyte's time for nothing. */
const LETTERS = 24;

const labels = (/** @type {number[]} */ ids) => ({ data: Int32Array.from(ids), shape: [1, ids.length] });

/** @param {Source} source @param {string} text */
function encoded({ tokenizer, about, model }, text) {
  const encoding = tokenizer.encode(text.slice(0, LETTERS * about.context));
  const cut = encoding.ids.length > about.context || text.length > LETTERS * about.context;
  const ids = encoding.ids.slice(0, about.context);
  const { vocab } = model.options;
  const wrong = ids.find((/** @type {number} */ id) => id >= vocab);
  if (wrong !== undefined) throw new Problem('noToken', wrong, vocab - 1);
  const pieces = piecesOf(text, { ids, offsets: encoding.offsets });
  pieces.forEach((piece, i) => {
    // A bare number would look like that of a row.
    if (!about.words) piece.name = `#${piece.id}`;
    // What a tokenizer puts in by itself stands nowhere in the text.
    const [from, to] = encoding.offsets[i];
    if (from === to && encoding.tokens) piece.name = encoding.tokens[i];
  });
  return { ids, pieces, cut, typeIds: encoding.typeIds?.slice(0, about.context) };
}

/** @param {string} name @returns {Piece} */
export const pieceOf = (name) => ({ id: -1, start: 0, end: 0, space: '', text: '', name });

/** Patches by row and column, after the tokens of the class. @param {any} options @returns {Piece[]} */
function patchesOf({ patch: { size, image, classTokens } }) {
  const [rows, columns] = image.map((/** @type {number} */ side) => Math.floor(side / size));
  const names = Array.from({ length: rows * columns }, (_, i) => `${Math.floor(i / columns)}·${i % columns}`);
  return [...['[class]', '[teacher]'].slice(0, classTokens), ...names].map(pieceOf);
}

/**
 * @param {Source} source
 * @param {Run} run
 * @param {string} [part] of an encoder–decoder
 * @returns {Read}
 */
export function readRun(source, run, part) {
  const { about, model } = source;
  if (about.reads === 'picture') {
    const pieces = patchesOf(model.options);
    const { data, shape } = /** @type {import('./sources/sources.js').Pixels} */ (source.pixels);
    return { pieces, ids: pieces.map((_, i) => i), cut: false, input: { pixels: { data, shape } }, place: 0 };
  }
  if (about.reads === 'pair') return readPair(source, run, part);
  const { ids, pieces, cut, typeIds } = encoded(source, run.text);
  const masked = about.mask === null ? -1 : ids.indexOf(source.tokenizer.idOf(about.mask));
  const asks = about.guess === 'next' ? ids.length - 1 : masked;
  const place = asks >= 0 ? asks : null;
  const types = model.options.tokenTypes > 0 && typeIds && { typeIds: labels(typeIds) };
  return { pieces, ids, cut, input: { ids: labels(ids), ...types }, place };
}

/** @param {Source} source @param {Run} run @param {string} [part] @returns {Read} */
function readPair(source, run, part) {
  const first = encoded(source, run.text);
  const start = source.model.config?.decoder_start_token_id ?? source.model.config?.pad_token_id ?? 0;
  const second = encoded(source, run.second ?? '');
  // What ends a text is no beginning of one that is to go on.
  const end = source.model.config?.eos_token_id;
  const open = second.ids.at(-1) === end ? second.ids.slice(0, -1) : second.ids;
  const name = source.tokenizer.tokenOf(start) ?? String(start);
  const answer = { ids: [start, ...open], pieces: [pieceOf(name), ...second.pieces.slice(0, open.length)] };
  const shown = part === 'encoder' ? first : answer;
  return {
    pieces: shown.pieces,
    ...(part === 'cross' && { keys: first.pieces }),
    ids: shown.ids,
    cut: first.cut,
    input: { encoder: { ids: labels(first.ids) }, ids: labels(answer.ids) },
    place: answer.ids.length - 1,
  };
}
