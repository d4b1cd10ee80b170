// The worker of the package's view. Bundlers find it by this very expression.

/** Models of the menu whose files are in the package. */
export const models = ['whale', 'constructed', 'patches'];

/** An address that no bundler rewrites: there is nothing to rewrite where scripts come from elsewhere. */
const HERE = import.meta.url;

export function startWorker() {
  try {
    return new Worker(new URL('./view.worker.js', import.meta.url), { type: 'module' });
  } catch {
    // A page may begin no worker of another origin, but one of its own that imports it.
    const script = `import ${JSON.stringify(new URL('./view.worker.js', HERE).href)};`;
    const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const worker = new Worker(url, { type: 'module' });
    URL.revokeObjectURL(url);
    return worker;
  }
}
