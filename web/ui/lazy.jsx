// Parts of the view that few visitors need are loaded when they are first shown.

import { useEffect, useState } from 'preact/hooks';
import { useSession } from './context.js';

/**
 * A component of a module, whose `styles` are put on with it. Until it is there its place is empty.
 * @param {() => Promise<any>} load
 * @param {string} name
 * @returns {import('preact').ComponentType<any>}
 */
export function later(load, name) {
  /** @type {any} */
  let Loaded;
  return function Later(props) {
    const session = useSession();
    const [, again] = useState(false);
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (module) => {
          if (module.styles) session.wear(module.styles);
          Loaded = module[name];
          again(true);
        },
        (error) => session.fail(error.message),
      );
    }, []);
    return Loaded ? <Loaded {...props} /> : null;
  };
}
