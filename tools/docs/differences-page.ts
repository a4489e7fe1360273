/** The text of docs/differences.md: the differences that the differential tester accepts. */
import {
  accepted,
  added,
  controlled,
  documented,
  excluded,
  helpReason,
  loose,
  prose,
} from '../../test/differential/compare/known.ts';
import type { Rule } from '../../test/differential/compare/rule.ts';

/** What each rule does not compare. */
const OPEN: Record<Exclude<Rule, object>, string> = {
  exact: 'nothing',
  unordered: 'the order of the elements',
  pairs: 'the order of the pairs',
  scan: 'the order of the elements',
  scanPairs: 'the order of the pairs',
  near: 'some seconds',
  nearSeconds: 'some seconds',
  size: 'all but the number of elements',
  shape: 'all but the type of the reply',
  names: 'the values of all fields',
  report: 'the fields that differ from server to server',
  docs: 'summaries, complexities, histories and successors',
  payload: 'the order within a payload, and its compression',
  rules: 'the order of single commands',
  info: 'the order of every list, and the text of notes',
  client: 'numbers, addresses, times and sizes',
};

function name(fullName: string): string {
  return fullName.replace('|', ' ').trim().toUpperCase();
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

/** The page as Markdown. */
export function differencesPage(): string {
  return [
    '# Differences from Redis',
    '',
    'In the dialect redis-7.0 lostlock answers as redis-server 7.0.15 does. `npm run test:differential -- --commands 20000 --seed 1` sends generated',
    'programs to both and compares every reply byte for byte, every keyspace event, the replication stream and the final data',
    '(types, values, encodings, deadlines). This page lists everything that may differ, and nothing else.',
    '`npm run docs` writes it from `test/differential/compare/known.ts`, which also has the exceptions of the tester.',
    '',
    '## Differences',
    '',
    ...[...prose, helpReason].map((text) => `- ${text}`),
    '',
    '## Differences that the tester accepts where they show',
    '',
    ...table(
      ['Difference', 'Dialects'],
      accepted.map(({ reason, dialects }) => [reason, dialects?.join(', ') ?? 'all']),
    ),
    '',
    '## Known from documentation alone\n',
    'No server was at hand to compare with. Everything else was compared with the real server.\n',
    ...table(['Dialect', 'Behaviour', 'Where it is documented', 'Read on'], documented),
    '## Commands that Redis 7.0 does not have',
    '',
    ...table(
      ['Command', 'From, and where it is tested'],
      Object.entries(added).map(([key, text]) => [name(key), text]),
    ),
    '## Commands that are not generated',
    '',
    'They are tested by hand, or compared where what they depend on is under control.',
    '',
    ...table(
      ['Command', 'Why, or where it is compared'],
      Object.entries({ ...excluded, ...controlled }).map(([key, reason]) => [name(key), reason]),
    ),
    '## Answers that are not compared byte for byte',
    '',
    'All other replies are compared byte for byte.',
    '',
    ...table(
      ['Command', 'What may differ', 'Why'],
      Object.entries(loose).map(([key, [rule, reason]]) => [
        name(key),
        typeof rule === 'string' ? OPEN[rule] : 'some seconds in some of the elements',
        reason,
      ]),
    ),
  ].join('\n');
}
