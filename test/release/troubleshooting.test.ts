/** Every message that docs/troubleshooting.md explains is one that the code produces. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSources } from '../tidy/source-text.ts';

/** The folders whose code prints nothing for users of the package. */
const NOT_SHIPPED = /^(test|bench|docs|integrations|tools|examples)\//;

/** What stands in strings of the code, with each gap as one space: comments and names do not count. */
const strings = readSources('.')
  .filter(({ path }) => !NOT_SHIPPED.test(path))
  .map(({ text, code, comments }) =>
    [...text].map((char, at) => (code[at] === ' ' && comments[at] === ' ' ? char : ' ')).join(''),
  )
  .join('\n')
  .replace(/\\(['"`])/g, '$1')
  .replace(/\s+/g, ' ');

/** True for a message of the code. `…` on the page stands for what differs from case to case. */
function isProduced(message: string): boolean {
  const parts = message.split('…').map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(parts.join('.{0,80}?')).test(strings);
}

/** The messages of the page: the code spans in the first column of its tables. */
function messagesOf(page: string): string[] {
  const rows = page.split('\n').filter((line) => /^\| (?!message|---)/.test(line));
  return rows.flatMap((row) => {
    const [, first = ''] = row.split(/(?<!\\)\|/);
    return [...first.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message);
  });
}

test('every message of the page is produced', () => {
  const [ours = '', others = ''] = readFileSync('docs/troubleshooting.md', 'utf8').split('## From others');
  const messages = messagesOf(ours);
  expect(messages.length).toBeGreaterThan(35);
  expect(messages.filter((message) => !isProduced(message))).toEqual([]);
  // What runners and libraries say is not ours.
  expect(messagesOf(others).filter(isProduced)).toEqual([]);
});

test('a message that the code does not produce is noticed, and so are words of a comment', () => {
  expect(
    ['starts real I/O', 'this test has two servers already', 'What stands in strings'].map(isProduced),
  ).toEqual([false, false, false]);
  expect(['began real I/O', 'there is no option …'].map(isProduced)).toEqual([true, true]);
});
