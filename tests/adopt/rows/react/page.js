import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { Heads } from './Heads.jsx';
import { say, shown } from './say.js';

createRoot(document.body.appendChild(document.createElement('main'))).render(createElement(Heads, shown));
await say();
