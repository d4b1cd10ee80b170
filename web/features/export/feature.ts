// Exports the parts of the feature export that the rest of the page uses.

export { isEmbeddable, snippetOf } from './embedSnippet.ts';
export { exportsOf } from './viewExports.ts';
