/** Inputs that exploited past Redis vulnerabilities do no harm here. */
import { expect, test } from 'vitest';
import { createNode } from '../../server/index.ts';
import type { Server } from '../../server/server.ts';
import { type CveInput, cveBytes, cveInputs } from '../protocol/cve-inputs.ts';
import { TestHost } from '../support/targets.ts';

/** A client that records what it receives. */
function dial(server: Server) {
  let heard = '';
  const client = server.connections.accept({
    remote: '127.0.0.1:1',
    local: '127.0.0.1:2',
    pending: 0,
    send: (bytes) => {
      heard += bytes;
    },
    close() {},
    abort() {},
    pause() {},
    resume() {},
  });
  if (client === undefined) throw new Error('refused');
  return {
    send(bytes: string): string {
      heard = '';
      client.receive(Buffer.from(bytes, 'latin1'));
      return heard;
    },
    leave: () => client.closed(),
  };
}

const encode = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;

const titled = (input: CveInput): [string, CveInput] => [`${input.cve}: ${input.what}`, input];

test.each(cveInputs.map(titled))('%s', (_, { requests, answer }) => {
  const host = new TestHost();
  const server = createNode(host);
  const client = dial(server);
  let reply = '';
  for (const words of requests) reply = client.send(encode(words));
  if (answer !== undefined) expect(reply.slice(0, 200)).toMatch(answer);
  expect(reply).not.toBe('');
  expect(server.stats.internalErrors).toBe(0);
  expect(dial(server).send('PING\r\n')).toBe('+PONG\r\n');
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test.each(cveBytes.map(({ cve, what, bytes }): [string, string] => [`${cve}: ${what}`, bytes]))(
  '%s',
  (_, bytes) => {
    const server = createNode(new TestHost());
    const client = dial(server);
    client.send(bytes);
    const other = dial(server);
    expect(other.send('PING\r\n')).toBe('+PONG\r\n');
    expect(other.send('RPUSH x 1\r\n')).toMatch(/^:/);
    client.leave();
    expect(other.send('PING\r\n')).toBe('+PONG\r\n');
    expect(server.stats.internalErrors).toBe(0);
  },
);

test('connections that send HTTP are closed, and logged once a minute', () => {
  const host = new TestHost();
  const log: string[] = [];
  const server = createNode(host, { log: (_, text) => log.push(text) });
  for (let i = 0; i < 5; i++) expect(dial(server).send('POST / HTTP/1.1\r\nHost: x\r\nPING\r\n')).toBe('');
  expect(log).toEqual([expect.stringContaining('looks like HTTP')]);
  host.advance(60_000);
  dial(server).send('Host: x\r\n');
  expect(log).toHaveLength(2);
  expect(server.clients.size).toBe(0);
});
