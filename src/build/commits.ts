// Checks the form of a commit's subject: `area: verb object`, imperative, at most 72 characters. As a program, it
// checks the message in the file that Git names when it runs the hook `commit-msg`.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MAX_LENGTH = 72;
const FORM = /^[a-z][\w ./,-]*: ([a-z][\w-]*)( .*[^.\s])?$/;
/** Subjects that Git itself writes. */
const BY_GIT = /^(Merge|Revert|fixup!|squash!) /;
/** Imperatives that end like another form of a verb, such as "compress" and "need". */
const IMPERATIVES = new Set(
  'access address bring compress discuss embed express feed focus guess need pass press process shed speed'.split(' '),
);

/** Returns a description of the fault of a subject, or null if the subject is valid. */
export function wrongSubject(subject: string) {
  if (BY_GIT.test(subject)) return null;
  if (subject.length > MAX_LENGTH) return `${subject.length} characters, at most ${MAX_LENGTH}`;
  const verb = FORM.exec(subject)?.[1];
  if (!verb) return 'not of the form `area: verb object`';
  if (/(s|ed|ing)$/.test(verb) && !IMPERATIVES.has(verb)) return `"${verb}" is not an imperative`;
  return null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [subject] = readFileSync(process.argv[2], 'utf8').split('\n');
  const wrong = wrongSubject(subject);
  if (wrong) {
    console.error(`commit: ${subject}\n  ${wrong}. An example: "models: read generation_config.json"`);
    process.exitCode = 1;
  }
}
