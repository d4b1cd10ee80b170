// VitePress' default theme without its web fonts, with the Run button.

import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import RunProgram from './RunProgram.vue';
import './style.css';

/** The default page for a wrong address has no main landmark, and a label that differs from its text. */
const notFound = () =>
  h('main', { class: 'not-found' }, [
    h('h1', 'Page not found'),
    h('p', h('a', { href: withBase('/index.html') }, 'Go to the quick start')),
  ]);

/** The end of every page: the source and the licence. A page has one footer, that of VitePress. */
const ending = {
  setup() {
    const { theme } = useData();
    return () =>
      h('nav', { class: 'page-ending', 'aria-label': 'Source and licence' }, [
        h('a', { href: theme.value.repository }, 'Source'),
        h('a', { href: `${theme.value.repository}/blob/main/LICENSE` }, 'MIT licence'),
      ]);
  },
};

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': notFound, 'doc-after': () => h(ending) }),
  enhanceApp: ({ app }) => app.component('RunProgram', RunProgram),
};
