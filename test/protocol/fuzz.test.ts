/** Fuzzes the decoder and whole servers with random and mutated input: nothing may crash, hang or leave state behind. */
import { expect, test } from 'vitest';
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { allCommands } from '../../server/commands/index.ts';
import type { Connection } from '../../server/host/host.ts';
import { nodeHost } from '../../server/host/node.ts';
import { createNode } from '../../server/index.ts';
import type { Server } from '../../server/server.ts';
import { sampleOf } from '../support/long.ts';
import { replyEnd, request } from '../support/reply-text.ts';
import { corpus } from './corpus.ts';
import { Chance, fuzzInput } from './fuzz-inputs.ts';
import { type Decoded, modelDecode } from './model-decoder.ts';

const seeds = corpus.map(({ bytes }) => bytes).filter((bytes) => bytes.length > 0 && bytes.length < 500);
const MAX_BULK = 2000;

function decode(pieces: readonly Bytes[]): Decoded {
  const decoder = new RequestDecoder({ maxBulk: MAX_BULK, authenticated: true });
  const requests: Bytes[][] = [];
  for (const piece of pieces) {
    decoder.write(toBuffer(piece));
    for (let argv = decoder.next(); argv !== undefined; argv = decoder.next()) requests.push(argv);
  }
  return { requests, failure: decoder.failure };
}

function cutSomewhere(text: Bytes, chance: Chance): Bytes[] {
  const pieces: Bytes[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + chance.below(chance.below(2) === 0 ? 3 : text.length);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

test('the decoder agrees with a simple model on a million inputs, whole and in pieces', () => {
  const differences: object[] = [];
  for (let index = 0; index < sampleOf(1_000_000, 10_000); index++) {
    const input = fuzzInput(index, seeds, []);
    const wanted = JSON.stringify(modelDecode(input, MAX_BULK));
    const pieces = cutSomewhere(input, new Chance(-index));
    // Comparing strings is faster than expect. Only differences are parsed into objects.
    for (const given of [[input], pieces]) {
      if (JSON.stringify(decode(given)) !== wanted)
        differences.push({ index, given, ...decode(given), wanted });
    }
    if (differences.length > 0) break;
  }
  expect(differences).toEqual([]);
});

/** Commands that end the server, wait for the real clock, write files, connect elsewhere or break the server on purpose. */
const dangerous = new Set([
  'shutdown',
  'debug',
  'save',
  'bgsave',
  'bgrewriteaof',
  'replicaof',
  'slaveof',
  'failover',
]);
dangerous
  .add('cluster')
  .add('config|rewrite')
  .add('config|set')
  .add('client|pause')
  .add('module')
  .add('acl')
  .add('migrate');
const names = allCommands
  .filter(({ name }) => !dangerous.has(name))
  .flatMap(({ name, subcommands }) => [
    name,
    ...[...(subcommands?.keys() ?? [])].map((sub) => `${name}|${sub}`),
  ])
  .filter((name) => !dangerous.has(name));

class FakeConnection implements Connection {
  readonly remote = '127.0.0.1:1';
  readonly local = '127.0.0.1:2';
  readonly pending = 0;
  sent: Bytes = '';
  closed = false;
  send(bytes: Bytes): void {
    this.sent += bytes;
  }
  close(): void {
    this.closed = true;
  }
  abort(): void {
    this.closed = true;
  }
  pause(): void {}
  resume(): void {}
}

/** Throws if the bytes are not complete replies. */
function checkWhole(sent: Bytes): void {
  for (let at = 0; at < sent.length; ) {
    const end = replyEnd(sent, at);
    if (end < 0) throw new Error(`half a reply: ${sent.slice(at, at + 100)}`);
    at = end;
  }
}

/** Sends inputs to one server, with a new client every few inputs. Returns what went wrong inside. */
function storm(from: number, count: number): { server: Server; errors: string[] } {
  const errors: string[] = [];
  const log = (level: string, text: string): void => {
    if (level === 'warning' && text.startsWith('Internal error')) errors.push(text);
  };
  const server = createNode(nodeHost(), { log });
  const ping = toBuffer(request('PING'));
  const peer = new FakeConnection();
  const bystander = server.connections.accept(peer);
  for (let index = from; index < from + count; index++) {
    const connection = new FakeConnection();
    const client = server.connections.accept(connection);
    const chance = new Chance(-index);
    try {
      for (const piece of cutSomewhere(fuzzInput(index, seeds, names), chance))
        client?.receive(toBuffer(piece));
      // A replica gets more than replies.
      if (!/sync/i.test(fuzzInput(index, seeds, names))) checkWhole(connection.sent);
    } catch (error) {
      errors.push(`input ${index}: ${error instanceof Error ? error.stack : error}`);
    }
    if (errors.length > 0) {
      errors.push(`input ${index}: ${JSON.stringify(fuzzInput(index, seeds, names))}`);
      break;
    }
    client?.closed();
    peer.sent = '';
    bystander?.receive(ping);
    if (peer.sent !== '+PONG\r\n')
      errors.push(`input ${index}: the bystander heard ${JSON.stringify(peer.sent)}`);
  }
  return { server, errors };
}

test('a whole server survives a million inputs, answers in whole replies and keeps serving others', () => {
  const each = 5000;
  for (let from = 0; from < sampleOf(1_000_000, 10_000); from += each) {
    const { server, errors } = storm(from, each);
    expect(errors).toEqual([]);
    expect(server.clients.size).toBe(1);
    expect(server.stats.internalErrors).toBe(0);
    server.stop();
  }
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('a');
});
