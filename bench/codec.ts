/** Measures how fast requests are decoded and replies encoded, beside redis-parser: `npx tsx bench/codec.ts`. */
import RedisParser from 'redis-parser';
import { type Bytes, toBuffer } from '../protocol/bytes.ts';
import { RequestDecoder } from '../protocol/decode.ts';
import { encodeReply, encodeRequest } from '../protocol/encode.ts';
import { NULL_ARRAY, OK, type Reply } from '../protocol/reply.ts';

const PIPELINE = 100;
const ROUND_MS = 150;
const ROUNDS = 6;

const sha = '0123456789abcdef0123456789abcdef01234567';
const requests: Record<string, (i: number) => Bytes[]> = {
  GET: (i) => ['GET', `key:${String(i).padStart(12, '0')}`],
  SET: (i) => ['SET', `key:${String(i).padStart(12, '0')}`, 'xxx'],
  'SET NX PX': (i) => ['SET', `lock:${i}`, '0f8fad5b-d9cb-469f-a165-70867728950e', 'NX', 'PX', '30000'],
  EVALSHA: (i) => ['EVALSHA', sha, '1', `lock:${i}`, '30000', '0f8fad5b-d9cb-469f-a165-70867728950e:1'],
  'EVALSHA of 12 words': (i) => [
    'EVALSHA',
    sha,
    '3',
    `{l:${i}}:a`,
    `{l:${i}}:b`,
    `{l:${i}}:c`,
    '1',
    '2',
    '3',
    '4',
    '5',
    '6',
  ],
  'SET of 4 KiB': (i) => ['SET', `key:${i}`, 'x'.repeat(4096)],
  'SET of 32 KiB': (i) => ['SET', `key:${i}`, 'x'.repeat(32768)],
};
const replies: Record<string, Reply> = {
  OK,
  'a bulk string of 3': 'xxx',
  'an integer': 1,
  null: null,
  'an absent array': NULL_ARRAY,
  'a bulk string of 36': '0f8fad5b-d9cb-469f-a165-70867728950e',
  'an array of 3': ['message', 'channel', 'payload'],
};

/**
 * Calls per second of CPU time for each run, which makes `times` calls. The runs alternate, and the best round counts.
 */
function rates(times: number, runs: readonly (() => void)[]): number[] {
  const best = runs.map(() => 0);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [which, run] of runs.entries()) {
      const start = process.cpuUsage();
      let count = 0;
      let used = 0;
      while (used < ROUND_MS * 1000) {
        for (let i = 0; i < 20; i++) run();
        count += 20 * times;
        const { user, system } = process.cpuUsage(start);
        used = user + system;
      }
      best[which] = Math.max(best[which] ?? 0, (count / used) * 1e6);
    }
  }
  return best;
}

const millions = (perSecond: number): string => (perSecond / 1e6).toFixed(2).padStart(7);
let sink = 0;

console.log(
  `million requests decoded per CPU second, pipelines of ${PIPELINE}: ours, redis-parser (strings), ratio`,
);
for (const [name, make] of Object.entries(requests)) {
  const chunk = toBuffer(Array.from({ length: PIPELINE }, (_, i) => encodeRequest(make(i))).join(''));
  const decoder = new RequestDecoder({ maxBulk: 512 * 1024 ** 2, authenticated: true });
  const decode = (): void => {
    decoder.write(chunk);
    for (let argv = decoder.next(); argv !== undefined; argv = decoder.next()) sink += argv.length;
  };
  const parser = new RedisParser({
    returnReply: (argv: string[]) => {
      sink += argv.length;
    },
    returnError: () => {},
  });
  const [ours = 0, theirs = 0] = rates(PIPELINE, [decode, () => parser.execute(chunk)]);
  console.log(
    `${name.padEnd(22)}${millions(ours)}${millions(theirs)}${(ours / theirs).toFixed(2).padStart(7)}`,
  );
}

console.log('million replies encoded per CPU second, batches of 100 joined and written to a buffer');
const out = Buffer.alloc(1 << 16);
for (const [name, reply] of Object.entries(replies)) {
  const encode = (): void => {
    let text = '';
    for (let i = 0; i < PIPELINE; i++) text += encodeReply(reply, 2);
    sink += out.latin1Write(text, 0);
  };
  console.log(`${name.padEnd(22)}${millions(rates(PIPELINE, [encode])[0] ?? 0)}`);
}
if (sink === 0) throw new Error('nothing was decoded');
