// What the rest of the page uses of the feature header.

export { default as headerStyles } from './header.css';
export { Header } from './header.tsx';
export { OtherLanguage } from './otherLanguage.tsx';
