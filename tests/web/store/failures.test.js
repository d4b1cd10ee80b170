// Tests failures of requests, of models and of the worker, and what the page shows after them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { initialState } from '../../../web/model/state.ts';
import { createContinuation } from '../../../web/store/continuation.ts';
import { createDocument } from '../../../web/store/document.ts';
import { createFailures } from '../../../web/store/failures.ts';
import { createModelChoice } from '../../../web/store/opening/modelChoice.ts';
import { createOpenedModels } from '../../../web/store/opening/openedModels.ts';

function start({ state = {}, earlier = null, last = null, opened = [], title = null } = {}) {
  const done = [];
  const note = (name) => (given) => void done.push([name, given]);
  const told = [];
  const document = createDocument(
    { ...initialState, ...state },
    { onModel() {}, onChange() {}, onState: (now, how) => told.push([now.model, how]) },
  );
  const { actions, ...failures } = createFailures({
    document,
    answers: { restore: () => earlier },
    waiting: { fail: note('failedRun'), lastState: () => last },
    preferences: {
      words: signal({
        others: { patches: ['Patches'] },
        problems: { tooLong: (n) => `${n} is too much` },
        endedAgain: 'ended again',
      }),
    },
    opening: {
      opened: signal(opened),
      drop: () => title,
      follow: note('follow'),
      failed: note('failed'),
      choose: (model) => document.update({ model }),
    },
    showAgain: note('show'),
    restart: note('restart'),
  });
  return { ...actions, ...failures, done, document, told };
}

test('a failure has the text of its code, or its message, until it is tried again', () => {
  const { onError, failure, retry, done } = start();
  onError({ verb: 'trace', message: 'm', code: 'tooLong', values: [7] });
  assert.equal(failure.value, '7 is too much');
  onError({ verb: 'trace', message: 'm' });
  assert.equal(failure.value, 'm');
  retry();
  assert.deepEqual([failure.value, done], [null, [['restart', undefined]]]);
});

test('a model that cannot be shown gives way to the one before, and is named', () => {
  const earlier = { past: [], now: { ...initialState, model: 'constructed' }, future: [], gesture: null };
  for (const [title, model, named] of [
    ['Mine', 'opened-1', 'Mine'],
    [null, 'patches', 'Patches'],
    [null, 'unknown', 'unknown'],
  ]) {
    const { onError, failure, refused, done, document, dismissRefused } = start({ state: { model }, earlier, title });
    onError({ verb: 'show', message: 'why' });
    assert.deepEqual([failure.value, refused.value], [null, { title: named, why: 'why' }]);
    assert.deepEqual([document.state.value.model, done], ['constructed', [['show', undefined]]]);
    dismissRefused();
    assert.equal(refused.value, null);
  }
  const { onError, failure, refused, clear, done } = start();
  onError({ verb: 'show', message: 'why' });
  assert.deepEqual([failure.value, refused.value], ['why', null]);
  assert.deepEqual(done, [['failedRun', 'why']]);
  clear();
  assert.equal(failure.value, null);
});

test('Stop returns to the state of the last complete run, or else to the previous model', () => {
  const before = { ...initialState, text: 'before' };
  const one = start({ state: { text: 'new' }, last: before });
  one.stopRun();
  assert.equal(one.document.state.value.text, 'before');
  one.document.undo();
  assert.equal(one.document.state.value.text, 'new', 'the new text can be restored');
  const earlier = { past: [], now: { ...initialState, model: 'constructed' }, future: [], gesture: null };
  const other = start({ state: { model: 'opened-1' }, earlier });
  other.stopRun();
  assert.deepEqual([other.document.state.value.model, other.done], ['constructed', [['show', undefined]]]);
});

test('failures of files and of the Hub belong to the panel that opens them', () => {
  for (const verb of ['open', 'pictureOf', 'hubOpen']) {
    const { onError, failure, done } = start();
    onError({ verb, message: 'm' });
    assert.deepEqual([failure.value, done[0][0]], [null, 'failed'], verb);
  }
  const { onError, done, failure } = start();
  onError({ verb: 'openAtlas', message: 'm' });
  assert.deepEqual([failure.value, done], ['m', []]);
});

test('an opened model that is gone is replaced by the demo model; one of the Hub is looked up', () => {
  const { onError, done, told } = start({ state: { model: 'opened-3' } });
  onError({ verb: 'show', message: 'm', code: 'gone' });
  assert.deepEqual([done[0][0], told], ['failed', [['whale', true]]]);
  const hub = start({ state: { model: 'a/b@main' } });
  hub.onError({ verb: 'show', message: 'm', code: 'gone' });
  assert.deepEqual([hub.done.map(([name]) => name), hub.done[0][1].model, hub.told], [['follow'], 'a/b@main', []]);
});

test('a worker that ends is started again once, and what is lost is named', () => {
  const opened = [{ about: { name: 'opened-1', title: 'Mine' } }, { about: { name: 'opened-2' } }];
  const { onEnd, ended, failure, done, dismissEnded } = start({ opened });
  onEnd(true);
  assert.deepEqual([ended.value, failure.value], [{ lost: ['Mine', ''], training: false }, null]);
  assert.deepEqual(done, [['restart', undefined]]);
  dismissEnded();
  assert.equal(ended.value, null);
  onEnd(false);
  assert.deepEqual([ended.value, failure.value, done.length], [null, 'ended again', 1]);
  const training = start({ state: { model: 'trained' } });
  training.onEnd(true);
  assert.equal(training.ended.value.training, true);
});

test('what the model writes is added to the text until the visitor changes something', () => {
  const asked = [];
  const requests = { send: (request) => asked.push(request), cancel: (verb) => asked.push({ cancel: verb }) };
  const { document } = start({ state: { text: 'At', written: null } });
  const { write, receive } = createContinuation({ document, requests });
  write();
  assert.deepEqual([asked[0].verb, asked[0].max, asked[0].state.text], ['generate', 24, 'At']);
  receive({ text: ' sea', isAnswer: false });
  receive({ text: ' sea the', isAnswer: false });
  assert.deepEqual([document.state.value.text, document.state.value.written], ['At sea the', 2]);
  write(1);
  receive({ text: ' first', isAnswer: false });
  assert.deepEqual([document.state.value.text, document.state.value.written], ['At sea the first', 2]);
  document.update({ text: 'At sea' });
  receive({ text: ' first mate', isAnswer: false });
  assert.deepEqual([document.state.value.text, asked.at(-1)], ['At sea', { cancel: 'generate' }]);
  write();
  document.update({ model: 'constructed', text: 'At sea' });
  receive({ text: ' the', isAnswer: false });
  assert.equal(document.state.value.text, 'At sea');
});

test('the answer of an encoder–decoder is written as a whole until the visitor changes it', () => {
  const asked = [];
  const requests = { send: (request) => asked.push(request), cancel: (verb) => asked.push({ cancel: verb }) };
  const { document } = start({ state: { text: 'At sea', second: 'En' } });
  const { write, receive } = createContinuation({ document, requests });
  const answer = (text) => receive({ text, isAnswer: true });
  write();
  answer('En');
  answer('En mer');
  assert.deepEqual([document.state.value.text, document.state.value.second], ['At sea', 'En mer']);
  document.update({ second: 'Sur' });
  answer('En mer la');
  assert.deepEqual([document.state.value.second, asked.at(-1)], ['Sur', { cancel: 'generate' }]);
});

test('each model has the text that it has read before; opened models are listed', () => {
  const { document } = start({ state: { text: 'first' } });
  const { opened, add, remove, aboutOf, clear } = createOpenedModels();
  const about = { name: 'opened-1', reads: 'text' };
  add({ about });
  add({ about: { name: 'opened-2' } });
  assert.deepEqual([aboutOf('opened-1'), aboutOf('opened-3')], [about, null]);
  remove('opened-2');
  assert.deepEqual(opened.value, [{ about }]);
  const { choose, firstText, restoreText } = createModelChoice({ ...document, aboutOf });
  choose('constructed');
  const own = document.state.value.text;
  assert.notEqual(own, 'first');
  document.update({ text: 'second' });
  choose('whale', { layer: 2 });
  assert.deepEqual([document.state.value.text, document.state.value.layer], ['first', 2]);
  choose('constructed');
  assert.equal(document.state.value.text, 'second');
  assert.equal(firstText().text, own);
  restoreText();
  assert.equal(document.state.value.text, own);
  clear();
  assert.deepEqual(opened.value, []);
});
