/** The code of the page as text. In the built package the bundler replaces this file by the text (tools/build.ts). */
import { join } from 'node:path';
import type { PageCode } from './html.ts';

let bundled: Promise<PageCode> | undefined;

/** Bundles the page with esbuild, once in a process. */
export function pageCode(): Promise<PageCode> {
  bundled ??= bundlePage(join(import.meta.dirname, 'app'));
  return bundled;
}

/** Bundles the page in a folder: its main.ts, and its style.ts. */
export async function bundlePage(folder: string): Promise<PageCode> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'main.ts'), join(folder, 'style.ts')],
    outdir: folder,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    charset: 'ascii',
    target: 'es2022',
    logLevel: 'warning',
  });
  const text = (name: string): string => outputFiles.find(({ path }) => path.endsWith(name))?.text ?? '';
  const { STYLE } = (await import(`data:text/javascript,${encodeURIComponent(text('style.js'))}`)) as {
    STYLE: string;
  };
  return { script: text('main.js'), style: STYLE };
}
