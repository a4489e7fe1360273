/** What the bench ran on. */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

/** Node's version, the processor and the version of redis-server, as a part of a sentence. */
export function machine(): string {
  const printed = execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
  const [, version = '?'] = /v=(\S+)/.exec(printed) ?? [];
  const cores = cpus();
  return `on Node ${process.version}, ${cores.length} cores (${cores[0]?.model ?? '?'}), beside redis-server ${version}`;
}
