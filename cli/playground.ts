/** `npx lostlock playground`: serves the playground on 127.0.0.1, or writes its folder for any static host. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join } from 'node:path';
import { parseOptions, UsageError } from './usage.ts';

const HELP = `Usage: lostlock playground [options]

Serves the playground on 127.0.0.1: the lab in a browser, with locks, faults and a search for failures.
  --port N       listen on this port (default: a free one)
  --out FOLDER   write the playground's files to a folder instead; any static web server can serve them
`;

const TEXT = { type: 'string' } as const;
const OPTIONS = { port: TEXT, out: TEXT, help: { type: 'boolean' } } as const;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

const NAMES = ['index.html', 'app.js', 'worker.js', 'style.css'];

/** The files by their names: those beside the program, or bundled now when it runs from its sources. */
async function siteFiles(): Promise<ReadonlyMap<string, string>> {
  const folder = join(dirname(realpathSync(process.argv[1] ?? '.')), 'playground');
  if (!existsSync(join(folder, 'index.html')))
    return (await import('../playground/bundle.ts')).playgroundFiles();
  return new Map(NAMES.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Runs the command. Returns the exit status, 2 for wrong usage; while it serves, the process stays alive. */
export async function playgroundCommand(argv: readonly string[]): Promise<number> {
  let values: { port?: string | undefined; out?: string | undefined; help?: boolean | undefined };
  try {
    ({ values } = parseOptions(argv, { options: OPTIONS }));
    if (values.port !== undefined && !(/^\d{1,5}$/.test(values.port) && Number(values.port) < 65_536))
      throw new UsageError(`--port ${values.port}: must be an integer from 0 to 65535`);
    if (values.port !== undefined && values.out !== undefined)
      throw new UsageError('--port does nothing with --out');
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${HELP}`);
    return 2;
  }
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const files = await siteFiles();
  if (values.out !== undefined) {
    mkdirSync(values.out, { recursive: true });
    for (const [name, content] of files) writeFileSync(join(values.out, name), content);
    process.stdout.write(`Written to ${values.out}\n`);
    return 0;
  }
  const { url } = await serveFiles(files, Number(values.port ?? 0));
  process.stdout.write(`Playground ready: ${url}\n`);
  return 0;
}

/** Serves files on 127.0.0.1. Rejects when the port is in use. Returns the URL, and what ends it. */
export function serveFiles(
  files: ReadonlyMap<string, string>,
  port: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const name = path === '/' ? 'index.html' : path.slice(1);
    const content = files.get(name);
    const type = TYPES[extname(name)] ?? 'text/plain';
    response.writeHead(content === undefined ? 404 : 200, {
      'content-type': type,
      'cache-control': 'no-cache',
    });
    response.end(content ?? 'not found\n');
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      }),
    );
  });
}
