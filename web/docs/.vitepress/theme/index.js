// VitePress' default theme without its web fonts, with the Run button.

import DefaultTheme from 'vitepress/theme-without-fonts';
import RunProgram from './RunProgram.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('RunProgram', RunProgram),
};
