import { load } from 'headlight-attention';
import { readNpy, writeNpy } from 'headlight-attention/formats';
import { computed } from './computed.js';

export const compute = () => computed({ load, readNpy, writeNpy });
