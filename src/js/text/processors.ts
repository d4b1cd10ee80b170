// Post-processors add special tokens to one text or a pair of texts, such as [CLS] … [SEP] … [SEP].

import { type Fields, fieldError } from './fields.ts';
import { MAX_ID } from './vocabulary.ts';

/** Offsets are [begin, end] in UTF-16 units of the text, or [0, 0] for special tokens that a template adds. */
export type Encoding = {
  ids: number[];
  tokens: string[];
  offsets: [begin: number, end: number][];
  typeIds: number[];
};
/** one text of the input, or special tokens with text '' */
export type Part = Encoding & { text: string };
/** has one or two texts as its argument */
export type Processor = (parts: Part[]) => Part[];
export type Special = { ids: number[]; tokens: string[] };
/** of a template */
export type Piece = { part: number; typeId: number } | { special: Special; typeId: number };

/** Leading and trailing spaces of a token. Ġ is the byte-level space; added tokens have real spaces. */
const SPACES_AROUND = [/^[Ġ\p{White_Space}]+/u, /(?<![Ġ\p{White_Space}])[Ġ\p{White_Space}]+$/u];
const SPACE = /\p{White_Space}/u;
/** Maximum number of tokens that a template adds. */
const MAX_TOKENS = 1024;
/** Maximum number of occurrences of texts in a template. */
const MAX_COPIES = 4;

const specialPart = ({ ids, tokens }: Special, typeId: number): Part => ({
  text: '',
  ids,
  tokens,
  offsets: ids.map(() => [0, 0]),
  typeIds: ids.map(() => typeId),
});

const withType = (part: Part, typeId: number): Part => ({ ...part, typeIds: part.ids.map(() => typeId) });

/** templates: for one text and for two */
const filling =
  (templates: Piece[][]): Processor =>
  (parts) =>
    templates[parts.length - 1].map((piece) =>
      'special' in piece ? specialPart(piece.special, piece.typeId) : withType(parts[piece.part], piece.typeId),
    );

function readSpecials(fields: Fields): Map<string, Special> {
  const specials = fields.object('special_tokens');
  return new Map(
    Array.from(fields.map('special_tokens').keys(), (name) => {
      const special = specials.object(name);
      const [ids, tokens] = [special.list('ids'), special.list('tokens')];
      if (!ids.every((id) => Number.isSafeInteger(id) && Number(id) >= 0 && Number(id) <= MAX_ID))
        throw special.error('ids', `integers from 0 to ${MAX_ID}`);
      if (tokens.length !== ids.length || !tokens.every((token) => typeof token === 'string'))
        throw special.error('tokens', `${ids.length} texts`);
      return [name, { ids, tokens } as Special];
    }),
  );
}

function template(fields: Fields): Processor {
  const specials = readSpecials(fields);
  const read = (name: string, texts: readonly string[]): Piece[] =>
    fields.objects(name).map((piece) => {
      if (piece.get('Sequence') !== null) {
        const sequence = piece.object('Sequence');
        return {
          part: texts.indexOf(sequence.word('id', texts)),
          typeId: sequence.integer('type_id', { fallback: 0 }),
        };
      }
      const token = piece.object('SpecialToken');
      const special = specials.get(token.string('id'));
      if (!special) throw token.error('id', `one of special_tokens`);
      return { special, typeId: token.integer('type_id', { fallback: 0 }) };
    });
  const readLimited = (name: string, texts: readonly string[]) => {
    const pieces = read(name, texts);
    const special = pieces.reduce((sum, piece) => sum + ('special' in piece ? piece.special.ids.length : 0), 0);
    if (Math.max(special, pieces.length) > MAX_TOKENS) throw fields.error(name, `at most ${MAX_TOKENS} tokens`);
    if (pieces.filter((piece) => 'part' in piece).length > MAX_COPIES)
      throw fields.error(name, `at most ${MAX_COPIES} sequences`);
    return pieces;
  };
  return filling([readLimited('single', ['A']), readLimited('pair', ['A', 'B'])]);
}

/** Reads a token and its id, such as ["[SEP]", 102]. */
function readPair(fields: Fields, name: string, typeId: number): Piece {
  const [token, id, ...more] = fields.list(name);
  if (
    typeof token !== 'string' ||
    !Number.isSafeInteger(id) ||
    Number(id) < 0 ||
    Number(id) > MAX_ID ||
    more.length > 0
  )
    throw fieldError(fields.pathOf(name), fields.get(name), 'a token and its id');
  return { special: { ids: [Number(id)], tokens: [token] }, typeId };
}

function bert(fields: Fields): Processor {
  const [cls, sep] = [readPair(fields, 'cls', 0), readPair(fields, 'sep', 0)];
  const first = [cls, { part: 0, typeId: 0 }, sep];
  return filling([first, [...first, { part: 1, typeId: 1 }, readPair(fields, 'sep', 1)]]);
}

/** Returns the processor of RoBERTa. Both texts have type 0, with two separators between them. */
function roberta(fields: Fields): Processor {
  const [cls, sep] = [readPair(fields, 'cls', 0), readPair(fields, 'sep', 0)];
  const first = [cls, { part: 0, typeId: 0 }, sep];
  const [trim, fill] = [byteLevel(fields), filling([first, [...first, sep, { part: 1, typeId: 0 }, sep]])];
  return (parts) => fill(trim(parts));
}

/** Returns a processor that excludes spaces from the offsets of byte-level tokens. */
function byteLevel(fields: Fields): Processor {
  if (!fields.boolean('trim_offsets', true)) return (parts) => parts;
  const prefix = fields.boolean('add_prefix_space', true);
  return (parts) => parts.map((part) => ({ ...part, offsets: part.tokens.map((_, i) => trimmed(part, i, prefix)) }));
}

/** prefix: true if the pre-tokenizer has added a space at the start */
function trimmed({ text, tokens, offsets }: Part, i: number, prefix: boolean): [begin: number, end: number] {
  let [begin, end] = offsets[i];
  let [leading, trailing] = SPACES_AROUND.map((spaces) => [...(spaces.exec(tokens[i])?.[0] ?? '')].length);
  // A single leading space at the start is the space that the pre-tokenizer has added, which is not in the text.
  if (leading === 1 && prefix && (i === 0 || begin === 0)) leading = 0;
  for (; leading > 0 && begin < end && SPACE.test(text[begin]); leading--) begin++;
  for (; trailing > 0 && begin < end && SPACE.test(text[end - 1]); trailing--) end--;
  return [begin, end];
}

function sequence(fields: Fields): Processor {
  const list = fields.objects('processors');
  const templates = list.filter((each) => each.get('type') !== 'ByteLevel');
  if (templates.length > 1) throw fields.error('processors', 'at most one that adds tokens');
  const steps = list.map(readProcessor);
  return (parts) => steps.reduce((result, step) => step(result), parts);
}

const KINDS: Record<string, (fields: Fields) => Processor> = {
  TemplateProcessing: template,
  BertProcessing: bert,
  RobertaProcessing: roberta,
  ByteLevel: byteLevel,
  Sequence: sequence,
};

export const readProcessor = (fields: Fields): Processor => fields.choose('post-processor', KINDS)(fields);
