import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { LANGUAGES, languageFor } from '../../../web/model/strings.js';

/** Every path to a text, with its kind: a string, or a function of so many values. */
function paths(value, at = '') {
  if (typeof value === 'string') return [`${at}: text`];
  if (typeof value === 'function') return [`${at}: of ${value.length}`];
  return Object.entries(value).flatMap(([name, part]) => paths(part, `${at}.${name}`));
}

test('every language has every text, and none is empty', () => {
  const expected = paths(LANGUAGES.en).sort();
  for (const [name, strings] of Object.entries(LANGUAGES)) {
    // A text may leave out what it does not need.
    const plain = (list) => list.map((path) => path.replace(/: of \d+$/, ': of some')).sort();
    assert.deepEqual(plain(paths(strings)), plain(expected), name);
    const empty = (value, at) =>
      value === ''
        ? assert.fail(`${name}${at} is empty`)
        : typeof value === 'object' && Object.entries(value).forEach(([key, part]) => empty(part, `${at}.${key}`));
    empty(strings, '');
  }
});

test('Chinese is Chinese: no text is left in English', () => {
  const left = (value, at) =>
    typeof value === 'object'
      ? Object.entries(value).flatMap(([name, part]) => left(part, `${at}.${name}`))
      : typeof value === 'string' && !/[\u4e00-\u9fff→]/.test(value)
        ? [at]
        : [];
  assert.deepEqual(left(LANGUAGES.zh, ''), []);
});

test('every text that the page names exists', () => {
  const html = readFileSync(new URL('../../../web/host/page.html', import.meta.url), 'utf8');
  const named = [...html.matchAll(/data-(?:text|label)="([^"]+)"/g)].map(([, name]) => name);
  assert.ok(named.length > 20);
  for (const name of named) assert.equal(typeof LANGUAGES.en.ui[name], 'string', name);
});

test("the language is the first of the visitor's that there is, English otherwise", () => {
  assert.equal(languageFor(['fr-FR', 'zh-TW', 'en']), 'zh');
  assert.equal(languageFor(['en-GB', 'zh']), 'en');
  assert.equal(languageFor(['fr']), 'en');
  assert.equal(languageFor([]), 'en');
});
