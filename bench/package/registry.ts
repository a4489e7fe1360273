/** A registry on 127.0.0.1 that serves packed packages, so that npm installs all contestants in the same way. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** What a package's own manifest says. */
interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Serves the packed packages of a folder, one version of each. Returns its URL, and what ends it. */
export async function serveRegistry(
  folder: string,
): Promise<{ readonly url: string; readonly close: () => void }> {
  const packages = new Map<string, { readonly manifest: Manifest; readonly file: string }>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.tgz'))) {
    const text = execFileSync('tar', ['-xOf', join(folder, file), 'package/package.json'], {
      encoding: 'utf8',
    });
    const manifest = JSON.parse(text) as Manifest;
    packages.set(manifest.name, { manifest, file });
  }
  let url = '';
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '').slice(1));
    // npm asks its cache first for what does not change.
    response.setHeader('cache-control', 'public, immutable, max-age=31557600');
    if (name.endsWith('.tgz')) {
      response.end(readFileSync(join(folder, name)));
      return;
    }
    const found = packages.get(name);
    if (found === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    const { manifest, file } = found;
    const hash = createHash('sha512')
      .update(readFileSync(join(folder, file)))
      .digest('base64');
    const dist = { tarball: `${url}${file}`, integrity: `sha512-${hash}` };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        name,
        'dist-tags': { latest: manifest.version },
        versions: { [manifest.version]: { ...manifest, dist } },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, close: () => void server.close() };
}
