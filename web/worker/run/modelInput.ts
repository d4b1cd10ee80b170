// Makes the input of a model from a text, numbers, a picture or two texts, with the names of the tokens.

import type { ModelInput } from '../../../src/js/models/input.ts';
import type { Encoding } from '../../../src/js/text/processors.ts';
import { shorten } from '../../../src/js/text/shorten.ts';
import type { Piece, Run } from '../../model/protocol/protocol.ts';
import { piecesOf } from '../../model/tokens.ts';
import { Problem } from '../sources/problem.ts';
import type { Pixels, Transformer, TransformerSource } from '../sources/types.ts';
export type Read = {
  pieces: Piece[];
  /** tokens of the keys, if they differ */
  keys?: Piece[];
  ids: number[];
  /** true if there were more tokens than the model reads */
  cut: boolean;
  /** of forward */
  input: ModelInput;
  /** the token whose logits are the prediction; null for none */
  place: number | null;
};

/** Maximum characters that are encoded for each token of the context. Encoding a megabyte would take seconds. */
const CHARACTERS = 24;

const labels = (ids: number[]) => ({ data: Int32Array.from(ids), shape: [1, ids.length] });

export function encoded({ tokenizer, about, model, towers }: TransformerSource, text: string) {
  const whole = tokenizer.encode(text.slice(0, CHARACTERS * about.context));
  const encoding = towers && whole.tokens ? shorten(whole as Encoding, about.context) : whole;
  const cut = whole.ids.length > about.context || text.length > CHARACTERS * about.context;
  const ids = encoding.ids.slice(0, about.context);
  const { vocab } = model.options;
  const wrong = ids.find((id) => id >= vocab);
  if (wrong !== undefined) throw new Problem('noToken', wrong, vocab - 1);
  const pieces = piecesOf(text, { ids, offsets: encoding.offsets });
  pieces.forEach((piece, i) => {
    // Without the sign #, the id of a token would look like a position.
    if (!about.words) piece.name = `#${piece.id}`;
    // Tokens that the tokenizer inserts are not in the text.
    const [from, to] = encoding.offsets[i];
    if (from === to && encoding.tokens) piece.name = encoding.tokens[i];
  });
  return { ids, pieces, cut, typeIds: encoding.typeIds?.slice(0, about.context) };
}

export const pieceOf = (name: string): Piece => ({ id: -1, start: 0, end: 0, space: '', text: '', name });

export const numberedPieces = (count: number, names?: readonly string[] | null) =>
  Array.from({ length: count }, (_, i) => pieceOf(names?.[i] ?? String(i)));

function patchesOf({ patch }: Transformer['options']): Piece[] {
  const { size, image, classTokens } = patch as NonNullable<typeof patch>;
  const [rows, columns] = image.map((side) => Math.floor(side / size));
  const names = Array.from({ length: rows * columns }, (_, i) => `${Math.floor(i / columns)}·${i % columns}`);
  return [...['[class]', '[teacher]'].slice(0, classTokens), ...names].map(pieceOf);
}

/** `part`: of an encoder–decoder. */
export function readRun(source: TransformerSource, run: Run, part?: string): Read {
  const { about, model } = source;
  if (source.sound) return source.sound.read(run, part);
  if (about.reads === 'picture') {
    const pieces = patchesOf(model.options);
    const { data, shape } = source.pixels as Pixels;
    return { pieces, ids: pieces.map((_, i) => i), cut: false, input: { pixels: { data, shape } }, place: 0 };
  }
  if (about.reads === 'pair') return readPair(source, run, part);
  const { ids, pieces, cut, typeIds } = encoded(source, run.text);
  const place = predictingToken(source, ids);
  const types = model.options.tokenTypes > 0 && typeIds ? { typeIds: labels(typeIds) } : {};
  return { pieces, ids, cut, input: { ids: labels(ids), ...types }, place: place >= 0 ? place : null };
}

/** Finds the index of the token that predicts; -1 for none. */
function predictingToken({ about, model, tokenizer }: TransformerSource, ids: number[]) {
  if (about.guess === 'classes' && model.options.pool !== 'last') return Math.min(0, ids.length - 1);
  if (about.guess === 'classes' || about.guess === 'next') return ids.length - 1;
  return about.mask === null ? -1 : ids.indexOf(tokenizer.idOf(about.mask) as number);
}

function readPair(source: TransformerSource, run: Run, part?: string): Read {
  const first = encoded(source, run.text);
  const start = source.model.config?.decoder_start_token_id ?? source.model.config?.pad_token_id ?? 0;
  const second = encoded(source, run.second ?? '');
  // The end token is dropped, because the decoder's text is going to be continued.
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
