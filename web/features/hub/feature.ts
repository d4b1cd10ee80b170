// Exports the parts of the feature hub that the rest of the page uses.

export { default as hubStyles } from './hub.css';
export { HubChoice, HubQuestion, useHub, useHubProblem, useTexts } from './hub.tsx';
