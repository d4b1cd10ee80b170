// Runs the syntax tree of a chat template.

import { contains, filterNamed, functions, list, methodOf, nameOf, testNamed } from './builtins.js';
import { TemplateError } from './templateError.js';
import { Fault, isDictionary, isEqual, isTrue, limited, Namespace, Undefined, write } from './values.js';

/** @import { Node } from './parser.js' */

/** Maximum steps, characters and nested calls for one text, because a template might not end. */
const [MAX_STEPS, MAX_LENGTH, MAX_CALLS] = [2_000_000, 2 ** 26, 100];

/** Variables with their values. Statements in a loop or a macro do not change variables outside. */
class Scope {
  /** @param {Scope | null} parent @param {Record<string, unknown>} values */
  constructor(parent, values = {}) {
    this.parent = parent;
    this.values = new Map(Object.entries(values));
  }

  /** @param {string} name @returns {unknown} */
  get(name) {
    for (let scope = /** @type {Scope | null} */ (this); scope; scope = scope.parent)
      if (scope.values.has(name)) return scope.values.get(name);
    return new Undefined(name);
  }
}

/** Thrown by the statements break and continue. */
class Leave {
  /** @param {'break' | 'continue'} kind */
  constructor(kind) {
    this.kind = kind;
  }
}

/**
 * @param {Node[]} tree
 * @param {Record<string, unknown>} values variables of the template
 * @param {Date} [now]
 */
export function render(tree, values, now = new Date()) {
  return new Renderer(now).run(tree, values);
}

class Renderer {
  #steps = 0;
  #length = 0;
  /**
   * Parts of the text so far. A macro, and a block whose text is assigned to a variable, have parts of their own.
   * @type {string[]}
   */
  #out = [];
  #calls = 0;
  #line = 1;
  #functions;

  /** @param {Date} now */
  constructor(now) {
    this.#functions = functions(now, (reason) => {
      throw this.#fail(`it refuses these messages: ${reason}`);
    });
  }

  /** @param {Node[]} tree @param {Record<string, unknown>} values */
  run(tree, values) {
    try {
      return this.#captured(tree, new Scope(null, values));
    } catch (error) {
      if (error instanceof Fault || error instanceof TypeError || error instanceof RangeError)
        throw this.#fail(error.message, { cause: error });
      if (error instanceof Leave) throw this.#fail(`${error.kind} is outside of a loop`);
      throw error;
    }
  }

  /** @param {string} reason @param {object} [more] */
  #fail(reason, more) {
    return new TemplateError(this.#line, reason, more);
  }

  /** @param {Node} node */
  #step({ line }) {
    this.#line = line;
    if (++this.#steps > MAX_STEPS) throw new Fault(`more than ${MAX_STEPS} steps`);
  }

  /** @param {string} text */
  #write(text) {
    this.#length += text.length;
    if (this.#length > MAX_LENGTH) throw new Fault(`more than ${MAX_LENGTH} characters`);
    this.#out.push(text);
  }

  /** Runs a body and returns its text. @param {Node[]} nodes @param {Scope} scope */
  #captured(nodes, scope) {
    const outer = this.#out;
    this.#out = [];
    this.#body(nodes, scope);
    const text = this.#out.join('');
    this.#out = outer;
    return text;
  }

  /** @param {Node[]} nodes @param {Scope} scope */
  #body(nodes, scope) {
    for (const node of nodes) this.#node(node, scope);
  }

  /** @param {Node} node @param {Scope} scope */
  #node(node, scope) {
    this.#step(node);
    const { kind, value, body } = node;
    if (kind === 'text') this.#write(value);
    else if (kind === 'output') this.#write(write(this.value(value, scope)));
    else if (kind === 'group') this.#body(body, scope);
    else if (kind === 'if') this.#body(isTrue(this.value(node.test, scope)) ? body : node.other, scope);
    else if (kind === 'for') this.#loop(node, scope);
    else if (kind === 'set') this.#set(node, this.value(value, scope), scope);
    else if (kind === 'setBlock') this.#set(node, this.#captured(body, new Scope(scope)), scope);
    else if (kind === 'macro') scope.values.set(node.name, this.#macro(node, scope));
    else throw new Leave(/** @type {'break' | 'continue'} */ (kind));
  }

  /** @param {Node} node @param {unknown} value @param {Scope} scope */
  #set({ names, field }, value, scope) {
    if (field === undefined) return bind(names, value, scope);
    const target = scope.get(names[0]);
    if (!(target instanceof Namespace)) throw new Fault(`${names[0]} is no namespace`);
    target.fields.set(field, value);
  }

  /** @param {Node} node @param {Scope} scope */
  #loop(node, scope) {
    const { names, list: given, test, body, other } = node;
    const all = list(this.value(given, scope));
    const passes = (/** @type {unknown} */ item) => {
      const inside = new Scope(scope);
      bind(names, item, inside);
      return isTrue(this.value(test, inside));
    };
    const items = test ? all.filter(passes) : [...all];
    if (items.length === 0) return this.#body(other, scope);
    for (const [i, item] of items.entries()) {
      this.#step(node);
      const inside = new Scope(scope, { loop: loopAt(items, i) });
      bind(names, item, inside);
      try {
        this.#body(body, inside);
      } catch (error) {
        if (!(error instanceof Leave)) throw error;
        if (error.kind === 'break') break;
      }
    }
  }

  /** @param {Node} node @param {Scope} scope scope in which the macro is defined */
  #macro({ name, parameters, body }, scope) {
    return (/** @type {unknown[]} */ args, /** @type {Record<string, unknown>} */ named) => {
      if (++this.#calls > MAX_CALLS) throw new Fault(`more than ${MAX_CALLS} nested calls`);
      if (args.length > parameters.length) throw new Fault(`${name} takes ${parameters.length} arguments`);
      const inside = new Scope(scope);
      for (const [i, { name: parameter, standard }] of parameters.entries()) {
        const given = i < args.length ? args[i] : named[parameter];
        const isGiven = i < args.length || Object.hasOwn(named, parameter);
        const value = isGiven ? given : standard ? this.value(standard, inside) : new Undefined(parameter);
        inside.values.set(parameter, value);
      }
      const text = this.#captured(body, inside);
      this.#calls--;
      return text;
    };
  }

  /** @param {Node} node @param {Scope} scope @returns {any} */
  value(node, scope) {
    this.#step(node);
    return limited(this.#compute(node, scope));
  }

  /** @param {Node} node @param {Scope} scope @returns {any} */
  #compute(node, scope) {
    const of = (/** @type {Node} */ inner) => this.value(inner, scope);
    switch (node.kind) {
      case 'constant':
        return node.value;
      case 'variable':
        return this.#variable(node.name, scope);
      case 'list':
        return node.items.map(of);
      case 'dictionary':
        return Object.fromEntries(
          node.entries.map((/** @type {[Node, Node]} */ [key, item]) => [write(of(key)), of(item)]),
        );
      case 'choice':
        return isTrue(of(node.test)) ? of(node.value) : node.other ? of(node.other) : new Undefined('the value');
      case 'or': {
        const left = of(node.left);
        return isTrue(left) ? left : of(node.right);
      }
      case 'and': {
        const left = of(node.left);
        return isTrue(left) ? of(node.right) : left;
      }
      case 'not':
        return !isTrue(of(node.value));
      case 'negative':
        return -of(node.value);
      case 'compare':
        return this.#compare(of(node.first), node.others, scope);
      case 'binary':
        return calculate(node.sign, of(node.left), of(node.right));
      case 'field':
        return fieldOf(of(node.value), of(node.key), node.dotted);
      case 'slice':
        return slice(
          of(node.value),
          node.parts.map((/** @type {Node | undefined} */ part) => part && of(part)),
        );
      case 'filter':
        return filterNamed(node.name)(of(node.value), ...this.#argumentsOf(node, scope));
      case 'test':
        return Boolean(testNamed(node.name)(of(node.value), ...this.#argumentsOf(node, scope)));
      default:
        return this.#call(node, scope);
    }
  }

  /** @param {string} name @param {Scope} scope */
  #variable(name, scope) {
    const value = scope.get(name);
    return value instanceof Undefined && Object.hasOwn(this.#functions, name) ? this.#functions[name] : value;
  }

  /** @param {Node} node @param {Scope} scope @returns {[any[], Record<string, any>]} */
  #argumentsOf({ positional, named }, scope) {
    return [
      positional.map((/** @type {Node} */ one) => this.value(one, scope)),
      Object.fromEntries(named.map((/** @type {[string, Node]} */ [name, one]) => [name, this.value(one, scope)])),
    ];
  }

  /** @param {Node} node @param {Scope} scope */
  #call(node, scope) {
    const [args, named] = this.#argumentsOf(node, scope);
    const called = node.value;
    if (called.kind === 'field') {
      const target = this.value(called.value, scope);
      const name = this.value(called.key, scope);
      const own = isDictionary(target) && Object.hasOwn(target, name) ? target[name] : undefined;
      const method = methodOf(target, name);
      if (method && typeof own !== 'function') return method(target, args, named);
      if (target instanceof Undefined) throw new Fault(`${target.name} is undefined`);
      throw new Fault(`${nameOf(target)} has no method ${JSON.stringify(name)}`);
    }
    const callee = this.value(called, scope);
    if (typeof callee === 'function') return callee(args, named);
    throw new Fault(
      called.kind === 'variable' ? `there is no function ${JSON.stringify(called.name)}` : 'this value is no function',
    );
  }

  /** @param {any} first @param {{ sign: string, right: Node }[]} others @param {Scope} scope */
  #compare(first, others, scope) {
    let left = first;
    for (const { sign, right: node } of others) {
      const right = this.value(node, scope);
      if (!compare(sign, left, right)) return false;
      left = right;
    }
    return true;
  }
}

/** @param {string[]} names @param {unknown} value @param {Scope} scope */
function bind(names, value, scope) {
  if (names.length === 1) {
    scope.values.set(names[0], value);
    return;
  }
  const items = list(value);
  if (items.length !== names.length) throw new Fault(`${names.length} values are expected, not ${items.length}`);
  names.forEach((name, i) => scope.values.set(name, items[i]));
}

/** Returns the variable `loop` of Jinja. @param {unknown[]} items @param {number} i */
const loopAt = (items, i) => ({
  index: i + 1,
  index0: i,
  revindex: items.length - i,
  revindex0: items.length - i - 1,
  first: i === 0,
  last: i === items.length - 1,
  length: items.length,
  previtem: i > 0 ? items[i - 1] : new Undefined('loop.previtem'),
  nextitem: i + 1 < items.length ? items[i + 1] : new Undefined('loop.nextitem'),
});

/** @param {string} sign @param {any} left @param {any} right */
function compare(sign, left, right) {
  if (sign === '==') return isEqual(left, right);
  if (sign === '!=') return !isEqual(left, right);
  if (sign === 'in') return contains(right, left);
  if (sign === 'not in') return !contains(right, left);
  const isOrdered = typeof left === typeof right && ['number', 'string'].includes(typeof left);
  if (!isOrdered) throw new Fault(`${nameOf(left)} and ${nameOf(right)} have no order`);
  if (sign === '<') return left < right;
  if (sign === '<=') return left <= right;
  return sign === '>' ? left > right : left >= right;
}

/** @param {string} sign @param {any} left @param {any} right */
function calculate(sign, left, right) {
  if (sign === '~') return write(left) + write(right);
  if (sign === '+' && typeof left === 'string' && typeof right === 'string') return left + right;
  if (sign === '+' && Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  if (sign === '*' && typeof left === 'string' && typeof right === 'number') return left.repeat(Math.max(right, 0));
  for (const value of [left, right])
    if (typeof value !== 'number' && typeof value !== 'boolean')
      throw new Fault(`${sign} does not take ${nameOf(left)} and ${nameOf(right)}`);
  const [a, b] = [Number(left), Number(right)];
  if (['/', '//', '%'].includes(sign) && b === 0) throw new Fault('a division by zero');
  if (sign === '+') return a + b;
  if (sign === '-') return a - b;
  if (sign === '*') return a * b;
  if (sign === '/') return a / b;
  if (sign === '//') return Math.floor(a / b);
  return sign === '**' ? a ** b : a - b * Math.floor(a / b);
}

/**
 * Returns a field of a value. As in Jinja, a name after a dot is looked up as a method of a dictionary before it is
 * looked up as a key.
 * @param {any} value @param {any} key @param {boolean} [dotted]
 */
function fieldOf(value, key, dotted) {
  if (dotted && isDictionary(value)) {
    const method = methodOf(value, key);
    if (method) return (/** @type {any[]} */ args, /** @type {any} */ named) => method(value, args, named);
  }
  if (value instanceof Undefined) throw new Fault(`${value.name} is undefined`);
  if (value instanceof Namespace) return value.fields.has(key) ? value.fields.get(key) : new Undefined(String(key));
  if (isDictionary(value)) return Object.hasOwn(value, key) ? (value[key] ?? null) : new Undefined(String(key));
  if ((Array.isArray(value) || typeof value === 'string') && typeof key === 'number')
    return value.at(key) ?? new Undefined(`item ${key}`);
  return new Undefined(String(key));
}

/** @param {any} value @param {(number | null | undefined)[]} parts begin, end, step */
function slice(value, [begin, end, step]) {
  if (!Array.isArray(value) && typeof value !== 'string') throw new Fault(`${nameOf(value)} has no parts`);
  if (step === undefined || step === null || step === 1) return value.slice(begin ?? 0, end ?? undefined);
  const items = [...value];
  if (step !== -1 || (begin ?? end ?? null) !== null)
    throw new Fault('only [::-1] is supported as a slice with a step');
  return Array.isArray(value) ? items.reverse() : items.reverse().join('');
}
