// The functions that a template may call.

import { type Budget, Fault } from './budget.ts';
import { makeRange } from './operators.ts';
import { Callable, Dict, Fields, list, Namespace, type Run, text, Undefined } from './values.ts';
import { write } from './write.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
/** Maximum characters of the format of a date. */
const MAX_FORMAT = 1000;
const two = (n: number) => String(n).padStart(2, '0');

/** The parts of a date by their letters in strftime. */
const DATE_PARTS: Record<string, (date: Date) => string> = {
  Y: (date) => String(date.getFullYear()),
  y: (date) => two(date.getFullYear() % 100),
  m: (date) => two(date.getMonth() + 1),
  d: (date) => two(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2),
  H: (date) => two(date.getHours()),
  I: (date) => two(date.getHours() % 12 || 12),
  M: (date) => two(date.getMinutes()),
  S: (date) => two(date.getSeconds()),
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  B: (date) => MONTHS[date.getMonth()],
  b: (date) => MONTHS[date.getMonth()].slice(0, 3),
  A: (date) => DAYS[date.getDay()],
  a: (date) => DAYS[date.getDay()].slice(0, 3),
  w: (date) => String(date.getDay()),
  u: (date) => String(date.getDay() || 7),
  j: (date) =>
    String(
      1 +
        Math.round(
          (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0)) / 86400000,
        ),
    ).padStart(3, '0'),
  F: (date) => formatDate(date, '%Y-%m-%d'),
  T: (date) => formatDate(date, '%H:%M:%S'),
  R: (date) => formatDate(date, '%H:%M'),
  D: (date) => formatDate(date, '%m/%d/%y'),
  '%': () => '%',
};

const formatDate = (date: Date, format: string) =>
  format.replace(/%(-?)([A-Za-z%])/g, (part, short, letter) => {
    const known = Object.hasOwn(DATE_PARTS, letter) && DATE_PARTS[letter](date);
    if (!known) throw new Fault(`${part} of strftime_now is not supported`);
    return short ? known.replace(/^[0 ]+(?=.)/, '') : known;
  });

function makeDict(budget: Budget, [given]: any[], named: Map<string, any>): any {
  const entries =
    given instanceof Dict
      ? given.entries()
      : given === undefined
        ? []
        : list(budget, given).map((pair) => list(budget, pair));
  return new Dict(budget.list([...(entries as [unknown, unknown][]), ...named]));
}

/** Returns a value that takes turns. */
function cycler(_: Budget, items: any[]): any {
  if (items.length === 0) throw new Fault('cycler takes at least one item');
  let at = 0;
  const cycle = new Fields([['current', items[0]]], 'Cycler');
  const move = (to: number) => {
    at = to % items.length;
    cycle.fields.set('current', items[at]);
  };
  const next = () => {
    const item = items[at];
    move(at + 1);
    return item;
  };
  cycle.fields.set('next', new Callable('next', next));
  const reset = () => {
    move(0);
    return null;
  };
  cycle.fields.set('reset', new Callable('reset', reset));
  return cycle;
}

/** Returns a function that returns the separator, but nothing the first time. */
function joiner(_: Budget, [separator = ', ']: any[]): any {
  let used = false;
  return new Callable('Joiner', () => {
    const first = !used;
    used = true;
    return first ? '' : separator;
  });
}

/** refuse: called with the reason if the template rejects the messages */
export function functions(now: Date, refuse: (reason: string) => never): Map<string, Callable> {
  const all: Record<string, Run> = {
    raise_exception: (budget, [reason = new Undefined('the reason')]) => refuse(write(budget, reason)),
    range: (budget, args) => makeRange(budget, args),
    namespace: (budget, args, named) => new Namespace(makeDict(budget, args, named).entries()),
    dict: makeDict,
    cycler,
    joiner,
    strftime_now: (budget, [format]) => {
      if (text(format).length > MAX_FORMAT) throw new Fault(`strftime_now takes at most ${MAX_FORMAT} characters`);
      budget.items(format.length);
      return formatDate(now, format);
    },
  };
  return new Map(Object.entries(all).map(([name, run]) => [name, new Callable(name, run)]));
}
