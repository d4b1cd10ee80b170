// Exports the parts of the feature header that the rest of the page uses.

export { default as headerStyles } from './header.css';
export { Header } from './header.tsx';
export { OtherLanguage } from './otherLanguage.tsx';
