import { load } from 'headlight';
import { readNpy, writeNpy } from 'headlight/formats';
import { computed } from './computed.js';

export const compute = () => computed({ load, readNpy, writeNpy });
