// Components that few visitors need are loaded when they are first shown.

import { useEffect, useState } from 'preact/hooks';
import { useSession } from './context.js';

/** @typedef {import('preact').ComponentType<any>} Component */

/**
 * A component of a module, whose `styles` are added with it. Until it is loaded nothing is shown.
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
