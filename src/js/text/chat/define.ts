// Makes tables of a template's functions, with the names of their arguments as in Python.

import { type Budget, Fault } from './budget.ts';

/** A function by its value, its arguments in order, and those with names. */
export type Builtin = (budget: Budget, value: any, args?: any[], named?: Map<string, any>) => any;

/**
 * functions: by 'name argument argument?', where ? marks an argument that may be left out. Names are separated by '|'.
 * '*' is a list of any arguments and a map of named ones.
 */
export function define(
  functions: Record<string, (budget: Budget, value: any, ...args: any[]) => any>,
): Map<string, Builtin> {
  const table: Map<string, Builtin> = new Map();
  for (const [key, run] of Object.entries(functions)) {
    const [names, ...parameters] = key.split(' ');
    for (const name of names.split('|')) table.set(name, bound(name, parameters, run));
  }
  return table;
}

function bound(name: string, parameters: string[], run: (budget: Budget, value: any, ...args: any[]) => any): Builtin {
  if (parameters[0] === '*') return (budget, value, args = [], named = new Map()) => run(budget, value, args, named);
  const all = parameters.map((one) => one.replace('?', ''));
  const needed = parameters.filter((one) => !one.endsWith('?')).length;
  return (budget, value, args = [], named = new Map()) => {
    if (args.length > all.length) throw new Fault(`${name} takes at most ${all.length} arguments`);
    for (const key of named.keys())
      if (all.indexOf(key) < args.length) throw new Fault(`${name} has no argument ${key} here`);
    const given = all.map((one, i) => (i < args.length ? args[i] : named.get(one)));
    const missing = given.indexOf(undefined);
    if (missing >= 0 && missing < needed) throw new Fault(`${name} needs the argument ${all[missing]}`);
    return run(budget, value, ...given);
  };
}
