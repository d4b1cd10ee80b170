// Runs the syntax tree of a chat template. Statements and expressions are generators, so that a rendering can pause in
// between: without that, nothing could abort it.

import { Budget, Fault } from './budget.js';
import { applyFilters, argumentsOf, call, EVALUATE } from './evaluate.js';
import { functions } from './functions.js';
import { Loop } from './loop.js';
import { Scope } from './scope.js';
import { TemplateError } from './templateError.js';
import { Callable, Dict, fromJson, isTrue, list, Namespace, tuple, Undefined } from './values.js';
import { write } from './write.js';

/** @import { Evaluation } from './evaluate.js' */
/** @import { Node, Target } from './expressions.js' */

/** Maximum of expressions within each other, counted through the macros that they call. */
const MAX_DEPTH = 400;
/** The costs of a step and of an iteration of a loop, in characters. */
const [STEP, ITERATION] = [64, 256];

/** Thrown by the statements break and continue. */
class Leave {
  /** @param {'break' | 'continue'} kind */
  constructor(kind) {
    this.kind = kind;
  }
}

/**
 * Renders a template. The result pauses after each share of the work.
 * @param {Node[]} tree
 * @param {Record<string, unknown>} values variables of the template
 * @param {Date} [now]
 * @param {Budget} [budget]
 * @returns {Generator<undefined, string>}
 */
export const rendering = (tree, values, now = new Date(), budget = new Budget()) =>
  new Renderer(now, budget).run(tree, values);

/** Renders without a pause. @param {Generator<undefined, string>} running */
export function finish(running) {
  for (;;) {
    const { done, value } = running.next();
    if (done) return value;
  }
}

/**
 * Renders in pieces of some milliseconds, between which other work can run and the signal can be aborted.
 * @param {Generator<undefined, string>} running
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
export async function finishInPieces(running, signal) {
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = running.next();
    if (done) return value;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

export class Renderer {
  budget;
  /**
   * Parts of the text so far. A macro, and a block whose text is assigned to a variable, have parts of their own.
   * @type {string[]}
   */
  #out = [];
  #depth = 0;
  #line = 1;
  #functions;

  /** @param {Date} now @param {Budget} budget */
  constructor(now, budget) {
    this.budget = budget;
    this.#functions = functions(now, (reason) => {
      throw this.#fail(`it refuses these messages: ${reason}`);
    });
  }

  /** @param {Node[]} tree @param {Record<string, unknown>} values @returns {Generator<undefined, string>} */
  *run(tree, values) {
    try {
      const variables = Object.entries(values).map(([name, value]) => [name, fromJson(this.budget, value)]);
      const outer = new Scope(null, this.#functions);
      return yield* this.#captured(this.#body(tree, new Scope(outer, /** @type {[string, unknown][]} */ (variables))));
    } catch (error) {
      if (error instanceof TemplateError) throw error;
      // Besides faults of the template these are errors of the engine, such as a text that is too long for it.
      throw this.#fail(/** @type {Error} */ (error).message, { cause: error });
    }
  }

  /** @param {string} reason @param {object} [more] */
  #fail(reason, more) {
    return new TemplateError(this.#line, reason, more);
  }

  /** @param {unknown} value */
  #write(value) {
    this.#out.push(write(this.budget, value));
  }

  /** Returns the text that a part of the template writes. @param {Evaluation} running @returns {Evaluation} */
  *#captured(running) {
    const outer = this.#out;
    this.#out = [];
    try {
      yield* running;
      return this.#out.join('');
    } finally {
      this.#out = outer;
    }
  }

  /** @param {Node[]} nodes @param {Scope} scope @returns {Evaluation} */
  *#body(nodes, scope) {
    for (const node of nodes) yield* this.#node(node, scope);
  }

  /** @param {Node} node @param {Scope} scope @returns {Evaluation} */
  *#node(node, scope) {
    this.#line = node.line;
    this.budget.spend(STEP);
    if (this.budget.takePause()) yield;
    const { kind, body } = node;
    if (kind === 'text') this.#write(node.value);
    else if (kind === 'output') for (const value of node.values) this.#write(yield* this.value(value, scope));
    else if (kind === 'group') yield* this.#body(body, new Scope(scope));
    else if (kind === 'if') yield* this.#if(node, scope);
    else if (kind === 'for') yield* this.#for(node, scope);
    else if (kind === 'set') this.#assign(node.target, yield* this.value(node.value, scope), scope);
    else if (kind === 'macro') scope.values.set(node.name, this.#macro(node, scope));
    else if (kind === 'callBlock') yield* this.#callBlock(node, scope);
    else if (kind === 'with') yield* this.#with(node, scope);
    else if (kind === 'break' || kind === 'continue') throw new Leave(kind);
    else {
      const text = yield* this.#captured(this.#body(body, new Scope(scope)));
      const value = yield* applyFilters(this, text, node.chain, scope);
      if (kind === 'setBlock') this.#assign(node.target, value, scope);
      else this.#write(value);
    }
  }

  /** @param {Node} node @param {Scope} scope @returns {Evaluation} */
  *#if({ branches, other }, scope) {
    for (const { test, body } of branches)
      if (isTrue(yield* this.value(test, scope))) return yield* this.#body(body, scope);
    yield* this.#body(other, scope);
  }

  /** @param {Node} node @param {Scope} scope @returns {Evaluation} */
  *#with({ values, body }, scope) {
    const inside = new Scope(scope);
    for (const [target, node] of values) this.#assign(target, yield* this.value(node, scope), inside);
    yield* this.#body(body, inside);
  }

  /** @param {Target} target @param {unknown} value @param {Scope} scope */
  #assign(target, value, scope) {
    if (target.parts) {
      const items = list(this.budget, value);
      if (items.length !== target.parts.length)
        throw new Fault(`${target.parts.length} values are expected, not ${items.length}`);
      for (const [i, one] of target.parts.entries()) this.#assign(one, items[i], scope);
    } else if (target.field === undefined) scope.values.set(target.name, value);
    else {
      const owner = scope.get(this.budget, target.name);
      if (!(owner instanceof Namespace)) throw new Fault(`${target.name} is no namespace`);
      owner.fields.set(target.field, value);
    }
  }

  /** @param {Node} node @param {Scope} scope @returns {Evaluation} */
  *#for(node, scope) {
    yield* this.#iterate(node, yield* this.value(node.list, scope), scope, 1);
  }

  /**
   * Runs a loop.
   * @param {Node} node @param {unknown} given @param {Scope} scope
   * @param {number} depth number of calls of a recursive loop within each other
   * @returns {Evaluation}
   */
  *#iterate(node, given, scope, depth) {
    const items = yield* this.#passing(node, list(this.budget, given), scope);
    // As in Jinja, the part after else also runs if break or continue has left each iteration.
    let ended = false;
    const loop = new Loop(items, depth, (again) => this.#again(node, again, scope, depth + 1));
    for (; loop.at < items.length; loop.at++) {
      this.budget.spend(ITERATION);
      const inside = new Scope(scope, [['loop', loop]]);
      this.#assign(node.target, items[loop.at], inside);
      try {
        yield* this.#body(node.body, inside);
        ended = true;
      } catch (error) {
        if (!(error instanceof Leave)) throw error;
        if (error.kind === 'break') break;
      }
    }
    if (!ended) yield* this.#body(node.other, scope);
  }

  /**
   * Calls a recursive loop.
   * @param {Node} node
   * @param {unknown} given
   * @param {Scope} scope
   * @param {number} depth
   * @returns {Evaluation}
   */
  *#again(node, given, scope, depth) {
    if (!node.recursive) throw new Fault('this loop is not recursive');
    return yield* this.#captured(this.#iterate(node, given, scope, depth));
  }

  /**
   * Returns the items for which the condition of a loop is true.
   * @param {Node} node
   * @param {any[]} items
   * @param {Scope} scope
   * @returns {Evaluation}
   */
  *#passing({ target, test }, items, scope) {
    if (!test) return [...items];
    /** @type {any[]} */
    const passing = [];
    for (const item of items) {
      this.budget.spend(ITERATION);
      const inside = new Scope(scope);
      this.#assign(target, item, inside);
      if (isTrue(yield* this.value(test, inside))) passing.push(item);
    }
    return passing;
  }

  /** @param {Node} node @param {Scope} scope scope in which the macro is defined */
  #macro(node, scope) {
    const names = tuple(node.parameters.map((/** @type {{ name: string }} */ { name }) => name));
    const fields = {
      name: node.name,
      arguments: names,
      catch_varargs: node.takesMore,
      catch_kwargs: node.takesNamed,
      caller: node.takesCaller,
    };
    return new Callable(
      node.name,
      (_, args, named) => this.#callMacro(node, scope, args, named),
      Object.entries(fields),
    );
  }

  /**
   * @param {Node} node
   * @param {Scope} scope
   * @param {any[]} args
   * @param {Map<string, any>} named
   * @returns {Evaluation}
   */
  *#callMacro({ name, parameters, body, takesMore, takesNamed }, scope, args, named) {
    const inside = new Scope(scope);
    const rest = new Map(named);
    for (const [i, { name: parameter, standard }] of parameters.entries()) {
      if (i < args.length && named.has(parameter)) throw new Fault(`${name} gets ${parameter} twice`);
      const given = i < args.length ? args[i] : named.get(parameter);
      rest.delete(parameter);
      const value =
        given ?? (given === null ? null : standard ? yield* this.value(standard, inside) : new Undefined(parameter));
      inside.values.set(parameter, value);
    }
    inside.values.set('caller', rest.get('caller') ?? new Undefined('caller'));
    rest.delete('caller');
    if (args.length > parameters.length && !takesMore) throw new Fault(`${name} takes ${parameters.length} arguments`);
    if (rest.size > 0 && !takesNamed) throw new Fault(`${name} has no argument ${[...rest.keys()][0]}`);
    inside.values.set('varargs', tuple(args.slice(parameters.length)));
    inside.values.set('kwargs', new Dict(rest));
    return yield* this.#captured(this.#body(body, inside));
  }

  /** @param {Node} node @param {Scope} scope @returns {Evaluation} */
  *#callBlock({ call: node, macro }, scope) {
    const callee = yield* this.value(node.value, scope);
    const [args, named] = yield* argumentsOf(this, node, scope);
    named.set('caller', this.#macro(macro, scope));
    this.#write(yield* call(this, callee, [args, named]));
  }

  /** @param {Node} node @param {Scope} scope @returns {Evaluation} */
  *value(node, scope) {
    const { kind } = node;
    if (kind === 'constant') return node.value;
    this.#line = node.line;
    this.budget.spend(STEP);
    if (kind === 'variable') return scope.get(this.budget, node.name);
    if (this.budget.takePause()) yield;
    if (++this.#depth > MAX_DEPTH) throw new Fault(`more than ${MAX_DEPTH} nested parts`);
    const value = yield* EVALUATE[kind](this, node, scope);
    this.#depth--;
    return value;
  }
}
