// What the rest of the page uses of the feature whatif.

export { default as whatifStyles } from './whatif.css';
export { WhatIf } from './whatif.tsx';
