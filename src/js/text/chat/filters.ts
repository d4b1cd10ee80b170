// The filters of a template, as those of Jinja.

import { type Budget, Fault } from './budget.ts';
import { testNamed } from './checks.ts';
import { type Builtin, define } from './define.ts';
import { defined, fixed, formatPercent } from './format.ts';
import { calculate, fieldOf } from './operators.ts';
import { capitalize, center, joined, lines, replace, strip } from './texts.ts';
import {
  characters,
  Dict,
  float,
  hash,
  integer,
  isFloat,
  isKind,
  isSequence,
  isTrue,
  list,
  mark,
  nameOf,
  number,
  numeric,
  order,
  pairsOf,
  text,
  tuple,
  Undefined,
} from './values.ts';
import { represent, toJson, write } from './write.ts';

export function filterNamed(name: string): Builtin {
  const filter = FILTERS.get(name);
  if (!filter) throw new Fault(`the filter ${JSON.stringify(name)} is not supported`);
  return filter;
}

const lazy = (items: any[]) => mark(items, 'lazy');

/** Returns a field of an item by a path such as 'a.b' or 0. */
function attributeOf(budget: Budget, item: any, path: unknown, standard: unknown = null) {
  let value = item;
  for (const part of typeof path === 'string' ? path.split('.') : [path]) {
    value = fieldOf(budget, value, typeof part === 'string' && /^\d+$/.test(part) ? Number(part) : part);
    if (value instanceof Undefined && standard !== null) value = standard;
  }
  return value;
}

/** Returns a function that reads the key by which items are compared. isExact: true to tell upper from lower case. */
const keyOf = (budget: Budget, attribute: unknown, isExact: unknown, standard?: unknown) => (item: unknown) => {
  const value = (attribute ?? null) === null ? item : attributeOf(budget, item, attribute, standard);
  return typeof value === 'string' && !isExact ? budget.text(value).toLowerCase() : value;
};

function sorted(budget: Budget, items: any[], key: (item: unknown) => unknown, reverse = false) {
  const keys = budget.list(items).map((item, i) => ({ key: defined(key(item)), i }));
  const sign = reverse ? -1 : 1;
  return keys.sort((a, b) => sign * order(budget, a.key, b.key)).map(({ i }) => items[i]);
}

/** Returns the key of a sort by several attributes, such as 'age,name'. */
function sortKey(budget: Budget, attribute: any, isExact: unknown) {
  const paths = typeof attribute === 'string' ? attribute.split(',') : [attribute];
  const keys = paths.map((path) => keyOf(budget, path, isExact));
  return (item: unknown) => (keys.length === 1 ? keys[0](item) : keys.map((key) => key(item)));
}

/** sign: −1 for the least, 1 for the largest */
const extreme = (sign: number) => (budget: Budget, value: unknown, isExact?: unknown, attribute?: unknown) => {
  const key = keyOf(budget, attribute, isExact);
  const items = list(budget, value);
  if (items.length === 0) return new Undefined('an item of an empty list');
  return items.reduce((best, item) => (sign * order(budget, key(item), key(best)) > 0 ? item : best));
};

/**
 * Selects items by a test, or those that are true. keeps: items that pass, or the others; ofField: tests a field of
 * each.
 */
const selecting =
  (keeps: boolean, ofField: boolean) => (budget: Budget, value: unknown, args: any[], named: Map<string, any>) => {
    const [field, name, ...rest] = ofField ? args : [undefined, ...args];
    if (ofField && field === undefined) throw new Fault('a field is expected');
    const test = name === undefined ? (_: any, one: any) => isTrue(one) : testNamed(name);
    const passes = (item: any) =>
      Boolean(test(budget, ofField ? attributeOf(budget, item, field) : item, rest, named)) === keeps;
    return lazy(list(budget, value).filter(passes));
  };

function map(budget: Budget, value: unknown, args: any[], named: Map<string, any>) {
  if (args.length === 0 && named.has('attribute')) {
    const standard = named.get('default') ?? null;
    return lazy(list(budget, value).map((item) => attributeOf(budget, item, named.get('attribute'), standard)));
  }
  const [name, ...rest] = args;
  const filter = filterNamed(text(name));
  return lazy(list(budget, value).map((item) => filter(budget, item, rest, named)));
}

function groupBy(budget: Budget, value: unknown, attribute: unknown, standard: unknown, isExact: unknown) {
  const key = keyOf(budget, attribute, isExact, standard);
  const original = keyOf(budget, attribute, true, standard);
  const groups: Map<unknown, any[]> = new Map();
  for (const item of sorted(budget, list(budget, value), key)) {
    const known = hash(key(item));
    groups.set(known, [...(groups.get(known) ?? []), item]);
  }
  return Array.from(groups.values(), (items) =>
    mark([original(items[0]), items], 'tuple', { names: ['grouper', 'list'] }),
  );
}

const NUMBER = /^[-+]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

function readFloat(budget: Budget, value: any): number | undefined {
  const known = numeric(defined(value));
  if (known !== undefined || typeof value !== 'string') return known;
  const given = strip(budget.text(value), null).toLowerCase();
  const word = /^([-+]?)(inf|infinity|nan)$/.exec(given);
  if (word) return word[2] === 'nan' ? Number.NaN : word[1] === '-' ? -Infinity : Infinity;
  return NUMBER.test(given) ? Number(given.replaceAll('_', '')) : undefined;
}

function toInteger(budget: Budget, value: any, standard: unknown = 0, base = 10) {
  if (typeof value === 'string' && base !== 10) {
    const digits = strip(budget.text(value), null)
      .toLowerCase()
      .replace(/^([-+]?)0[xob]/, '$1');
    const read = Number.parseInt(digits, base);
    const isWhole =
      /^[-+]?[\da-z]+$/.test(digits) && [...digits.replace(/^[-+]/, '')].every((c) => Number.parseInt(c, base) >= 0);
    if (isWhole && Number.isSafeInteger(read)) return read;
  }
  const read = Math.trunc(readFloat(budget, value) ?? Number.NaN);
  return Number.isSafeInteger(read) ? read + 0 : standard;
}

function round(value: any, precision = 0, method = 'common') {
  const [given, factor] = [number(value), 10 ** precision];
  if (method === 'ceil' || method === 'floor') return float(Math[method](given * factor) / factor);
  if (method !== 'common') throw new Fault(`round has no method ${method}`);
  const size = Math.abs(given);
  const rounded = precision < 0 ? Math.round(size * factor) / factor : Number(fixed(size, Math.min(precision, 100)));
  const result = given < 0 ? -rounded : rounded;
  return isFloat(value) ? float(result) : result;
}

const ESCAPES = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
} as Record<string, string>;

const escaped = (budget: Budget, value: unknown) =>
  write(budget, value).replace(/[&<>'"]/g, (char) => {
    budget.items(1);
    return ESCAPES[char];
  });

function indent(
  budget: Budget,
  value: string,
  width: number | string = 4,
  first: unknown = false,
  blank: unknown = false,
) {
  const margin = typeof width === 'string' ? width : ' '.repeat(Math.min(Math.max(integer(width), 0), 10_000));
  const all = lines(budget, `${value}\n`, false);
  budget.spend(all.length * (margin.length + 1));
  return all
    .map((line, i) => ((i > 0 && (line || isTrue(blank))) || (i === 0 && isTrue(first)) ? margin + line : line))
    .join('\n');
}

function json(
  budget: Budget,
  value: any,
  ascii: any = false,
  indented: any = null,
  separators: any = null,
  sorts: any = false,
) {
  const [item, colon] = separators === null ? [indented === null ? ', ' : ',', ': '] : separators.map(text);
  const width =
    typeof indented === 'string' || indented === null ? 0 : Math.min(Math.max(integer(indented), 0), 10_000);
  const margin = indented === null ? undefined : typeof indented === 'string' ? indented : ' '.repeat(width);
  return toJson(budget, value, { ascii: isTrue(ascii), indent: margin, item, colon, sorts: isTrue(sorts) });
}

function truncate(budget: Budget, value: string, length = 255, cuts: unknown = false, end = '...', leeway = 5) {
  const chars = characters(budget, value);
  if (chars.length <= length + leeway) return value;
  const short = chars.slice(0, Math.max(length - end.length, 0)).join('');
  const space = short.lastIndexOf(' ');
  return (isTrue(cuts) || space < 0 ? short : short.slice(0, space)) + end;
}

/** Returns lists of a number of items each. */
function batch(budget: Budget, items: any[], size: number, fill: unknown) {
  if (integer(size) < 1) throw new Fault('a batch has at least one item');
  budget.items((4 * items.length) / size);
  const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
  const last = batches.at(-1);
  if (last && (fill ?? null) !== null) {
    budget.items(size);
    while (last.length < size) last.push(fill);
  }
  return lazy(batches);
}

/** Returns a number of lists. */
function slices(budget: Budget, items: any[], count: number, fill: unknown) {
  budget.items(integer(count));
  const [least, more] = [Math.floor(items.length / count), items.length % count];
  let at = 0;
  return lazy(
    Array.from({ length: count }, (_, i) => {
      const part = items.slice(at, (at += least + Number(i < more)));
      return (fill ?? null) !== null && i >= more ? [...part, fill] : part;
    }),
  );
}

function lengthOf(budget: Budget, value: any) {
  if (typeof value === 'string') return characters(budget, value).length;
  if (isSequence(value) || isKind(value, 'view')) return value.length;
  if (value instanceof Undefined) return 0;
  if (value instanceof Dict) return value.size;
  throw new Fault(`${nameOf(value)} has no length`);
}

function dictSort(budget: Budget, value: any, isExact = false, by = 'key', reverse = false) {
  const at = ['key', 'value'].indexOf(by);
  if (at < 0 || !(value instanceof Dict)) throw new Fault('dictsort takes a dictionary, by key or value');
  return sorted(budget, pairsOf(budget, value), keyOf(budget, at, isExact), isTrue(reverse));
}

const reversed = (budget: Budget, value: any) =>
  typeof value === 'string' ? characters(budget, value).reverse().join('') : lazy([...list(budget, value)].reverse());

function unique(budget: Budget, value: unknown, isExact: unknown, attribute: unknown) {
  const key = keyOf(budget, attribute, isExact);
  const known = new Map();
  for (const item of list(budget, value)) {
    budget.items(4);
    const one = hash(key(item));
    if (!known.has(one)) known.set(one, item);
  }
  return lazy([...known.values()]);
}

const written = (change: (value: string) => string) => (budget: Budget, value: unknown) =>
  change(budget.text(write(budget, value)));
const ends = (at: number) => (budget: Budget, value: any) => {
  const item = isKind(value, 'lazy') && at === 0 ? value.shift() : list(budget, value).at(at);
  return item === undefined ? new Undefined('an item of an empty list') : item;
};

const FILTERS = define({
  abs: (_, value) => (isFloat(value) ? float(Math.abs(number(value))) : Math.abs(number(value))),
  'attr name': (budget, value, name) =>
    value instanceof Dict && fieldOf(budget, value, name, true) === value.get(name)
      ? new Undefined(name)
      : fieldOf(budget, value, name, true),
  'batch linecount fill_with?': (budget, value, size, fill) => batch(budget, list(budget, value), size, fill),
  capitalize: written(capitalize),
  'center width?': (budget, value, width) => center(budget, write(budget, value), width),
  'default|d default_value? boolean?': (_, value, standard = '', orFalse = false) =>
    value instanceof Undefined || (isTrue(orFalse) && !isTrue(value)) ? standard : value,
  'dictsort case_sensitive? by? reverse?': dictSort,
  'escape|e': escaped,
  first: ends(0),
  'float default?': (budget, value, standard = float(0)) => {
    const read = readFloat(budget, value);
    return read === undefined ? standard : float(read);
  },
  'format *': (budget, value, args, named) =>
    formatPercent(budget, text(value), named.size > 0 ? new Dict(named) : tuple([...args])),
  'groupby attribute default? case_sensitive?': groupBy,
  'indent width? first? blank?': (budget, value, ...options) => indent(budget, write(budget, value), ...options),
  'int default? base?': toInteger,
  items: (budget, value) => {
    if (value instanceof Undefined) return lazy([]);
    if (!(value instanceof Dict)) throw new Fault(`a dictionary is expected, not ${nameOf(value)}`);
    return lazy(pairsOf(budget, value));
  },
  'join d? attribute?': (budget, value, separator = '', attribute = null) => {
    const items = list(budget, value).map((item) => (attribute === null ? item : attributeOf(budget, item, attribute)));
    return joined(
      budget,
      items.map((item) => write(budget, item)),
      write(budget, separator),
    );
  },
  last: ends(-1),
  'length|count': lengthOf,
  list: (budget, value) => [...list(budget, value)],
  lower: written((value) => value.toLowerCase()),
  upper: written((value) => value.toUpperCase()),
  'map *': map,
  'max case_sensitive? attribute?': extreme(1),
  'min case_sensitive? attribute?': extreme(-1),
  pprint: (budget, value) => represent(budget, value),
  'reject *': selecting(false, false),
  'rejectattr *': selecting(false, true),
  'replace old new count?': (budget, value, from, to, count = -1) =>
    replace(budget, write(budget, value), write(budget, from), write(budget, to), count ?? -1),
  reverse: reversed,
  'round precision? method?': (_, value, precision, method) => round(value, precision, method),
  'select *': selecting(true, false),
  'selectattr *': selecting(true, true),
  'slice slices fill_with?': (budget, value, count, fill) => slices(budget, list(budget, value), count, fill),
  'sort reverse? case_sensitive? attribute?': (budget, value, reverse, isExact, attribute) =>
    sorted(budget, list(budget, value), sortKey(budget, attribute, isTrue(isExact ?? null)), isTrue(reverse ?? null)),
  'string|safe': write,
  'sum attribute? start?': (budget, value, attribute = null, start = 0) =>
    list(budget, value).reduce(
      (sum, item) => calculate(budget, '+', sum, attribute === null ? item : attributeOf(budget, item, attribute)),
      start,
    ),
  // Jinja's own rule: a word begins after a space, a hyphen or an opening bracket.
  title: written((value) => value.replace(/[^-\s({[<]+/g, capitalize)),
  'tojson ensure_ascii? indent? separators? sort_keys?': json,
  'trim chars?': (budget, value, chars) => strip(write(budget, value), chars),
  'truncate length? killwords? end? leeway?': (budget, value, ...options) =>
    truncate(budget, write(budget, value), ...options),
  'unique case_sensitive? attribute?': unique,
  wordcount: (budget, value) => (write(budget, value).match(/[\p{L}\p{N}_]+/gu) ?? []).length,
});
