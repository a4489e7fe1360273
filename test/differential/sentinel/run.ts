/** `npm run test:sentinel -- --commands 20000 --seed 1 --dialect redis-8.2`: compares Sentinels at length. */
import { compareAtLength } from '../compare/at-length.ts';
import { compareSentinels } from './tester.ts';

await compareAtLength(compareSentinels);
