/** What every kind of fault declares, and what faults have in common. */
import type {
  Abilities,
  ClientControls,
  StageName,
  StageNetwork,
  StageNode,
  StageSet,
  Wait,
} from '../stage/controls.ts';
import { LACKS } from '../stage/controls.ts';
import type { FaultVariant, Planned } from './planned.ts';

/** A stage as a fault reaches it: what every stage can do, and the abilities that the fault needs. */
export type FaultContext<Needs extends keyof Abilities = never> = CommonContext & Pick<Abilities, Needs>;

/** What a fault can do on every stage. */
interface CommonContext {
  readonly sets: readonly StageSet[];
  readonly network: StageNetwork;
  readonly clients: readonly ClientControls[];
  /** The resources to which clients send, as links know them. */
  readonly resources: readonly string[];
  /** The sets whose roles are being changed: a second fault of that kind does not strike meanwhile. */
  readonly changing: Set<StageSet>;
  /** How long after its beginning it struck in the world whose order the stage keeps, in milliseconds; 0 without one. */
  readonly struckAfter: number;
  readonly wait: Wait;
  /** Runs the user's code in a client's new process. */
  restartClient(name: string): void;
  /**
   * Starts another process of the user's code. Its code is told the name of this client, and the world knows it by another name. Returns
   * that name; undefined when the world has it already.
   * @param samePid true when it has the client's process id as well, where the stage gives out process ids
   */
  deploy(client: string, samePid: boolean): string | undefined;
  /** Notes what a fault did, for the story. */
  tell(who: string, what: string): void;
}

/** How long things take in the code that is explored: learnt from a run without faults. Times in milliseconds. */
export interface Scales {
  /** The lease of the lock whose holder is inside. A fault is drawn for each of several leases in turn; then it is that one. */
  readonly leaseMs: number;
  /** How long clients need to be connected again after a failover. */
  readonly reconnectMs: number;
}

/** The clients and nodes of a world. */
export interface Participants {
  readonly clients: readonly string[];
  /** The nodes of each set, the primary first. */
  readonly sets: readonly (readonly string[])[];
  readonly sentinels: boolean;
  /** True when the sets are the shards of a cluster. */
  readonly cluster: boolean;
  /** True when the code asks replicas: by WAIT or WAITAOF, or by reading from them. */
  readonly asksReplicas?: boolean;
}

/** A kind of fault. There is one implementation for all stages. */
export type Fault<How extends string = string, Needs extends keyof Abilities = never> = Striking<How, Needs> &
  Requirement<Needs>;

/** The abilities that a fault's stage must have. A fault that reaches one and does not list it does not compile. */
type Requirement<Needs> = [Needs] extends [never]
  ? { readonly needs?: never }
  : { readonly needs: readonly [Needs, ...Needs[]] };

/** What every kind of fault has. */
interface Striking<How extends string, Needs extends keyof Abilities> {
  /** What happens, for docs/explore.md. */
  readonly sentence: string;
  /** What it strikes. */
  readonly strikes: 'a node' | 'a client' | 'a node or client' | 'connections' | 'every node';
  /** What `how` can say, where that is not the name of a node. */
  readonly hows?: readonly How[];
  /** @internal True when only an exploration that names it plays it. */
  readonly onRequest?: boolean;
  /** @internal True when it makes no difference when it strikes, so trying it at the start is enough. */
  readonly anytime?: boolean;
  /** @internal Its forms among these participants: what it strikes, for how long, and how hard. A search draws none that has no forms. */
  variants(among: Participants, scales: Scales): readonly FaultVariant<How>[];
  /** @internal Strikes, if there is anything to strike, and settles when the fault is over. Reports each action to the timeline. */
  strike(context: FaultContext<Needs>, fault: Planned<string, How>): Promise<void>;
}

/** @internal Why a fault cannot strike on a stage; undefined when it can. */
export function reasonAgainst(
  { needs = [] }: { readonly needs?: readonly (keyof Abilities)[] },
  stage: StageName,
): string | undefined {
  const lacks: Partial<Record<keyof Abilities, string>> = LACKS[stage];
  return needs.map((ability) => lacks[ability]).find((reason) => reason !== undefined);
}

/** The first node of each set. */
export function primariesOf({ sets }: Participants): string[] {
  return sets.map(([primary]) => primary as string);
}

/** The first node of each set that has replicas. */
export function primariesWithReplicas({ sets }: Participants): string[] {
  return sets.filter((names) => names.length > 1).map((names) => names[0] as string);
}

/** Shorter than a lease, and longer. */
export function pauseLengths({ leaseMs }: Scales): number[] {
  return [Math.round(0.4 * leaseMs), Math.round(1.5 * leaseMs)];
}

/** Everything to which a client's links lead: all nodes, and the resources to which clients send. */
export function farFromClient({ sets, resources }: Pick<CommonContext, 'sets' | 'resources'>): string[] {
  return [...sets.flatMap(({ nodes }) => nodes.map(({ name }) => name)), ...resources];
}

/** The node of this name. */
export function nodeOf({ sets }: Pick<CommonContext, 'sets'>, name: string): StageNode | undefined {
  return sets.flatMap(({ nodes }) => nodes).find((node) => node.name === name);
}

/** The set of the node of this name; the first set for any other name. */
export function setOf({ sets }: Pick<CommonContext, 'sets'>, name: string): StageSet {
  const found = sets.find((set) => set.nodes.some((node) => node.name === name));
  return found ?? (sets[0] as StageSet);
}

/** The client of this name. */
export function clientOf(
  { clients }: Pick<CommonContext, 'clients'>,
  name: string,
): ClientControls | undefined {
  return clients.find((client) => client.name === name);
}
