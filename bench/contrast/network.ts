/** A network of Linux hosts on this machine, one of which can be cut off: network namespaces on a bridge, which only root may make. */
import { execFileSync } from 'node:child_process';

/** A host. */
export interface Host {
  readonly address: string;
  /** What precedes a program's command line so that it runs on this host. */
  readonly prefix: readonly string[];
}

/** Where servers run unless a partition is to be caused. */
export const LOCALHOST: Host = { address: '127.0.0.1', prefix: [] };

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'ignore' });
}

/** The hosts reach each other, and this process reaches them, until one is cut off. */
export class HostNetwork {
  readonly hosts: readonly Host[];
  readonly #name: string;

  private constructor(name: string, hosts: readonly Host[]) {
    this.#name = name;
    this.hosts = hosts;
  }

  /** Makes a network. Undefined where the system does not allow it. */
  static create(count: number): HostNetwork | undefined {
    const name = `ll${process.pid}`; // Names of interfaces have 15 characters at most.
    // A range that is reserved for benchmarks (RFC 2544), so it is not anybody's real network.
    const hosts = Array.from({ length: count }, (_, i) => ({
      address: `198.18.0.${10 + i}`,
      prefix: ['ip', 'netns', 'exec', `${name}-${i}`],
    }));
    const network = new HostNetwork(name, hosts);
    try {
      ip('link', 'add', name, 'type', 'bridge');
      ip('addr', 'add', '198.18.0.1/24', 'dev', name);
      ip('link', 'set', name, 'up');
      for (const [i, { address, prefix }] of hosts.entries()) {
        const cable = `${name}v${i}`;
        const inside = (...args: string[]): void => ip(...prefix.slice(1), 'ip', ...args);
        ip('netns', 'add', `${name}-${i}`);
        ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${name}-${i}`);
        ip('link', 'set', cable, 'master', name, 'up');
        inside('addr', 'add', `${address}/24`, 'dev', 'eth0');
        inside('link', 'set', 'eth0', 'up');
        inside('link', 'set', 'lo', 'up');
      }
    } catch {
      network.close();
      return undefined;
    }
    return network;
  }

  /** Unplugs a host: its packets, in both directions, get lost. What runs on the same host still reaches it. */
  cut(host: number): void {
    ip('link', 'set', `${this.#name}v${host}`, 'nomaster');
  }

  /** Removes the network. What runs on its hosts has to be ended before. */
  close(): void {
    const tryTo = (...args: string[]): void => {
      try {
        ip(...args);
      } catch {
        // It was not made.
      }
    };
    for (const i of this.hosts.keys()) {
      tryTo('link', 'del', `${this.#name}v${i}`); // The namespace itself may go a moment later.
      tryTo('netns', 'del', `${this.#name}-${i}`);
    }
    tryTo('link', 'del', this.#name);
  }
}
