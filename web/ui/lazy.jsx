// Loads components that few visitors need when they are first shown.

import { useEffect, useState } from 'preact/hooks';
import { useSession } from './context.js';

/** @typedef {import('preact').ComponentType<any>} Component */

/**
 * Returns a component that loads a component of a module and the module's `styles`. Until then it shows nothing.
 * @param {() => Promise<any>} load
 * @param {string} name
 * @returns {Component}
 */
export function later(load, name) {
  /** @type {Component | undefined} */
  let Loaded;
  return function Later(props) {
    const session = useSession();
    const [, update] = useState(false);
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (module) => {
          if (module.styles) session.addStyles(module.styles);
          Loaded = module[name];
          update(true);
        },
        (error) => session.fail(error.message),
      );
    }, []);
    return Loaded ? <Loaded {...props} /> : null;
  };
}
