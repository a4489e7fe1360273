/** Vectors in every form beside the real servers: what is stored, and the scores, are equal to the last bit. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { Beside, labelled } from '../../../support/beside/beside.ts';
import { testBeside } from '../../../support/beside/each.ts';
import { blob, vectorDialects, vectorOf } from './vectors.ts';

const FORMS = ['NOQUANT', 'Q8', 'BIN'] as const;
/** Around the sizes of the blocks in which products are added, and some that embeddings have. */
const DIMENSIONS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 256, 300, 768];
const ELEMENTS = 5;

const sets = fc.tuple(fc.constantFrom(...DIMENSIONS), fc.constantFrom(...FORMS)).chain(([dimension, form]) =>
  fc.record({
    form: fc.constant(form),
    reduced: fc.option(fc.integer({ min: 1, max: dimension + 2 }), { freq: 3 }),
    vectors: fc.array(vectorOf(dimension), { minLength: 1, maxLength: ELEMENTS }),
    query: vectorOf(dimension),
  }),
);

testBeside(vectorDialects, '%s stores and compares vectors alike', async (dialect) => {
  await using both = await Beside.start([], dialect);
  await fc.assert(
    fc.asyncProperty(sets, async ({ form, reduced, vectors, query }) => {
      const reduce = reduced === null ? [] : ['REDUCE', String(reduced)];
      const requests = [['DEL', 'k']];
      for (const [i, vector] of vectors.entries()) {
        requests.push(['VADD', 'k', ...reduce, 'FP32', blob(vector), `e${i}`, form]);
      }
      for (const i of vectors.keys()) {
        requests.push(['VEMB', 'k', `e${i}`], ['VEMB', 'k', `e${i}`, 'RAW']);
        requests.push(['VSIM', 'k', 'ELE', `e${i}`, 'WITHSCORES', 'TRUTH']);
      }
      requests.push(['VSIM', 'k', 'FP32', blob(query), 'WITHSCORES', 'TRUTH', 'COUNT', '2']);
      requests.push(['DEBUG', 'DIGEST-VALUE', 'k'], ['VCARD', 'k'], ['VDIM', 'k']);
      const lines = requests.map(([name, ...words]) => `${name} ${JSON.stringify(words)}`);
      const { ours, theirs } = await both.askWords(requests);
      expect(labelled(lines, ours)).toEqual(labelled(lines, theirs));
    }),
    { numRuns: 25 },
  );
});

testBeside(['redis-8.0'], '%s estimates the memory alike', async (dialect) => {
  await using both = await Beside.start([], dialect);
  for (const [index, options] of [['NOQUANT'], ['BIN'], ['M', '4'], ['SETATTR', 'x'.repeat(90)]].entries()) {
    const requests = [['DEL', 'k']];
    for (let i = 0; i < 30; i++) {
      requests.push(['VADD', 'k', 'VALUES', '3', '1', '2', '3', 'e'.repeat(1 + i * index), ...options]);
      requests.push(['MEMORY', 'USAGE', 'k']);
    }
    requests.push([
      'VADD',
      'k',
      'VALUES',
      '3',
      '1',
      '2',
      '3',
      'bare',
      ...options.filter((word) => word.length < 9),
    ]);
    const { ours, theirs } = await both.askWords(requests);
    expect(ours).toEqual(theirs);
  }
});
