// Exports the parts of the feature whatif that the rest of the page uses.

export { default as whatifStyles } from './whatif.css';
export { WhatIf } from './whatif.tsx';
