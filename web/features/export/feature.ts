// What the rest of the page uses of the feature export.

export { isEmbeddable, snippetOf } from './embedSnippet.ts';
export { exportsOf } from './viewExports.ts';
