/** Runs the programs of the page for agents and of pages in docs/ as pasted. */
import { testPrograms } from './support/pages/test-programs.ts';

testPrograms([
  { page: 'AGENTS.md', language: 'js' },
  { page: 'docs/cookbook.md', language: 'js' },
  { page: 'docs/time.md', language: 'js' },
  { page: 'docs/commands-of-your-own.md', language: 'js' },
]);
