import { nodeRow } from '../../expect.js';

export default nodeRow(22, '`require` from 22.12 on; before, `await import(…)`');
