// Runs the syntax tree of a chat template, in generators, so that a rendering can pause in between; otherwise nothing
// could abort it.

import { Budget, Fault } from './budget.ts';
import { applyFilters, argumentsOf, call, EVALUATE, type Evaluation } from './evaluate.ts';
import type { Node, Target } from './expressions.ts';
import { functions } from './functions.ts';
import { Loop } from './loop.ts';
import { Scope } from './scope.ts';
import { TemplateError } from './templateError.ts';
import { Callable, Dict, fromJson, isTrue, list, Namespace, tuple, Undefined } from './values.ts';
import { write } from './write.ts';

/** Maximum of expressions within each other, counted through the macros that they call. */
const MAX_DEPTH = 400;
/** The costs of a step and of an iteration of a loop, in characters. */
const [STEP, ITERATION] = [64, 256];

/** Thrown by the statements break and continue. */
class Leave {
  declare kind: 'break' | 'continue';

  constructor(kind: 'break' | 'continue') {
    this.kind = kind;
  }
}

/** Renders a template. The result pauses after each share of the work. values: variables of the template. */
export const rendering = (
  tree: Node[],
  values: Record<string, unknown>,
  now: Date = new Date(),
  budget: Budget = new Budget(),
): Generator<undefined, string> => new Renderer(now, budget).run(tree, values);

/** Renders without a pause. */
export function finish(running: Generator<undefined, string>) {
  for (;;) {
    const { done, value } = running.next();
    if (done) return value;
  }
}

/** Renders in pieces of some milliseconds, between which other work can run and the signal can be aborted. */
export async function finishInPieces(running: Generator<undefined, string>, signal: AbortSignal): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = running.next();
    if (done) return value;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

export class Renderer {
  budget: Budget;
  /** Parts of the text so far. A macro, and a block whose text is assigned to a variable, have parts of their own. */
  #out: string[] = [];
  #depth = 0;
  #line = 1;
  #functions: Map<string, Callable>;

  constructor(now: Date, budget: Budget) {
    this.budget = budget;
    this.#functions = functions(now, (reason) => {
      throw this.#fail(`it refuses these messages: ${reason}`);
    });
  }

  *run(tree: Node[], values: Record<string, unknown>): Generator<undefined, string> {
    try {
      const variables = Object.entries(values).map(([name, value]) => [name, fromJson(this.budget, value)]);
      const outer = new Scope(null, this.#functions);
      return yield* this.#captured(this.#body(tree, new Scope(outer, variables as [string, unknown][])));
    } catch (error) {
      if (error instanceof TemplateError) throw error;
      // Besides faults of the template these are errors of the engine, such as a text that is too long for it.
      throw this.#fail((error as Error).message, { cause: error });
    }
  }

  #fail(reason: string, more?: object) {
    return new TemplateError(this.#line, reason, more);
  }

  #write(value: unknown) {
    this.#out.push(write(this.budget, value));
  }

  /** Returns the text that a part of the template writes. */
  *#captured(running: Evaluation): Evaluation {
    const outer = this.#out;
    this.#out = [];
    try {
      yield* running;
      return this.#out.join('');
    } finally {
      this.#out = outer;
    }
  }

  *#body(nodes: Node[], scope: Scope): Evaluation {
    for (const node of nodes) yield* this.#node(node, scope);
  }

  *#node(node: Node, scope: Scope): Evaluation {
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

  *#if({ branches, other }: Node, scope: Scope): Evaluation {
    for (const { test, body } of branches)
      if (isTrue(yield* this.value(test, scope))) return yield* this.#body(body, scope);
    yield* this.#body(other, scope);
  }

  *#with({ values, body }: Node, scope: Scope): Evaluation {
    const inside = new Scope(scope);
    for (const [target, node] of values) this.#assign(target, yield* this.value(node, scope), inside);
    yield* this.#body(body, inside);
  }

  #assign(target: Target, value: unknown, scope: Scope) {
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

  *#for(node: Node, scope: Scope): Evaluation {
    yield* this.#iterate(node, yield* this.value(node.list, scope), scope, 1);
  }

  /** Runs a loop. depth: number of calls of a recursive loop within each other. */
  *#iterate(node: Node, given: unknown, scope: Scope, depth: number): Evaluation {
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

  *#again(node: Node, given: unknown, scope: Scope, depth: number): Evaluation {
    if (!node.recursive) throw new Fault('this loop is not recursive');
    return yield* this.#captured(this.#iterate(node, given, scope, depth));
  }

  /** Returns the items for which the condition of a loop is true. */
  *#passing({ target, test }: Node, items: any[], scope: Scope): Evaluation {
    if (!test) return [...items];
    const passing: any[] = [];
    for (const item of items) {
      this.budget.spend(ITERATION);
      const inside = new Scope(scope);
      this.#assign(target, item, inside);
      if (isTrue(yield* this.value(test, inside))) passing.push(item);
    }
    return passing;
  }

  /** scope: scope in which the macro is defined */
  #macro(node: Node, scope: Scope) {
    const names = tuple(node.parameters.map(({ name }: { name: string }) => name));
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

  *#callMacro(
    { name, parameters, body, takesMore, takesNamed }: Node,
    scope: Scope,
    args: any[],
    named: Map<string, any>,
  ): Evaluation {
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

  *#callBlock({ call: node, macro }: Node, scope: Scope): Evaluation {
    const callee = yield* this.value(node.value, scope);
    const [args, named] = yield* argumentsOf(this, node, scope);
    named.set('caller', this.#macro(macro, scope));
    this.#write(yield* call(this, callee, [args, named]));
  }

  *value(node: Node, scope: Scope): Evaluation {
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
