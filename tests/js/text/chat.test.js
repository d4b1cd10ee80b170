// Tests chat templates: the texts must equal those of Jinja for the same conversations, and unsupported constructs must
// give an error with the number of the line.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Budget } from '../../../src/js/text/chat/budget.ts';
import { parse } from '../../../src/js/text/chat/parser.ts';
import { finish, finishInPieces, rendering } from '../../../src/js/text/chat/render.ts';
import { GOLDEN } from '../../support/golden.js';

const folder = join(GOLDEN, 'chat');
const { now, specials, conversations, cases } = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'));
const write = (template, values = {}) => finish(rendering(parse(template), values, new Date(now)));

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

/** Constructs of Jinja that no chat template of a published model needs. They are refused. */
const LEFT_OUT = new RegExp(
  [
    String.raw`\| *(forceescape|filesizeformat|random|striptags|urlencode|urlize)\b|\| *(wordwrap|xmlattr)\b`,
    String.raw`autoescape true|d \| pprint|lipsum|is filter|self\.title`,
    String.raw`\.(expandtabs|translate|encode|bit_length|is_integer)\(`,
    // Integers beyond 2^53, complex numbers, and texts that know that they are escaped.
    String.raw`\d{16}|\*\* (53|64)|\(-8\)|\| e (\||is)|\| e\) \+|\\N\{|\.real`,
  ].join('|'),
);

test('constructs of Jinja: 1,200 of 1,256 give the same text or are refused as there', () => {
  const { context, cases } = JSON.parse(readFileSync(join(folder, 'constructs.json'), 'utf8'));
  let same = 0;
  for (const [template, expected] of cases) {
    let text = null;
    try {
      text = write(template, structuredClone(context));
    } catch (error) {
      assert.equal(error.code, 'FORMAT', template);
    }
    if (text === expected) same++;
    else assert.match(template, LEFT_OUT, `${JSON.stringify(text)} is not ${JSON.stringify(expected)}`);
  }
  assert.ok(same >= 1200, `${same} of ${cases.length}`);
});

/** Templates that are refused, and the reason with the line. */
const REFUSED = {
  'a\n{% include "x" %}': /line 2 .*the statement "include" is not supported/,
  '\n\n{{ x | nonsense }}': /line 3 .*the filter "nonsense" is not supported/,
  '{{ x is nonsense }}': /line 1 .*the test "nonsense" is not supported/,
  '{{ "a".nonsense() }}': /nonsense is undefined, so it cannot be called/,
  '{{ nonsense() }}': /nonsense is undefined, so it cannot be called/,
  '{{ x.y }}': /x is undefined/,
  'a\n{{ 1 +': /line 2 .*the \{\{ is not closed/,
  '{% if true %}a': /expected elif or else or endif/,
  '{% for x in [1] %}{{ loop([2]) }}{% endfor %}': /this loop is not recursive/,
  '{{ [1, 2][::0] }}': /the step is 0/,
  '{{ 1 + "a" }}': /\+ does not take an integer and a text/,
  '{{ 1 < "a" }}': /an integer and a text have no order/,
  '{{ 1 / 0 }}': /a division by zero/,
  '{{ 2 ** 60 }}': /an integer beyond 2\^53/,
  '{{ "a }}': /a text in quotes is not closed/,
  '{{ 1 2 }}': /unexpected "2", expected \}\}/,
  '{% break %}': /break is outside of a loop/,
  '{% for x in [1] %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}': /break is outside of a loop/,
  '{% set x.y = 1 %}': /x is no namespace/,
  '{% set a, b = [1] %}': /2 values are expected, not 1/,
  '{{ raise_exception("no " + "tools") }}': /it refuses these messages: no tools/,
  '{{ [].append(1) }}': /append is undefined/,
  '{{ {}.constructor.constructor("return 1")() }}': /undefined/,
  '{{ "a".__proto__.x }}': /__proto__ is undefined/,
  '{{ x.constructor }}': /x is undefined/,
  '{{ "a" | replace("a") }}': /replace needs the argument new/,
  '{{ "a" | trim(1, 2) }}': /trim takes at most 1 arguments/,
  '{{ "a" | trim(width=2) }}': /trim has no argument width/,
};

test('other constructs are refused, by the line', () => {
  for (const [template, reason] of Object.entries(REFUSED))
    assert.throws(
      () => write(template),
      (error) => error.code === 'FORMAT' && error.parameter === 'chat_template' && reason.test(error.message),
      template,
    );
});

/** A template that runs a body for each number below 100,000. */
const often = (body, before = '') => `${before}{% for i in range(100000) %}${body}{% endfor %}`;
const ADDS = '{% set n = namespace(x=[1]) %}';

test('a rendering that reads or writes more than 64 million characters is refused', () => {
  const costly = [
    '{% set n=namespace(l=[]) %}{% for i in range(999) %}{% set n.l=n.l+[("ab"*3**15)|upper] %}{% endfor %}',
    '{% set l="ab"*1000000 %}{% for i in range(50) %}{% set y=l|replace("a","c") %}{% endfor %}x',
    often('{% set y = range(100000) %}'),
    '{% for i in range(2000) %}{% set y = -1 in range(100000) | list %}{% endfor %}',
  ];
  for (const template of costly)
    assert.throws(() => write(template), { code: 'FORMAT', message: /more than 67108864 characters/ }, template);
});

test('every operation is charged for what it reads and writes', () => {
  const self = `${ADDS}{% for i in range(90) %}{% set n.x = [n.x, n.x] %}{% endfor %}`;
  const costly = {
    'nested loops': often(often('')),
    'in a text': often('{% set y = "b" * 40 in p %}', '{% set p = "a" * 1000 %}'),
    'a format': often('{{ strftime_now(p) }}', '{% set p = "%A" * 450 %}'),
    'doubled text': `${ADDS}{% set n.x = 'a' %}${often('{% set n.x = n.x ~ n.x %}')}`,
    'doubled list': `${ADDS}${often('{% set n.x = n.x + n.x %}')}`,
    'a list of itself, written': `${self}{{ n.x }}`,
    'a list of itself as JSON': `${self}{{ n.x | tojson }}`,
    'a list of itself, compared': `${self}{{ n.x == n.x }}`,
    'a list of itself in order': `${self}{{ n.x < n.x }}`,
    repetition: '{{ "a" * 1000000000000 }}',
    'a list repeated': '{{ [1] * 1000000000000 }}',
    output: often('{{ "a" * 1000 }}'),
    padding: '{{ "%99999999999d" % 1 }}',
    'padding by format': '{{ "{:>99999999999}".format(1) }}',
    center: '{{ "a" | center(999999999) }}',
    ljust: '{{ "a".ljust(10 ** 12) }}',
    indent: '{% set l = "a\n" * 1000 %}{{ l | indent(10000) }}',
    batch: '{{ [1] | batch(1000000000, 0) | list }}',
    slice: '{{ [1] | slice(1000000000) | list }}',
    strip: often('{% set y = l.strip() %}', '{% set l = " " * 1000 %}'),
    'an index': often('{% set y = l[i] %}', '{% set l = "😀" * 1000 %}'),
    equality: often('{% set y = l == m %}', '{% set l = "a" * 9999 %}{% set m = "a" * 9999 %}'),
    sort: often('{% set y = l | sort %}', '{% set l = range(1000) | list %}'),
    join: often('{% set y = l | join %}', '{% set l = range(1000) | list %}'),
    map: often('{% set y = l | map("upper") | list %}', '{% set l = ["a"] * 1000 %}'),
    spread: often('{% set y = dict(**l) %}', '{% set l = {"a": 1} %}'),
    split: often('{% set y = l.split("a") %}', '{% set l = "a" * 1000 %}'),
  };
  for (const [name, template] of Object.entries(costly))
    assert.throws(
      () => finish(rendering(parse(template), {}, new Date(now), new Budget(2 ** 20))),
      { code: 'FORMAT', message: /more than 1048576 characters/ },
      name,
    );
});

test('a longer conversation than any model reads is far below the limit', () => {
  const template = readFileSync(join(folder, 'qwen3.jinja'), 'utf8');
  const messages = Array.from({ length: 400 }, (_, i) => ({
    role: i % 2 ? 'assistant' : 'user',
    content: `${i % 2 ? '<think>\nno\n</think>\n\n' : ''}${'The whale is far. '.repeat(100)}`,
  }));
  const text = write(template, { messages, tools: null, add_generation_prompt: false });
  assert.ok(text.length > 700_000);
});

test('what is nested too deeply is refused without an error of the engine', () => {
  const nested = (count) => `${ADDS}{% for i in range(${count}) %}{% set n.x = [n.x] %}{% endfor %}`;
  const deep = {
    '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}': /more than 400 nested parts/,
    '{% for i in [[1]] recursive %}{{ loop([i]) }}{% endfor %}': /more than 400 nested parts/,
    [`{{ ${'('.repeat(500)}1${')'.repeat(500)} }}`]: /more than 200 nested parts/,
    [`{{ ${'not '.repeat(50_000)}1 }}`]: /more than 200 nested parts/,
    [`{{ 'a'${'|trim'.repeat(20_000)} }}`]: /more than 400 nested parts/,
    [`{{ messages${'.a'.repeat(100_000)} }}`]: /more than 400 nested parts/,
    [`{{ 1${'+1'.repeat(100_000)} }}`]: /more than 400 nested parts/,
    [`${nested(5000)}{{ n.x }}`]: /nested deeper than 200 levels/,
    [`${nested(5000)}{{ n.x | tojson(indent=0) }}`]: /nested deeper than 200 levels/,
    [`${nested(5000)}{{ n.x == [1] }}{% set m = n.x %}${nested(4999)}{{ [n.x] == m }}`]:
      /nested deeper than 200 levels/,
    '{{ range(1000000) }}': /range has more than 100000 numbers/,
    '{{ strftime_now("%" * 100000) }}': /at most 1000 characters/,
    [`{{ 1 }}${' '.repeat(2 ** 18)}`]: /more than 262144 characters/,
  };
  for (const [template, message] of Object.entries(deep))
    assert.throws(() => write(template), { code: 'FORMAT', message }, template.slice(0, 60));
  assert.equal(write(`{% if 0 %}${'{% elif 0 %}'.repeat(10_000)}{% else %}a{% endif %}`), 'a');
  assert.equal(write(`{{ 1${' ~ 1'.repeat(10_000)} }}`).length, 10_001);
});

test('a signal is noticed in the middle of a rendering, which takes turns with other work', async () => {
  const long = parse(often('{{ i }}', '{% set n = 1 %}').repeat(2));
  const controller = new AbortController();
  const running = finishInPieces(rendering(long, {}), controller.signal);
  let turns = 0;
  const count = setInterval(() => ++turns === 3 && controller.abort(new Error('enough')));
  await assert.rejects(running, /^Error: enough$/);
  clearInterval(count);
  assert.equal(turns, 3);
  const { signal } = new AbortController();
  const inPieces = (template) => finishInPieces(rendering(parse(template), {}), signal);
  const text = await inPieces('{% for i in range(9) %}{{ i }}{% endfor %}');
  assert.equal(text, '012345678');
  await assert.rejects(inPieces('{{ x.y }}'), { code: 'FORMAT' });
});
