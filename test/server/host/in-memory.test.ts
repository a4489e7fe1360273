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
