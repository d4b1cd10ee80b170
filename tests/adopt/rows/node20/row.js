import { nodeRow } from '../../expect.js';

export default nodeRow(20, '`require` from 20.19 on; before, `await import(…)`');
