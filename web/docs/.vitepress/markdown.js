// Puts the Run button under every program, or the reason why it does not run in a page.

import { idOf, whyNot } from './programs.js';

/** @param {import('markdown-it').default} markdown */
export function addRunButtons(markdown) {
  const fence = markdown.renderer.rules.fence;
  markdown.renderer.rules.fence = (tokens, i, ...rest) => {
    const html = fence(tokens, i, ...rest);
    const { info, content } = tokens[i];
    const language = info.trim();
    const reason = whyNot({ language, text: content });
    if (reason === undefined) return html;
    const { escapeHtml } = markdown.utils;
    const label = reason === '' ? `program="${idOf(content)}"` : `reason="${escapeHtml(reason)}"`;
    return `<RunProgram ${label} shows="${language === 'html' ? 'page' : 'console'}">${html}</RunProgram>`;
  };
}
