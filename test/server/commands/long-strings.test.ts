/** Long strings that are edited in place, with the same replies as short ones. */
import { beforeEach, expect, test } from 'vitest';
import { EDIT_MIN, EditedString } from '../../../keyspace/collections/edited-string.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { Random } from '../../differential/random.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

let server: Server;
let redis: Conversation;

beforeEach(() => {
  server = createNode(new TestHost());
  redis = new Conversation(server);
});

const held = (key: string) => server.db(0).peek(key)?.held;
const whole = (key: string) => server.db(0).read(key, 'string');

test('commands on parts of a long string edit and read it in place', () => {
  redis.ask('SETBIT k 8000000 1');
  const first = held('k');
  expect(typeof first).toBe('object');
  for (let i = 0; i < 100; i++) {
    redis.ask(`SETBIT k ${i * 1000} 1`);
    redis.ask(`SETRANGE k ${i * 7} ab`);
    redis.ask('APPEND k x');
    redis.ask(`BITFIELD k SET u8 ${i} 7`);
    for (const read of ['GETBIT k 1000', 'GETRANGE k 0 5', 'STRLEN k', 'BITCOUNT k 0 5', 'BITPOS k 1 0 9'])
      redis.ask(read);
    for (const read of ['BITFIELD_RO k GET u8 0', 'TYPE k', 'OBJECT ENCODING k', 'EXPIRE k 100', 'EXISTS k'])
      redis.ask(read);
    for (const read of ['OBJECT REFCOUNT k', 'MEMORY USAGE k']) redis.ask(read);
    for (const refused of ['LLEN k', 'HSET k f v', 'ZUNION 1 k'])
      expect(redis.ask(refused)).toContain('WRONGTYPE');
  }
  expect(held('k')).toBe(first);
});

test('a long string is edited in place while clients block on its key for other types', () => {
  new Conversation(server).ask('BLPOP k 0');
  new Conversation(server).ask('BZPOPMIN k 0');
  new Conversation(server).ask('XREAD BLOCK 0 STREAMS k 0');
  redis.ask('SETBIT k 8000000 1');
  const first = held('k');
  expect(first).toBeInstanceOf(EditedString);
  redis.ask('SETBIT k 7 1');
  redis.ask('SETRANGE k 5 ab');
  redis.ask('APPEND k x');
  expect(held('k')).toBe(first);
});

test('every command that reads a whole edited string returns all its edits', () => {
  redis.ask(`SETRANGE k ${EDIT_MIN} tail`);
  const text = `${'\0'.repeat(EDIT_MIN)}tail`;
  redis.ask('COPY k copied');
  redis.ask('APPEND k x');
  redis.ask('RENAME k moved');
  expect(whole('copied')).toBe(text);
  expect(whole('moved')).toBe(`${text}x`);
  redis.ask('SETBIT moved 0 1');
  expect(whole('copied')).toBe(text);
  expect(whole('moved')).toBe(`\x80${text.slice(1)}x`);
  expect(redis.ask('SETRANGE moved 0 y')).toBe(`:${EDIT_MIN + 5}`);
  expect(redis.ask('DEBUG DIGEST-VALUE moved')).not.toBe(redis.ask('DEBUG DIGEST-VALUE copied'));
  expect(redis.ask('HGET moved f')).toContain('WRONGTYPE');
  redis.ask('SET moved short');
  expect(redis.ask('GET moved')).toBe('"short"');
});

test('an edited string counts in used memory by its length', () => {
  redis.ask(`SETRANGE k ${EDIT_MIN * 4 - 1} x`);
  const edited = server.world.footprint;
  const usage = redis.ask('MEMORY USAGE k');
  redis.ask('FLUSHALL');
  redis.ask(`SET k ${'x'.repeat(EDIT_MIN * 4)}`);
  expect(server.world.footprint).toBe(edited);
  expect(redis.ask('MEMORY USAGE k')).toBe(usage);
});

test('bits are counted, found and combined alike in plain and in edited strings of any length', () => {
  const chance = new Random(3);
  for (let round = 0; round < 60; round++) {
    const bits = Array.from({ length: 8 * (1 + chance.below(40)) }, () => chance.below(2));
    const ahead = round % 2 === 0 ? 0 : (EDIT_MIN + 5000) * 8;
    redis.ask('DEL k other out');
    if (ahead > 0) redis.ask(`SETRANGE k ${EDIT_MIN + 5000 + bits.length / 8 - 1} x`);
    for (const [i, bit] of bits.entries()) redis.ask(`SETBIT k ${ahead + i} ${bit}`);
    const from = chance.below(bits.length);
    const to = chance.below(bits.length);
    for (const form of ['edited', 'whole']) {
      if (form === 'whole') whole('k');
      const range = `${ahead + from} ${ahead + to} BIT`;
      const inside = bits.slice(from, to + 1);
      expect(redis.ask(`BITCOUNT k ${range}`)).toBe(`:${inside.filter((bit) => bit === 1).length}`);
      for (const bit of [0, 1]) {
        const found = inside.indexOf(bit);
        expect(redis.ask(`BITPOS k ${bit} ${range}`)).toBe(`:${found < 0 ? -1 : ahead + from + found}`);
      }
    }
    redis.ask('SETRANGE other 3 abcdefgh');
    for (const [name, combine] of Object.entries({
      AND: (a: number, b: number) => a & b,
      OR: (a: number, b: number) => a | b,
      XOR: (a: number, b: number) => a ^ b,
    })) {
      redis.ask(`BITOP ${name} out k other`);
      const [a, b] = [`${whole('k')}`, `${whole('other')}`];
      const length = Math.max(a.length, b.length);
      const at = (text: string, i: number): number => (i < text.length ? text.charCodeAt(i) : 0);
      const combined = Array.from({ length }, (_, i) => String.fromCharCode(combine(at(a, i), at(b, i))));
      expect(whole('out')).toBe(combined.join(''));
    }
  }
});

/** A simple model of what each command does to a string. */
class Model {
  bytes: number[] = [];
  write(at: number, part: readonly number[]): void {
    while (this.bytes.length < at) this.bytes.push(0);
    for (const [i, byte] of part.entries()) this.bytes[at + i] = byte;
  }
}

test('random edits around the length where in-place editing starts match the same edits of a plain array', () => {
  const chance = new Random(7);
  const below = (end: number): number => chance.below(end);
  const model = new Model();
  for (let step = 0; step < 1500; step++) {
    const at = below(EDIT_MIN + 3000);
    const kind = below(5);
    if (kind === 0) {
      redis.ask(`SETRANGE k ${at} abc`);
      model.write(at, [97, 98, 99]);
    } else if (kind === 1) {
      redis.ask('APPEND k zz');
      model.write(model.bytes.length, [122, 122]);
    } else if (kind === 2) {
      const bit = below(2);
      const old = model.bytes[at] ?? 0;
      redis.ask(`SETBIT k ${at * 8 + 1} ${bit}`);
      model.write(at, [(old & ~64) | (bit * 64)]);
    } else if (kind === 3) {
      redis.ask(`BITFIELD k SET u8 #${at} 200`);
      model.write(at, [200]);
    } else if (step % 50 === 0) {
      redis.ask(`SETRANGE k 0 q`);
      model.write(0, [113]);
      expect(whole('k')).toBe(String.fromCharCode(...model.bytes));
    }
  }
  expect(whole('k')).toBe(String.fromCharCode(...model.bytes));
});
