// Rules for the words of comments and names. Each finding is a line number with what is wrong.

const HEADLESS = '(What|Of|Whoever|Those|Whether)';
/** A sentence that begins with one of these words is usually a relative clause without its subject. */
const [AT_BEGINNING, WITHIN] = [new RegExp(`^${HEADLESS}\\b`), new RegExp(`[.:!] ${HEADLESS} `)];
/** Words without a common technical meaning, each with its replacements. */
const PRIVATE: [RegExp, string][] = [
  [/\bwhoever\b/i, 'whoever: a user, a caller'],
  [/(?<!')\bbeside\b(?!')/i, 'beside: next to, with'],
];
const NAMES = /\b(MOST|LEAST)_[A-Z]+/;
const IS_COMMENT = /^\s*(?:\/\/|\/\*\*?|\*(?!\/)|#(?!!))\s?(.*?)(?:\*\/)?$/;
const AFTER_CODE = /(?:^|\s)(?:\/\/|\/\*\*)\s(.*?)(?:\*\/)?$/;

/** Returns the comment on a line, or null if there is none. */
function commentOn(line: string, hashes: boolean) {
  const whole = IS_COMMENT.exec(line);
  if (whole) return /^\s*#/.test(line) && !hashes ? null : whole[1].trim();
  return hashes ? null : (AFTER_CODE.exec(line)?.[1].trim() ?? null);
}

/**
 * True if a comment has a sentence without a subject.
 * @param begins a sentence
 */
function isHeadless(comment: string, begins: boolean) {
  const text = comment.replace(/^@\w+ (\{[^}]*\} )?(\[?[\w.=' ]+\]? )?/, '');
  return !text.includes('?') && ((begins && AT_BEGINNING.test(text)) || WITHIN.test(text));
}

/**
 * Returns the lines of a program that break the rules.
 * @param options hashes: true if comments begin with #
 */
export function findWords(
  text: string,
  { hashes = false }: { hashes?: boolean } = {},
): { line: number; reason: string }[] {
  const found: { line: number; reason: string }[] = [];
  let begins = true;
  text.split('\n').forEach((line, i) => {
    const comment = commentOn(line, hashes);
    const add = (reason: string) => found.push({ line: i + 1, reason });
    if (NAMES.test(line)) add('use MAX and MIN in names of limits');
    if (comment !== null) {
      if (isHeadless(comment, begins)) add('a sentence without a subject');
      for (const [word, reason] of PRIVATE) if (word.test(comment)) add(reason);
    }
    begins = comment === null || comment === '' || /[.:!?}]$/.test(comment) || comment.startsWith('@');
  });
  return found;
}
