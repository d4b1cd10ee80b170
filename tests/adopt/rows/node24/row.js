import { nodeRow } from '../../expect.js';

export default nodeRow(24);
