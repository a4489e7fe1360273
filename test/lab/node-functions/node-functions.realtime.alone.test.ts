/** The router's patches, and proof that nothing else patches globals. */
import crypto from 'node:crypto';
import dns from 'node:dns';
import net from 'node:net';
import timersPromises from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Everything that the router replaces. */
function patched(): unknown[] {
  return [
    globalThis.setTimeout,
    globalThis.setImmediate,
    globalThis.clearTimeout,
    globalThis.Date,
    Math.random,
    performance.now,
    process.hrtime,
    AbortSignal.timeout,
    crypto.randomBytes,
    crypto.randomUUID,
    globalThis.crypto.getRandomValues,
    net.createConnection,
    timersPromises.setTimeout,
  ];
}

test('importing lostlock and starting a server patches nothing; the router patches once', async () => {
  const before = patched();
  const { startServer } = await import('../../../index.ts');
  await using server = await startServer();
  expect(server.port).toBeGreaterThan(0);
  expect(patched()).toEqual(before);
  await import('../../../lab/router.ts');
  const routed = patched();
  for (const [i, route] of routed.entries()) expect(route).not.toBe(before[i]);
  const { replaceNodeFunctions } = await import('../../../lab/node-functions/node-functions.ts');
  replaceNodeFunctions();
  expect(patched()).toEqual(routed);
});

test('outside of worlds the routed functions behave as before', async () => {
  await import('../../../lab/router.ts');
  expect(await promisify(setTimeout)(1, 'waited')).toBe('waited');
  expect(await promisify(setImmediate)('turned')).toBe('turned');
  expect(await promisify(dns.lookup)('127.0.0.1')).toEqual({ address: '127.0.0.1', family: 4 });
  expect(await new Promise((resolve) => crypto.randomBytes(4, (_, bytes) => resolve(bytes.length)))).toBe(4);
  expect(setTimeout.name).toBe('setTimeout');
  expect(() => setTimeout('no function' as never)).toThrow(TypeError);
  class Later extends Date {}
  expect(new Later(5)).toBeInstanceOf(Later);
  expect(new Later(5)).toBeInstanceOf(Date);
  expect(Date.UTC(2026, 0)).toBe(1_767_225_600_000);
  expect(AbortSignal.timeout(60_000).aborted).toBe(false);
  const timer = setTimeout(() => {}, 60_000);
  expect(timer.hasRef()).toBe(true);
  clearTimeout(timer);
});
