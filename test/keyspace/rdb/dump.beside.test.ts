/** DUMP payloads: made and restored, byte for byte as redis-server 7.0 does. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crc64 } from '../../../keyspace/format/crc64.ts';
import { RdbError } from '../../../keyspace/format/errors.ts';
import { dumpValue, restoreValue } from '../../../keyspace/rdb/dump.ts';
import type { Value } from '../../../keyspace/value.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { type Oracle, startOracle } from '../oracle.ts';
import { anyPlain, createCommand, toPlain, toValue } from './plain.ts';

function encodingOf(value: Value): string {
  return typeof value === 'string' ? 'string' : value.encoding();
}

/** The payload with a correct version and checksum. */
function seal(body: Uint8Array): string {
  const data = Buffer.concat([body, Buffer.from([10, 0])]);
  return Buffer.concat([data, crc64(data)]).toString('latin1');
}

describe('a DUMP payload', () => {
  it('is restored as the same value', () => {
    fc.assert(
      fc.property(anyPlain, (plain) => {
        const value = toValue(plain);
        const restored = restoreValue(dumpValue(value));
        expect(toPlain(restored)).toEqual(toPlain(value));
        expect(encodingOf(restored)).toBe(encodingOf(value));
      }),
    );
  });

  it('has the reference CRC-64', () => {
    expect(crc64(Buffer.from('123456789')).toString('hex')).toBe('cad9b8c414d9c6e9');
  });

  it('is refused when its version is too new or any bit is wrong', () => {
    const payload = dumpValue('a value of some length');
    for (let i = 0; i < payload.length; i++) {
      const code = String.fromCharCode(payload.charCodeAt(i) ^ 1);
      const wrong = payload.slice(0, i) + code + payload.slice(i + 1);
      expect(() => restoreValue(wrong)).toThrow(expect.objectContaining({ kind: 'checksum' }));
    }
    for (const short of ['', 'x', payload.slice(0, 9)]) {
      expect(() => restoreValue(short)).toThrow(expect.objectContaining({ kind: 'checksum' }));
    }
  });

  it('throws only RdbError, however it is mutated', () => {
    const mutation = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(anyPlain, fc.array(mutation, { minLength: 1, maxLength: 4 }), (plain, mutations) => {
        const body = Buffer.from(dumpValue(toValue(plain)).slice(0, -10), 'latin1');
        for (const [at, byte] of mutations) body[at % body.length] = byte;
        try {
          restoreValue(seal(body));
        } catch (error) {
          expect(error).toBeInstanceOf(RdbError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe.skipIf(!hasRedisServer)('beside redis-server (needs redis-server)', () => {
  let oracle: Oracle;
  beforeAll(async () => {
    oracle = await startOracle();
  });
  afterAll(() => oracle.stop());

  it('we read what it dumps, compressed or not', async () => {
    await fc.assert(
      fc.asyncProperty(anyPlain, fc.constantFrom('yes', 'no'), async (plain, compression) => {
        await oracle.call('config', 'set', 'rdbcompression', compression);
        await oracle.call('del', 'k');
        await oracle.call(...createCommand('k', plain));
        const payload = (await oracle.call('dump', 'k')) as string;
        const restored = restoreValue(payload);
        expect(toPlain(restored)).toEqual(toPlain(toValue(plain)));
        if (compression === 'no' && encodingOf(restored) !== 'hashtable') {
          expect(dumpValue(toValue(plain))).toBe(payload);
        }
        if (typeof restored !== 'string') {
          expect(encodingOf(restored)).toBe(await oracle.call('object', 'encoding', 'k'));
        }
      }),
    );
  });

  it('it restores what we dump, and dumps the same bytes', async () => {
    await oracle.call('config', 'set', 'rdbcompression', 'no');
    await fc.assert(
      fc.asyncProperty(anyPlain, async (plain) => {
        const value = toValue(plain);
        const payload = dumpValue(value);
        expect(await oracle.call('restore', 'k', '0', payload, 'replace')).toBe('OK');
        const again = (await oracle.call('dump', 'k')) as string;
        expect(toPlain(restoreValue(again))).toEqual(toPlain(value));
        if (encodingOf(value) !== 'hashtable') expect(again).toBe(payload);
      }),
    );
  });

  it('we refuse what it refuses', async () => {
    const mutation = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    await oracle.call('config', 'set', 'sanitize-dump-payload', 'yes');
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(anyPlain, mutation, async (plain, [at, byte]) => {
        const body = Buffer.from(dumpValue(toValue(plain)).slice(0, -10), 'latin1');
        body[at % body.length] = byte;
        const payload = seal(body);
        let taken: Value | undefined;
        try {
          taken = restoreValue(payload);
        } catch {
          refused++;
        }
        const answer = await oracle
          .call('restore', 'k', '0', payload, 'replace')
          .catch((error) => error.message);
        // We refuse whatever it refuses. It accepts a few invalid payloads that we refuse, such as a score that is not a number.
        if (taken === undefined) return;
        expect(answer, payload).toBe('OK');
        const there = restoreValue((await oracle.call('dump', 'k')) as string);
        expect(toPlain(there)).toEqual(toPlain(taken));
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(20);
  });
});
