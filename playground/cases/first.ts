/** The case with which the playground begins. */
import type { PlayCase } from './case.ts';
import { codeOf } from './locks.ts';

/** It is played when the address says nothing, and fills in what an address leaves out. */
export const FIRST_CASE: PlayCase = {
  story: '',
  lock: 'token',
  code: codeOf('token') ?? '',
  nodes: 'pair',
  clients: ['A', 'B'],
  seed: 7,
  jitter: 0,
  steps: [],
};
