/** Malicious inputs: vulnerabilities of the past, connections that are reset after every byte, and fuzzing. */
import { setTimeout as wait } from 'node:timers/promises';
import { corpus } from '../../test/protocol/corpus.ts';
import { cveBytes, cveInputs } from '../../test/protocol/cve-inputs.ts';
import { fuzzInput } from '../../test/protocol/fuzz-inputs.ts';
import { attack, count, type Finding } from './attack.ts';
import type { Target } from './target.ts';

function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}

/** Sends bytes on a new connection and waits until the server is silent or has closed it. */
async function send(target: Target, bytes: string): Promise<string> {
  const socket = await target.dial();
  let heard = '';
  let last = performance.now();
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString('latin1').slice(0, 1000);
    last = performance.now();
  });
  socket.write(bytes, 'latin1');
  while (!socket.destroyed && performance.now() - last < 50) await wait(5);
  socket.destroy();
  return heard;
}

/** Every input of the CVE corpus. */
export function cves(): Promise<Finding[]> {
  return attack('the CVE corpus', [], async (target) => {
    for (const { requests } of cveInputs) await send(target, requests.map(encode).join(''));
    for (const { bytes } of cveBytes) await send(target, bytes);
    const names = new Set([...cveInputs, ...cveBytes].map(({ cve }) => cve));
    return `${cveInputs.length + cveBytes.length} inputs for ${names.size} CVEs, all survived; the answers are asserted by test/server/cves.test.ts`;
  });
}

const CONVERSATION = [
  ['SET', 'k', 'v', 'PX', '10000'],
  ['MULTI'],
  ['INCR', 'n'],
  ['EXEC'],
  ['EVAL', "return redis.call('GET', KEYS[1])", '1', 'k'],
  ['SUBSCRIBE', 'c'],
  ['UNSUBSCRIBE', 'c'],
  ['BLPOP', 'nothing', '0'],
]
  .map(encode)
  .join('');

/** A conversation that is reset after each of its bytes, both at once and after the server has read them. */
export function resets(): Promise<Finding[]> {
  return attack('a conversation reset behind each of its bytes', [], async (target) => {
    let tries = 0;
    for (const late of [false, true]) {
      for (let at = 1; at <= CONVERSATION.length; at++) {
        const socket = await target.dial();
        socket.write(CONVERSATION.slice(0, at), 'latin1');
        if (late) await wait(2);
        socket.resetAndDestroy();
        tries++;
      }
    }
    await wait(500);
    const [, connected] = /connected_clients:(\d+)/.exec(await target.ask('INFO clients')) ?? [];
    return `${count(tries)} connections reset; ${Number(connected) - 2} left behind`;
  });
}

const seeds = corpus.map(({ bytes }) => bytes).filter((bytes) => bytes.length > 0 && bytes.length < 500);

/** Fuzzes over TCP, with several inputs per connection. */
export function fuzz(inputs: number): Promise<Finding[]> {
  return attack(`fuzz: ${count(inputs)} inputs over TCP`, [], async (target) => {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let n = next++; n < inputs; n = next++) {
        const socket = await target.dial();
        socket.resume().write(fuzzInput(n, seeds, []), 'latin1');
        await wait(1);
        socket.destroy();
      }
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    return `${count(inputs)} inputs, no internal error, ${target.errors.length} warnings in the log; in memory a million each for the decoder and a whole server: test/protocol/fuzz.test.ts in the long mode`;
  });
}
