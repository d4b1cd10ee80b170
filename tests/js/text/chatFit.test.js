// Tests which messages of a chat stay when its text must be short enough.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fit } from '../../../src/js/text/chat/fit.ts';
import { finish } from '../../../src/js/text/chat/render.ts';

/** Makes messages out of letters: s system, d developer, u user, a assistant, t tool. */
const chatOf = (letters) =>
  [...letters].map((letter, i) => ({
    role: { s: 'system', d: 'developer', u: 'user', a: 'assistant', t: 'tool' }[letter],
    content: `${letter}${i}`,
  }));

/** Returns the contents of the messages that stay, and how many texts were written for it. */
function kept(letters, most, room = 0) {
  let texts = 0;
  // A token for each message, and one at the end.
  const measure = { context: most + room, count: (text) => text.split(' ').length };
  const text = finish(
    fit('chat', chatOf(letters), room, measure, function* (messages) {
      texts++;
      yield;
      return `${messages.map(({ content }) => content).join(' ')} .`;
    }),
  );
  return { text, texts };
}

test('a chat that fits stays as it is', () => {
  assert.deepEqual(kept('suauau', 7), { text: 's0 u1 a2 u3 a4 u5 .', texts: 1 });
  assert.deepEqual(kept('u', 2), { text: 'u0 .', texts: 1 });
  assert.deepEqual(kept('suauau', 7, 90), { text: 's0 u1 a2 u3 a4 u5 .', texts: 1 });
});

test('whole turns are left out, the oldest first, and instructions at the beginning stay', () => {
  assert.equal(kept('suauau', 6).text, 's0 u3 a4 u5 .');
  assert.equal(kept('suauau', 5).text, 's0 u3 a4 u5 .');
  assert.equal(kept('suauau', 4).text, 's0 u5 .');
  assert.equal(kept('suauau', 3).text, 's0 u5 .');
  assert.equal(kept('sduauau', 4).text, 's0 d1 u6 .');
  assert.equal(kept('uauau', 2).text, 'u4 .');
});

test('calls of tools, their results and later instructions belong to the turn of the question', () => {
  assert.equal(kept('uatauatasu', 8).text, 'u4 a5 t6 a7 s8 u9 .');
  assert.equal(kept('uatauatasu', 6).text, 'u9 .');
  assert.equal(kept('uauatat', 6).text, 'u2 a3 t4 a5 t6 .');
  assert.equal(kept('sauau', 5).text, 's0 u2 a3 u4 .', 'an answer before the first question is a turn');
});

test('for every length, as many turns as possible stay, and few texts are written', () => {
  const letters = `s${'ua'.repeat(50)}u`;
  for (let most = 3; most <= 103; most++) {
    const { text, texts } = kept(letters, most);
    const words = text.split(' ').length;
    assert.ok(words <= most && words >= Math.min(most - 1, 103), `${most}: ${words}`);
    assert.ok(texts <= 8, `${most}: ${texts} texts`);
  }
});

test('if the newest message does not fit, the error has the code SHAPE and the tokens of that message', () => {
  for (const letters of ['suauau', 'su', 'sauatuau'])
    assert.throws(() => kept(letters, 2, 5), {
      code: 'SHAPE',
      parameter: 'messages',
      got: [3],
      message:
        'chat: messages has shape [3], expected at most 2 tokens: ' +
        'the newest message does not fit the context of 7 tokens with room for 5 more',
    });
});
