/** The code of clients in a file of its own, with fresh modules for each life where that can be had. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { present } from '../../lab/time/current-world.ts';
import type { ClientCode } from '../client.ts';
import { type ExploreOptions, type FullOptions, fullOptions, loadedAs, sharedText } from '../options.ts';
import { SharedModules } from './files.ts';
import { type FreshFile, freshFile } from './fresh.ts';

const FRESH = 'modules are loaded anew for each client and world';

/**
 * The code of a file. Rejects with TypeError when the file has none.
 * @param find the code among what the file exports
 * @param listed packages that are loaded anew as well
 */
export async function codeOfFile(
  file: string,
  find: (exported: Readonly<Record<string, unknown>>) => unknown,
  listed: readonly string[] = [],
): Promise<ClientCode> {
  const found = (exported: Readonly<Record<string, unknown>>): ClientCode => {
    const code = find(exported);
    if (typeof code !== 'function')
      throw new TypeError(`${file} exports no code of a client: a function client, or default`);
    return code as ClientCode;
  };
  let fresh: FreshFile;
  try {
    fresh = await freshFile(file, listed);
    await checkQuick(file, fresh);
  } catch (error) {
    if (!(error instanceof SharedModules)) throw error;
    const { importModule } = await import('../../start/running/import-module.ts');
    const shared = found((await importModule(pathToFileURL(file).href)) as Record<string, unknown>);
    loadedAs.set(shared, sharedText(error.message));
    return shared;
  }
  // Whether it has code is known before any world.
  found(await fresh.load());
  const client: ClientCode = async (session) => await found(await fresh.load())(session);
  loadedAs.set(client, FRESH);
  return client;
}

/** Rejects when the file awaits something that takes real time while it is loaded, which a world does not have. */
async function checkQuick(file: string, fresh: FreshFile): Promise<void> {
  let isDone = false;
  const done = (): void => {
    isDone = true;
  };
  // What it throws is thrown again, and told, when its code is looked for.
  void fresh.load().then(done, done);
  await new Promise<void>((resolve) => present.real.setImmediate(resolve));
  if (!isDone) throw new SharedModules(`${file} awaits something while it is loaded`);
}

/** Options with their defaults, and with the code of the file that `client` names. Rejects with TypeError for a wrong option. */
export async function loadedOptions(options: ExploreOptions): Promise<FullOptions> {
  const full = fullOptions(options);
  const { client, modules } = options;
  if (!(client instanceof URL)) return full;
  const code = await codeOfFile(
    fileURLToPath(client),
    (exported) => exported.client ?? exported.default,
    modules,
  );
  return fullOptions({ ...options, client: code });
}
