// Normalizers change a text before it is split. Each computes edits, from which AlignedText updates the offsets.

import { type AlignedText, type Edit, replaceEach } from './aligned.ts';
import { toByteChars } from './bytelevel.ts';
import type { Fields } from './fields.ts';
import { decomposed, MANY_MARKS } from './marks.ts';
import { fromRegExp, type Pattern, readPattern } from './pattern.ts';
import { precompiled } from './precompiled.ts';

export type Normalizer = (text: AlignedText) => AlignedText;

/**
 * Characters that normalization may combine with the previous one: marks; Korean vowels and final consonants; Korean
 * compatibility and halfwidth letters and halfwidth Japanese voicing marks, which NFKC turns into these; Thai and Lao
 * vowels that NFKC splits into a mark and a letter; and Kirat Rai vowels.
 */
const JOINING = [
  '\\p{M}\u1160-\u11ff\ud7b0-\ud7ff\u3131-\u318e\uff9e\uff9f\uffa0-\uffdc\u0e33\u0eb3',
  '\u{16d63}\u{16d67}-\u{16d6a}',
].join('');
const MARKS = new RegExp(`\\p{M}{${MANY_MARKS}}`, 'u');
const CHINESE = [
  '\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}',
  '\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}',
].join('');

export const editing =
  (edits: (text: string) => Edit[]): Normalizer =>
  (text) =>
    text.edit(edits(text.text));
export const chain =
  (steps: readonly Normalizer[]): Normalizer =>
  (text) =>
    steps.reduce((result, step) => step(result), text);
const replacing = (pattern: Pattern, replace: (match: string) => string) =>
  editing((text) => replaceEach(text, pattern, replace));

/** Reduces an edit by the characters at its beginning and end that do not change. */
function narrow([begin, end, replaced]: Edit, text: string): Edit {
  const [before, after] = [Array.from(text.slice(begin, end)), Array.from(replaced)];
  const fewest = Math.min(before.length, after.length);
  let [head, tail] = [0, 0];
  while (head < fewest && before[head] === after[head]) head++;
  while (tail < fewest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const length = (chars: string[]) => chars.join('').length;
  return [
    begin + length(before.slice(0, head)),
    end - length(before.slice(before.length - tail)),
    after.slice(head, after.length - tail).join(''),
  ];
}

function unicode(form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD') {
  const segments = fromRegExp(new RegExp(`[^][${JOINING}]*`, 'gu'));
  const decomposition = form.includes('K') ? 'NFKD' : 'NFD';
  const normalized = (part: string) =>
    (part.length > MANY_MARKS ? decomposed(part, decomposition) : part).normalize(form);
  return editing((text) => {
    if (!MARKS.test(text) && text.normalize(form) === text) return [];
    return replaceEach(text, segments, normalized).map((edit) => narrow(edit, text));
  });
}

// Each character alone, because toLowerCase of a word has a special case for a final sigma.
export const lowercase = () => replacing(fromRegExp(/\p{Changes_When_Lowercased}/gu), (char) => char.toLowerCase());
const without = (pattern: RegExp) => replacing(fromRegExp(pattern), () => '');

function bert(fields: Fields) {
  const lower = fields.boolean('lowercase', true);
  const steps: Normalizer[] = [];
  if (fields.boolean('clean_text', true))
    steps.push(
      without(/[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/gu),
      replacing(fromRegExp(/\p{White_Space}/gu), () => ' '),
    );
  if (fields.boolean('handle_chinese_chars', true))
    steps.push(replacing(fromRegExp(new RegExp(`[${CHINESE}]`, 'gu')), (char) => ` ${char} `));
  if (fields.boolean('strip_accents', lower)) steps.push(unicode('NFD'), without(/\p{Mn}/gu));
  if (lower) steps.push(lowercase());
  return chain(steps);
}

function replace(fields: Fields) {
  const pattern = readPattern(fields, 'pattern');
  const content = fields.string('content');
  return pattern ? replacing(pattern, () => content) : chain([]);
}

function strip(fields: Fields) {
  const [left, right] = [fields.boolean('strip_left'), fields.boolean('strip_right')];
  const space = /\p{White_Space}/u;
  return editing((text) => {
    let [begin, end] = [0, text.length];
    while (left && begin < end && space.test(text[begin])) begin++;
    while (right && begin < end && space.test(text[end - 1])) end--;
    const edits: Edit[] = [
      [0, begin, ''],
      [end, text.length, ''],
    ];
    return edits.filter(([from, to]) => from < to);
  });
}

function prepend(fields: Fields) {
  const added = fields.string('prepend');
  return editing((text) => (text && added ? [[0, 0, added]] : []));
}

const KINDS: Record<string, (fields: Fields) => Normalizer> = {
  Sequence: (fields) => chain(fields.objects('normalizers').map(readNormalizer)),
  BertNormalizer: bert,
  NFC: () => unicode('NFC'),
  NFD: () => unicode('NFD'),
  NFKC: () => unicode('NFKC'),
  NFKD: () => unicode('NFKD'),
  Lowercase: lowercase,
  StripAccents: () => without(/\p{M}/gu),
  Strip: strip,
  Replace: replace,
  Prepend: prepend,
  Precompiled: (fields) => editing(precompiled(fields)),
  ByteLevel: () => replacing(fromRegExp(/[^]/gu), toByteChars),
};

export const readNormalizer = (fields: Fields): Normalizer => fields.choose('normalizer', KINDS)(fields);
