// Loads components that few visitors need when they are first shown.

import { type ComponentType, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useSession } from '../store/context.ts';

/** Each component has props of its own. */
export type Component = ComponentType<any>;

/** Returns a component that loads a component of a module and the module's `styles`. Until then it shows nothing. */
export function later(load: () => Promise<any>, name: string): Component {
  let Loaded: Component | undefined;
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
    return Loaded ? h(Loaded, props) : null;
  };
}
