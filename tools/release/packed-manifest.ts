/**
 * npm runs this before and after it packs: `--publishable` puts the published manifest in the place of package.json, and
 * `--development` puts ours back. A package must not have our scripts, because npm warns of `prepare` when it is installed.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { releaseManifest } from './manifest.ts';
import owner from './owner.json' with { type: 'json' };

const [manifest, ours] = ['package.json', '.package.json.development'];

// Moved and not copied, so that package.json keeps its date, by which builds are known to be new.
if (existsSync(ours)) renameSync(ours, manifest);
if (process.argv[2] === '--publishable') {
  const published = releaseManifest(JSON.parse(readFileSync(manifest, 'utf8')) as object, owner);
  renameSync(manifest, ours);
  writeFileSync(manifest, `${JSON.stringify(published, undefined, 2)}\n`);
}
