/** The hashes of the playground's worker are those of Node. */
import * as node from 'node:crypto';
import { expect, test } from 'vitest';
import { createHash } from '../../playground/browser/hashes.ts';

for (const name of ['sha1', 'sha256']) {
  test(`${name} of texts of every length around a block, in parts and copied, is Node's`, () => {
    for (let length = 0; length < 200; length += length > 60 && length < 70 ? 1 : 3) {
      const text = String.fromCharCode(...Array.from({ length }, (_, i) => (i * 31) % 256));
      const whole = node.createHash(name).update(text, 'latin1').digest('hex');
      const half = createHash(name).update(text.slice(0, length >> 1), 'latin1');
      expect(
        half
          .copy()
          .update(text.slice(length >> 1), 'latin1')
          .digest('hex'),
      ).toBe(whole);
      // The copy has left the original alone.
      expect(half.update(text.slice(length >> 1), 'latin1').digest('hex')).toBe(whole);
    }
    const long = '\u00e9'.repeat(20_000);
    expect(createHash(name).update(long).digest('base64')).toBe(
      node.createHash(name).update(long).digest('base64'),
    );
  });
}

test('other hashes are refused', () => {
  expect(() => createHash('md5')).toThrow('no md5');
});
