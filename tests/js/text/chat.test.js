// Tests chat templates: the texts must equal those of Jinja for the same conversations, and unsupported constructs must
// give an error with the number of the line.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parse } from '../../../src/js/text/chat/parser.js';
import { render } from '../../../src/js/text/chat/render.js';
import { GOLDEN } from '../../support/golden.js';

const folder = join(GOLDEN, 'chat');
const { now, specials, conversations, cases } = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'));
const write = (template, values = {}) => render(parse(template), values, new Date(now));

for (const name of readdirSync(folder).filter((file) => file.endsWith('.jinja')))
  test(`${name}: the texts of all conversations are those of Jinja`, () => {
    const template = readFileSync(join(folder, name), 'utf8');
    const own = cases.filter((c) => c.template === name);
    assert.equal(own.length, Object.keys(conversations).length);
    for (const { conversation, text, refuses } of own) {
      const given = conversations[conversation];
      const values = {
        ...{ tools: null, documents: null, ...specials },
        add_generation_prompt: given.messages.at(-1).role !== 'assistant',
        ...structuredClone(given),
      };
      if (text !== undefined) assert.equal(write(template, values), text, conversation);
      else
        assert.throws(
          () => write(template, values),
          ({ code, message }) => code === 'FORMAT' && message.includes(refuses ?? 'line'),
          conversation,
        );
    }
  });

/** Templates and the texts to which Jinja renders them with trim_blocks and lstrip_blocks. */
const TEXTS = {
  'a{% if 1 %}\nb\n{% endif %}\nc': 'ab\nc',
  '  {% if true %}x{% endif %}': 'x',
  'a\n  {%+ if true %}x{% endif %}': 'a\n  x',
  'a  {{- 1 -}}  b': 'a1b',
  'a{# a\ncomment #}\nb': 'ab',
  '{{ 1 }}\nb': '1\nb',
  '{% if true +%}\nb{% endif %}': '\nb',
  "{{ 'a' 'b' ~ 1 ~ none ~ true }}": 'ab1NoneTrue',
  "{{ [1, 'it''s', {'a': 2.5}, none] }}": "[1, 'its', {'a': 2.5}, None]",
  '{{ "it\'s" | list | length }}': '4',
  '{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** 3 ** 2 }} {{ 1 + 2 * 3 }}': '3 -4 2 64 7',
  '{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ not 1 == 2 }} {{ 1 in [1] and 2 not in [1] }}': 'True False True True',
  "{{ 'a' if false }}|{{ 'a' if false else 'b' }}": '|b',
  '{{ x }}{{ x is defined }}{{ x | default(3) }}{{ none | default(3) }}{{ none | default(3, true) }}': 'False3None3',
  "{{ 'a,b,c'.split(',', 1) }}{{ ' a  b c '.split() }}{{ ' a  b c '.split(none, 1) }}":
    "['a', 'b,c']['a', 'b', 'c']['a', 'b c ']",
  "{{ 'xxaxx'.strip('x') }}{{ 'xxa'.lstrip('x') }}{{ 'aab'.replace('a', 'c', 1) }}": 'aacab',
  "{{ 'HELLO world'.capitalize() }} {{ 'hello world' | title }}": 'Hello world Hello World',
  "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ loop.index }}{{ k }}{{ v }}{{ ';' if not loop.last }}{% endfor %}":
    '1a1;2b2',
  '{% for x in [] %}a{% else %}none{% endfor %}': 'none',
  '{% for x in [3, 4] if x > 3 %}{{ loop.length }}{{ x }}{% endfor %}': '14',
  '{% for x in range(6) %}{% if x == 1 %}{% continue %}{% elif x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}':
    '023',
  '{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}': '1',
  '{% set n = namespace(x=1) %}{% for i in [1] %}{% set n.x = 2 %}{% endfor %}{{ n.x }}': '2',
  '{% set x %}a{{ 1 }}{% endset %}{{ x | upper }}': 'A1',
  "{% macro f(a, b='q') %}[{{ a }}{{ b }}]{% endmacro %}{{ f(1) }}{{ f(2, b=3) }}": '[1q][23]',
  "{{ {'b': [1, true, none], 'a': 'é\"'} | tojson }}": '{"b": [1, true, null], "a": "é\\""}',
  "{{ {'a': [1, {}], 'b': []} | tojson(indent=2) }}": '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}',
  "{{ [{'a': 1, 'b': 'x'}, {'a': 2}] | map(attribute='a') | list }}": '[1, 2]',
  "{{ [{'r': 'u'}, {'r': 's'}] | selectattr('r', 'equalto', 's') | list | length }}": '1',
  "{{ [{'r': 'u'}, {}] | rejectattr('r') | list | length }}": '1',
  "{{ [1, 2, 3] | select('odd') | map('string') | join('-') }}": '1-3',
  '{{ [1, 2, 3][-1] }}{{ [1, 2, 3][1:] }}{{ "abc"[:-1] }}{{ "abc"[::-1] }}{{ [1, 2][::-1] }}': '3[2, 3]abcba[2, 1]',
  "{{ 'b' is in ['a', 'b'] }} {{ 3 is divisibleby 3 }} {{ 'x' is string }} {{ {} is mapping }} {{ 'x' is not none }}":
    'True True True True True',
  '{{ 1 is number and true is boolean and 1.5 is float and x is undefined }}': 'True',
  "{{ 'a\\nb' | indent(2) }}|{{ 'a\\nb' | indent(2, true) }}": 'a\n  b|  a\n  b',
  "{{ '5' | int + 1 }} {{ 'x' | int }} {{ [3, 1, 2] | sort }} {{ [1, 1, 2] | unique | list }}": '6 0 [1, 2, 3] [1, 2]',
  '{{ strftime_now("%d %b %Y %H:%M") }}': '05 Mar 2026 09:07',
  "{% generation %}a{% endgeneration %}{{ '\\u00e9\\x41' }}": 'aéA',
  "{{ ({'a': 1}).get('b', 2) }}{{ {'a': 1}['a'] }}{{ {'items': 3}['items'] }}": '213',
  '{{ (1, 2) | length }}{{ () | length }}{% set a, b = 1, 2 %}{{ b }}': '202',
  "{{ 'a' * 3 }}{{ [1] + [2] }}": 'aaa[1, 2]',
  "{{ {'items': 3}.items is defined }}{{ {'items': 3}.items is number }}": 'TrueFalse',
  '{{ "%" }}{{ "}}" }}{{ {"a": {"b": 1}}["a"]["b"] }}': '%}}1',
};

test('expressions, statements and white space are those of Jinja', () => {
  for (const [template, expected] of Object.entries(TEXTS)) assert.equal(write(template), expected, template);
});

/** Templates that are refused, and the reason with the line. */
const REFUSED = {
  'a\n{% include "x" %}': /line 2 .*the statement "include" is not supported/,
  '\n\n{{ x | nonsense }}': /line 3 .*the filter "nonsense" is not supported/,
  '{{ x is nonsense }}': /line 1 .*the test "nonsense" is not supported/,
  '{{ "a".nonsense() }}': /has no method "nonsense"/,
  '{{ nonsense() }}': /there is no function "nonsense"/,
  '{{ x.y }}': /x is undefined/,
  'a\n{{ 1 +': /line 2 .*the \{\{ is not closed/,
  '{% if true %}a': /expected elif or else or endif/,
  '{% for x in y recursive %}{% endfor %}': /recursive loops are not supported/,
  '{{ f(*x) }}': /spread arguments are not supported/,
  '{{ [1, 2][::2] }}': /only \[::-1\] is supported/,
  '{{ 1 + "a" }}': /\+ does not take a number and a string/,
  '{{ 1 < "a" }}': /have no order/,
  '{{ 1 / 0 }}': /a division by zero/,
  '{{ "a }}': /a text in quotes is not closed/,
  '{{ 1 2 }}': /unexpected "2", expected \}\}/,
  '{% break %}': /break is outside of a loop/,
  '{% set x.y = 1 %}': /x is no namespace/,
  '{% set a, b = [1] %}': /2 values are expected, not 1/,
  '{{ raise_exception("no " + "tools") }}': /it refuses these messages: no tools/,
  '{{ [].append(1) }}': /has no method "append"/,
  '{{ {}.constructor.constructor("return 1")() }}': /undefined/,
  '{{ "a".__proto__.x }}': /__proto__ is undefined/,
  '{{ x.constructor }}': /x is undefined/,
};

test('other constructs are refused, by the line', () => {
  for (const [template, reason] of Object.entries(REFUSED))
    assert.throws(
      () => write(template),
      (error) => error.code === 'FORMAT' && error.parameter === 'chat_template' && reason.test(error.message),
      template,
    );
});

test('templates that would not end are stopped', () => {
  const endless = {
    '{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}': /more than \d+ steps/,
    '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}': /more than 100 nested calls/,
    '{{ range(1000000) }}': /range has more than/,
    [`{{ ${'('.repeat(500)}1${')'.repeat(500)} }}`]: /more than 200 nested parts/,
    "{% set n = namespace(x='a') %}{% for i in range(90) %}{% set n.x = n.x ~ n.x %}{% endfor %}":
      /a text of more than/,
    '{% set n = namespace(x=[1]) %}{% for i in range(90) %}{% set n.x = n.x + n.x %}{% endfor %}':
      /a list of more than/,
    '{% set n = namespace(x=[1]) %}{% for i in range(90) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}':
      /of more than \d+ parts/,
    '{% set n = namespace(x=[1]) %}{% for i in range(90) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x | tojson }}':
      /of more than \d+ parts/,
    '{% set n = namespace(x=[1]) %}{% for i in range(90) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x == n.x }}':
      /of more than \d+ parts/,
    '{{ "a" * 1000000000000 }}': /line 1/,
    '{% for a in range(90000) %}{{ "a" * 100000 }}{% endfor %}': /more than \d+ characters/,
  };
  for (const [template, reason] of Object.entries(endless)) assert.throws(() => write(template), reason, template);
});
