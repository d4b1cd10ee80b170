import assert from 'node:assert/strict';
import test from 'node:test';
import { createStore } from '../../../web/model/store.js';

test('a change makes a new object and is told to every listener, with what was before', () => {
  const store = createStore({ a: 1, b: 2 });
  const first = store.get();
  const heard = [];
  const end = store.subscribe((now, before) => heard.push([now, before]));
  store.subscribe(() => heard.push('second'));
  store.set({ a: 3 });
  assert.deepEqual(first, { a: 1, b: 2 });
  assert.deepEqual(heard, [[{ a: 3, b: 2 }, first], 'second']);
  end();
  store.set({ b: 4 });
  assert.deepEqual([store.get(), heard.length], [{ a: 3, b: 4 }, 3]);
});
