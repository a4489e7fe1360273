/** The number of nodes of a stream's radix tree, which is kept until runs of entries come or go. */
import { expect, test } from 'vitest';
import { makeId } from '../../keyspace/stream/id.ts';
import { radixTreeNodes } from '../../keyspace/stream/radix.ts';
import { StreamValue } from '../../keyspace/stream/stream.ts';

test('the nodes of the radix tree are counted again after runs have come or gone', () => {
  const stream = new StreamValue();
  const expectSame = (): void => expect(radixTreeNodes(stream)).toBe(radixTreeNodes(stream.copy()));
  for (let i = 1; i <= 1000; i++) {
    stream.append(makeId(i * i, i), ['f', String(i)]);
    if (i % 90 === 0) expectSame();
  }
  for (let i = 301; i <= 400; i++) expect(stream.delete(makeId(i * i, i))).toBe(true);
  expectSame();
  stream.trimTo({ maxLength: 350 });
  expectSame();
  stream.trimTo({ maxLength: 50, references: 'DELREF' });
  expectSame();
});
