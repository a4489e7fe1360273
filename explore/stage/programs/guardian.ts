/**
 * A small process that outlives this one: when this one is gone, however it ended, it kills the programs that it had started. Each
 * program has a process group of its own, so that a signal reaches what it has started as well, and Ctrl-C does not.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** Reads `+ group` and `- group`. At the end of its input it kills the groups that are left. A shell, because it is there and small. */
const SCRIPT = `
all=' '
while read -r sign group; do
  case $sign in
    +) all="$all$group " ;;
    -) all="\${all%% $group *} \${all#* $group }" ;;
  esac
done
for group in $all; do kill -s CONT -- "-$group" 2>/dev/null; kill -s KILL -- "-$group" 2>/dev/null; done
`;

/** The guardian of this process. It starts with the first program, and ends with the last one. */
class Guardian {
  #child: ChildProcess | undefined;
  readonly #groups = new Set<number>();

  /** A process group is to end with this process. */
  add(group: number): void {
    this.#groups.add(group);
    if (this.#child === undefined) this.#start();
    else this.#tell(`+ ${group}`);
  }

  /** The process group has ended. */
  remove(group: number): void {
    if (!this.#groups.delete(group)) return;
    this.#tell(`- ${group}`);
    if (this.#groups.size > 0) return;
    const child = this.#child;
    this.#child = undefined;
    child?.stdin?.end();
  }

  #start(): void {
    const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    this.#child = child;
    child.stdin.on('error', () => {});
    child.on('error', () => {});
    child.unref();
    (child.stdin as unknown as { unref?(): void }).unref?.();
    for (const group of this.#groups) this.#tell(`+ ${group}`);
    // Somebody may have killed it: another one takes its place.
    child.once('exit', () => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#groups.size > 0) this.#start();
    });
  }

  #tell(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }
}

/** The guardian of this process. */
export const guardian = new Guardian();
