// Tests models that a visitor or a program opens: what is shown, which requests the worker receives, and what a link
// opens.

import assert from 'node:assert/strict';
import test from 'node:test';
import { initialState, MAX_TEXT } from '../../../../web/model/state.ts';
import { createDocument } from '../../../../web/store/document.ts';
import { createOpening } from '../../../../web/store/opening/openModels.ts';

function start(first = {}) {
  const [asked, told] = [[], []];
  const document = createDocument(
    { ...initialState, ...first },
    { onModel() {}, onChange() {}, onState: (state, how) => told.push([state.model, how]) },
  );
  const send = ({ verb, name }) => asked.push([verb, name]);
  const requests = { send, cancel: (verb) => asked.push(['cancel', verb]), show: () => {} };
  const opening = createOpening({ requests, document });
  const hubs = [];
  class Hub {
    constructor(parts, link) {
      Object.assign(this, { parts, link, did: [] });
      hubs.push(this);
    }
    follow = (link) => this.did.push(link.model);
    receive = (part) => this.did.push(part);
    askFirst = () => this.did.push('askFirst');
    takeView = () => ({ text: 'of the Hub' });
  }
  return {
    opening,
    asked,
    told,
    hubs,
    Hub,
    modelOf: () => document.state.value.model,
    textOf: () => document.state.value.text,
  };
}
const about = (name, fields = {}) => ({
  name,
  title: `Title of ${name}`,
  kind: 'transformer',
  reads: 'text',
  parts: [],
  ...fields,
});
const file = (path) => ({
  path,
  file: new File([new Uint8Array(4)], path, { type: path.endsWith('png') ? 'image/png' : '' }),
});

test('an opened model is shown, and the panel describes it if it has guesses', () => {
  const { opening, modelOf } = start();
  opening.parts.opened({ about: about('opened-1'), summary: null });
  assert.deepEqual([modelOf(), opening.panel.value], ['opened-1', 'summary']);
  opening.parts.opened({ about: about('opened-2', { kind: 'weights' }), summary: {} });
  assert.deepEqual([modelOf(), opening.panel.value, opening.opened.value.length], ['opened-2', null, 2]);
});

test('files are read while the panel is open; a picture goes to a model that reads pictures', () => {
  const { opening, asked, modelOf } = start();
  opening.open([file('a.npy')]);
  assert.deepEqual([asked.splice(0), opening.panel.value], [[['open', 'opened-1']], 'choose']);
  opening.open([]);
  assert.deepEqual([asked.splice(0), opening.problem.value.code], [[], 'noFiles']);
  opening.open([file('sun.png')]);
  assert.deepEqual([asked.splice(0), modelOf(), opening.panel.value], [[['picture', 'patches']], 'patches', null]);
  opening.parts.opened({ about: about('opened-7', { reads: 'picture' }), summary: null });
  opening.open([file('sun.png')]);
  assert.deepEqual([asked, modelOf()], [[['picture', 'opened-7']], 'opened-7']);
});

test('a model is closed in the worker; the demo model takes the place of the one that is shown', () => {
  const { opening, asked, modelOf } = start();
  for (const name of ['opened-1', 'opened-2']) opening.parts.opened({ about: about(name), summary: null });
  opening.close('opened-1');
  assert.deepEqual([asked.splice(0), modelOf()], [[['close', 'opened-1']], 'opened-2']);
  opening.close('opened-2');
  assert.deepEqual([asked.splice(0), modelOf(), opening.opened.value], [[['close', 'opened-2']], 'whale', []]);
  opening.parts.opened({ about: about('opened-3'), summary: null });
  assert.deepEqual([opening.drop('opened-3'), opening.drop('opened-3')], ['Title of opened-3', undefined]);
  assert.deepEqual(asked, [['close', 'opened-3']]);
});

test('the weights shown are divided and named under the name of their model', () => {
  const { opening, asked } = start({ model: 'opened-4' });
  opening.nameTokens(['a']);
  opening.splitHeads(2);
  assert.deepEqual(asked, [
    ['nameTokens', 'opened-4'],
    ['split', 'opened-4'],
  ]);
});

test('a text that is too long is cut, and the page says so', () => {
  const { opening, textOf } = start();
  opening.setText('x'.repeat(MAX_TEXT), 'write');
  assert.deepEqual([textOf().length, opening.problem.value], [MAX_TEXT, null]);
  opening.setText('x'.repeat(MAX_TEXT + 1), 'write');
  assert.deepEqual([textOf().length, opening.problem.value.values], [MAX_TEXT, [MAX_TEXT + 1, MAX_TEXT]]);
});

test('a link to a model of the Hub shows the demo model until it is open', () => {
  const link = { ...initialState, model: 'a/b@main', text: 'of the link' };
  const { opening, told, hubs, Hub, modelOf, textOf } = start({ model: 'a/b@main' });
  opening.parts.hub('before the panel is shown');
  opening.follow(link);
  assert.deepEqual([modelOf(), opening.panel.value, told.at(-1)], ['whale', 'choose', ['whale', 'later']]);
  opening.startHub(Hub);
  opening.startHub(Hub);
  assert.deepEqual([hubs.length, hubs[0].link.text], [1, 'of the link']);
  opening.follow(link);
  opening.parts.hub('part');
  assert.deepEqual(hubs[0].did, ['a/b@main', 'part']);
  opening.parts.opened({ about: about('a/b@main'), summary: null });
  assert.deepEqual([modelOf(), textOf(), told.at(-1)], ['a/b@main', 'of the link', ['a/b@main', true]]);
  opening.parts.opened({ about: about('c/d@main'), summary: null });
  assert.deepEqual([modelOf(), textOf()], ['c/d@main', 'of the Hub']);
  opening.forget();
  assert.deepEqual([opening.opened.value, hubs[0].did.at(-1)], [[], 'askFirst']);
});

test('a program replaces its model; the text changes only if the program has set none', () => {
  const { opening, textOf } = start({ model: 'mine', text: 'first' });
  opening.addFromProgram(about('mine'), null, true);
  assert.deepEqual([textOf(), opening.opened.value.length], ['first', 1]);
  opening.addFromProgram(about('other'), null, false);
  assert.equal(textOf(), 'first');
  opening.addFromProgram(about('mine'), null, false);
  assert.notEqual(textOf(), 'first');
  assert.equal(opening.opened.value.length, 2);
});
