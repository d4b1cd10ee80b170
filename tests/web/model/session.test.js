import assert from 'node:assert/strict';
import test from 'node:test';
import {
  chooseExample,
  chooseView,
  differs,
  headAbout,
  headName,
  openFile,
  pin,
  reset,
  startSession,
  whyNothing,
} from '../../../web/model/session.js';
import { change, initialState } from '../../../web/model/state.js';
import { LANGUAGES } from '../../../web/model/strings.js';

const strings = LANGUAGES.en;
const start = (patch = {}) => startSession(change(initialState, patch), 'en');
const answered = (session, shown = { picture: {} }) => ({ ...session, shown, answered: true });

test('what stands in the place of the picture, by what is known', () => {
  const cases = [
    [start(), strings.loading],
    [answered(start()), ''],
    [{ ...start(), error: { message: 'no core' } }, strings.failed('no core')],
    [{ ...answered(start()), error: { cancelled: true } }, strings.cancelled],
    [answered(start({ example: 'own', text: ' \n' }), {}), strings.empty],
    [start({ example: 'learned', text: '' }), strings.empty],
    [start({ example: 'file' }), strings.loading],
    [answered(start({ example: 'file' }), {}), strings.noFile],
    [answered(start({ example: 'file', file: 3 }), {}), strings.noFile],
    [{ ...start(), fileProblem: { code: 'rank', values: ['x', '[1]'] } }, strings.fileProblems.rank('x', '[1]')],
    [{ ...start(), fileProblem: { message: 'lost' } }, strings.failed('lost')],
  ];
  for (const [session, expected] of cases) assert.equal(whyNothing(session, strings), expected);
});

test('a state is pinned and compared, until all is reset', () => {
  let session = answered(start({ example: 'wide', view: 'lines' }));
  session = { ...session, ...pin(session) };
  assert.equal(session.pinned.view, 'lines');
  assert.deepEqual([session.compare, session.state.view], ['difference', 'cells']);
  assert.equal(differs(session), false);
  assert.equal(differs({ ...session, shown: { facts: { differs: true } } }), true);
  session = { ...session, ...chooseView(session, 'side') };
  assert.equal(session.compare, 'side');
  session = { ...session, ...chooseView(session, 'lines') };
  assert.deepEqual([session.compare, session.state.view], ['none', 'lines']);
  session = { ...session, painting: true, fileProblem: { message: 'x' }, ...reset() };
  assert.deepEqual(
    [session.state, session.pinned, session.compare, session.painting, session.fileProblem],
    [initialState, null, 'none', false, null],
  );
});

test('a file that was read is shown with its heads; one that could not be says why, until an example is chosen', () => {
  const session = { ...start({ off: [1], mask: 'causal' }), reading: true };
  const opened = { ...session, ...openFile(session, { given: { id: 4, heads: 3 } }) };
  assert.deepEqual(
    [opened.reading, opened.ownHeads, opened.state.example, opened.state.file, opened.state.heads, opened.state.off],
    [false, true, 'file', 4, 3, []],
  );
  const packed = openFile(session, { given: { id: 5, heads: null } }, { heads: 2, head: 1, mask: 'causal' });
  assert.deepEqual(
    [packed.ownHeads, packed.state.heads, packed.state.head, packed.state.mask],
    [false, 2, 1, 'causal'],
  );
  const failed = { ...session, ...openFile(session, { problem: { code: 'noQuery', values: ['a'] } }) };
  assert.deepEqual([failed.fileProblem.code, failed.state.file], ['noQuery', 0]);
  assert.deepEqual(openFile(session, { error: 'gone' }).fileProblem, { message: 'gone' });
  assert.equal(chooseExample(failed, 'wide').fileProblem, null);
});

test('heads have the names of their example', () => {
  const nameOf = (example, head) => headName(strings, change(initialState, { example }), head);
  assert.equal(nameOf('sentence', 5), 'pronoun → content');
  assert.equal(nameOf('patches', 0), 'same colour');
  assert.equal(nameOf('learned', 5), 'layer 2, head 2');
  assert.equal(nameOf('cross', 5), 'head 6');
  assert.equal(headAbout(strings, initialState, 0), 'Every token looks one step back.');
  assert.equal(headAbout(strings, change(initialState, { example: 'cross' }), 0), '');
});
