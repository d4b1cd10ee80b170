// The search of the documentation: which sections come first, and words that a page is found by without having them.

/** Weights of the fields of a section: its heading, the headings above it, its text. */
export const BOOST = { title: 6, titles: 1, text: 1 };

/**
 * Puts the first section of a page, under its title, before sections within pages. The site gets the source of this
 * function, so it uses nothing from outside.
 * @param {unknown} _id
 * @param {string} _term
 * @param {{ titles?: string[] }} [section]
 */
export const boostTops = (_id, _term, section) => (section?.titles?.length === 0 ? 3 : 1);

/**
 * Renders a page for the search index. The `keywords` of its front matter become a part of its first section.
 * @param {string} source
 * @param {{ frontmatter?: { keywords?: string } }} env
 * @param {import('markdown-it').default} markdown
 */
export function renderForSearch(source, env, markdown) {
  const html = markdown.render(source, env);
  const { keywords } = env.frontmatter ?? {};
  return keywords ? html.replace('</h1>', `</h1><p>${`${keywords} `.repeat(3)}</p>`) : html;
}
