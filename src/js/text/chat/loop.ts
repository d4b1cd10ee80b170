// The variable `loop` of a loop in a template.

import { Callable, isEqual, Undefined } from './values.ts';

export class Loop extends Callable {
  at = 0;
  #items: any[];
  #depth: number;
  #last: any[] | undefined;

  /** depth: number of loops within each other of a recursive loop; again: runs the loop with other items */
  constructor(items: any[], depth: number, again: (items: unknown) => unknown) {
    super('LoopContext', (_, [given]) => again(given));
    this.#items = items;
    this.#depth = depth;
  }

  get(name: unknown) {
    const [items, at] = [this.#items, this.at];
    switch (name) {
      case 'index':
        return at + 1;
      case 'index0':
        return at;
      case 'revindex':
        return items.length - at;
      case 'revindex0':
        return items.length - at - 1;
      case 'first':
        return at === 0;
      case 'last':
        return at === items.length - 1;
      case 'length':
        return items.length;
      case 'depth':
        return this.#depth;
      case 'depth0':
        return this.#depth - 1;
      case 'previtem':
        return at > 0 ? items[at - 1] : new Undefined('loop.previtem');
      case 'nextitem':
        return at + 1 < items.length ? items[at + 1] : new Undefined('loop.nextitem');
      case 'cycle':
        return new Callable('cycle', (_, args) => args[at % args.length]);
      case 'changed':
        return new Callable('changed', (budget, args) => {
          const isSame = this.#last && isEqual(budget, this.#last, args);
          this.#last = args;
          return !isSame;
        });
    }
    return undefined;
  }
}
