// Starts the worker of the package's view. Bundlers recognise the exact expression new Worker(new URL(…)).

/** Models of the menu whose files are in the package. */
export const models = ['whale', 'constructed', 'patches'];

/** Kept in a variable so that no bundler rewrites the URL of a script from another origin. */
const HERE = import.meta.url;

export function startWorker() {
  try {
    return new Worker(new URL('./view.worker.js', import.meta.url), { type: 'module' });
  } catch {
    // A page cannot start a worker from another origin, but a worker of its own origin can import the script.
    const script = `import ${JSON.stringify(new URL('./view.worker.js', HERE).href)};`;
    const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const worker = new Worker(url, { type: 'module' });
    URL.revokeObjectURL(url);
    return worker;
  }
}
