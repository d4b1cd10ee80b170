import { createApp } from 'vue';
import Heads from './Heads.vue';
import { say, shown } from './say.js';

createApp(Heads, shown).mount(document.body.appendChild(document.createElement('main')));
await say();
