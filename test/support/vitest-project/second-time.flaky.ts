/** A test that passes the second time, one that passes at once, and one that never does. */
import { describe, expect, test } from 'vitest';

let tries = 0;

describe('a suite', () => {
  test('passes the second time', () => {
    expect(++tries).toBe(2);
  });

  test('passes at once', () => {
    expect(1).toBe(1);
  });

  test('never passes', () => {
    expect(1).toBe(2);
  });
});
