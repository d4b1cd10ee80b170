'use client';

import { useEffect } from 'react';
import { say, shown } from '../say.js';
import { Heads } from './Heads.jsx';

export function Said() {
  useEffect(() => void say(), []);
  return <Heads {...shown} />;
}
