// What the rest of the page uses of the feature hub.

export { default as hubStyles } from './hub.css';
export { HubChoice, HubQuestion, useHub, useHubProblem, useTexts } from './hub.tsx';
