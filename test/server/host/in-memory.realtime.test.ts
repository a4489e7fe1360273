/** The in-memory transport hands bytes on as a stream does, also where it does without the stream's buffers. */
import { expect, test } from 'vitest';
import { startServer } from '../../../index.ts';

test('a text is sent in the default encoding of the stream', async () => {
  await using server = await startServer();
  const stream = server.connect();
  const echo = '*2\r\n$4\r\nECHO\r\n$2\r\né!\r\n';
  for (const [encoding, length] of [
    ['latin1', 2],
    ['utf8', 3],
  ] as const) {
    stream.setDefaultEncoding(encoding);
    const reply = new Promise<Buffer>((resolve) => stream.once('data', resolve));
    stream.write(echo.replace('$2', `$${length}`));
    expect((await reply).toString(encoding)).toBe(`$${length}\r\né!\r\n`);
  }
  stream.destroy();
});

test('texts arrive as UTF-8 when they are split, and when another stream writes in between', async () => {
  await using server = await startServer();
  const [one, other] = [server.connect(), server.connect()];
  const echo = (text: string): string => `*2\r\n$4\r\nECHO\r\n$${Buffer.byteLength(text)}\r\n${text}\r\n`;
  const heard = async (stream: typeof one, reply: string): Promise<void> => {
    let bytes = '';
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      bytes += chunk.toString();
      if (bytes.length >= reply.length) break;
    }
    expect(bytes).toBe(reply);
  };
  for (const text of ['short', 'h\u00e9llo \u4e2d\u6587', 'x'.repeat(4096), '\u4e2d'.repeat(4000)]) {
    const request = echo(text);
    const reply = `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
    for (const at of [0, 1, 15, request.length >> 1, request.length - 1]) {
      one.write(request.slice(0, at));
      other.write(echo(`other ${at}`));
      // The first part is passed on before the rest is written.
      await heard(other, `$${`other ${at}`.length}\r\nother ${at}\r\n`);
      one.write(request.slice(at));
      await heard(one, reply);
      // In one tick, as one chunk.
      one.write(request.slice(0, at));
      one.write(request.slice(at));
      await heard(one, reply);
    }
  }
  one.destroy();
  other.destroy();
});
