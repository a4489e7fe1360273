/** Runs the programs of the cookbook and of the page about time as pasted. */
import { testPrograms } from './support/pages/test-programs.ts';

testPrograms([
  { page: 'docs/cookbook.md', language: 'js' },
  { page: 'docs/time.md', language: 'js' },
  { page: 'docs/commands-of-your-own.md', language: 'js' },
]);
