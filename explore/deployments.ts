/** Second deployments: the fault `second-deployment` adds clients to a world. The code of each is told the name of a client of the plan. */
import type { WorldPlan } from './plan.ts';

/** The fault's name. */
const KIND = 'second-deployment';

/** What the lab calls the process that a second deployment starts beside a client. No other client of the world has that name. */
export function twinOf(client: string, clients: readonly string[]): string {
  let name = `${client}2`;
  while (clients.includes(name)) name += '2';
  return name;
}

/** The clients that take part in a world: those of its plan, and those that second deployments start. */
export function clientsOf({ clients, faults }: Pick<WorldPlan, 'clients' | 'faults'>): readonly string[] {
  const doubled = faults.filter(({ kind, on }) => kind === KIND && clients.includes(on));
  if (doubled.length === 0) return clients;
  return [...clients, ...new Set(doubled.map(({ on }) => twinOf(on, clients)))];
}
