/** `npm run test:cluster -- --commands 20000 --seed 1 --dialect redis-8.2`: compares clusters at length. */
import { compareAtLength } from '../compare/at-length.ts';
import { compareClusters } from './tester.ts';

await compareAtLength(compareClusters);
