/** The scripts of one node, and the calls that a running script can make. */

import { createHash } from 'node:crypto';
import { asciiLower, type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { cannotStore, LINK_DOWN, misconfigured, OOM, READONLY } from '../../protocol/errors.ts';
import { type Reply, ReplyError, traced } from '../../protocol/reply.ts';
import { Execution } from '../../scripting/execution.ts';
import type { LibraryFunction } from '../../scripting/functions.ts';
import { CompiledScript, compile } from '../../scripting/registry.ts';
import type { ScriptHost } from '../../scripting/runtime/host.ts';
import { Random48 } from '../../scripting/runtime/random48.ts';
import type { Words } from '../../scripting/runtime/state.ts';
import { readShebang } from '../../scripting/shebang.ts';
import type { Acl } from '../acl/acl.ts';
import { type Client, PRIMARY_LINK, RESTRICTED, UNREPLICATED, UNSTORED } from '../clients/client.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { titleOf } from '../dialects/identity.ts';
import type { Effects } from '../effects.ts';
import type { ReplyWatcher } from '../figures/observer.ts';
import { codeOf, type Statistics } from '../figures/statistics.ts';
import { GATE_AOF, GATE_DISK, GATE_LIMITED_MEMORY, GATE_MIN_REPLICAS } from '../gates.ts';
import type { Durability, HasHost, HasLog, HasSettings, LogLevel } from '../ports.ts';
import {
  type Argv,
  arityFits,
  type Command,
  DENY_OOM,
  MAY_REPLICATE,
  NO_SCRIPT,
  QUICK,
  STALE,
  WRITE,
} from '../table/command.ts';
import { type Outcome, PAUSED, Unanswered } from '../table/outcome.ts';
import { commandOf, step, unknownSubcommand } from '../table/resolve.ts';
import { checkDeclared, type DeclaredNode } from './declared.ts';
import { type KnownScript, KnownScripts } from './known-scripts.ts';
import type { SlowScript } from './slow-script.ts';

/** A TypeScript function that replaces a script. `call` runs a command, and throws ReplyError if it fails. */
export type NativeHandler = (
  keys: readonly Bytes[],
  argv: readonly Bytes[],
  call: (...argv: Bytes[]) => Reply,
) => Reply;

const LEVELS: readonly LogLevel[] = ['debug', 'verbose', 'notice', 'warning'];

/** REPL_AOF, one of the targets of redis.set_repl. */
const TO_DISK = 1;
/** REPL_REPLICA, the other one. */
const TO_REPLICAS = 2;

/** A script that takes fewer steps than this is brief: it takes no longer than a few commands. */
const BRIEF = 256;

const refuse = (text: Bytes): ReplyError => new ReplyError(text);
const DENIED = {
  command: "ERR The user executing the script can't run this command or subcommand",
  key: "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
  channel: "ERR The user executing the script can't publish to the channel mentioned in the command",
  database: 'ERR No permissions to access database',
};
/** A call that the user's rights do not allow. */
class ScriptDenial extends ReplyError {}

/** How deep commands of a user's own may call each other. Each level takes several frames of the stack. */
const DEEPEST_OWN = 200;
const WRITES = 'ERR Write commands are not allowed from read-only scripts.';

/** One EVAL, EVALSHA or FCALL. */
interface ScriptRequest extends Words {
  /** The command's name, the script or function, the number of keys, the keys, and the arguments. */
  readonly argv: Argv<-3>;
  /** True for the commands that may not write (EVAL_RO and the like). */
  readonly readonly: boolean;
}

/** The node, as scripts see it. */
interface ScriptingNode extends DeclaredNode, HasHost, HasLog, HasSettings {
  readonly dialect: Dialect;
  readonly commands: ReadonlyMap<Bytes, Command>;
  /** The commands by their own names. */
  readonly declared: ReadonlyMap<Bytes, Command>;
  readonly acl: Pick<Acl, 'complaint' | 'placeIn' | 'refuse'>;
  readonly current: { wasBrief: boolean };
  readonly observer: { readonly watcher: ReplyWatcher | undefined };
  readonly slowScript: Pick<SlowScript, 'begin' | 'firstSlice'>;
  readonly stats: Statistics;
  /** Runs one command and notes its effect for the replication stream. */
  call(client: Client, command: Command, argv: Bytes[]): Outcome;
  readonly durability: Durability | undefined;
  readonly effects: Pick<Effects, 'feeding' | 'propagateAs'>;
  /** A client without a connection. */
  readonly connections: { pseudoClient(): Client };
}

/** The scripts of a node (https://redis.io/docs/latest/develop/interact/programmability/eval-intro/). */
export class Scripts implements ScriptHost {
  readonly random = new Random48();
  readonly printDouble: Dialect['printDouble'];
  readonly printArgument: Dialect['printArgument'];
  readonly texts: Dialect['scriptTexts'];
  readonly seconds: (() => number) | undefined;
  readonly #server: ScriptingNode;
  /** The scripts that EVAL and SCRIPT LOAD added. */
  readonly #known: KnownScripts;
  readonly #natives = new Map<Bytes, NativeHandler>();
  readonly #client: Client;
  #caller: Client | undefined;
  #readonly = false;
  /** How many commands of a user's own run within each other. */
  #ownDepth = 0;
  #ignoresMemory = false;
  /** On a cluster the script may use keys of several slots. */
  #crossesSlots = true;
  /** The script has run a command that writes, so it can no longer be killed. */
  wrote = false;
  /** The script has run quick commands only. */
  #isQuick = true;
  /** Scripts may call every command, even those marked noscript (DEBUG SET-DISABLE-DENY-SCRIPTS). */
  callsAnything = false;

  constructor(server: ScriptingNode) {
    this.#server = server;
    this.#client = server.connections.pseudoClient();
    const { dialect } = server;
    this.#known = new KnownScripts(dialect.evaluatedScripts, server.stats);
    ({ printDouble: this.printDouble, printArgument: this.printArgument, scriptTexts: this.texts } = dialect);
    const { clock } = server.host;
    this.seconds = this.texts.clock ? () => clock.micros() / 1e6 : undefined;
  }

  /** Returns the SHA-1 of a script's text, in hexadecimal. */
  static sha1(text: Bytes): Bytes {
    return createHash('sha1').update(toBuffer(text)).digest('hex');
  }

  /** SCRIPT LOAD: compiles a script and stores it. Throws ReplyError with the compiler's message. */
  load(text: Bytes): CompiledScript {
    // A script that is known is not compiled again: clients load all of theirs each time they start.
    const sha = Scripts.sha1(text);
    const script = this.#known.get(sha)?.script ?? compile(text, this.texts, sha);
    this.#known.load(script);
    return script;
  }

  /**
   * Replaces a script by a function.
   * @param script the script's text or SHA-1
   */
  register(script: Bytes, run: NativeHandler): void {
    const sha = /^[0-9a-fA-F]{40}$/.test(script) ? asciiLower(script) : Scripts.sha1(script);
    this.#natives.set(sha, run);
  }

  /** SCRIPT EXISTS: returns whether a script with this SHA-1 is known. */
  has(sha: Bytes): boolean {
    return this.#known.get(sha) !== undefined || this.#natives.has(asciiLower(sha));
  }

  /** The text of a script that was sent; undefined for one that is unknown, and for a function that stands in for one. */
  sourceOf(sha: Bytes): Bytes | undefined {
    return this.#known.get(sha)?.script.source;
  }

  /**
   * Returns the flags that a script declares; undefined if it has no shebang line.
   * @param script the script's text, or its SHA-1 if `sha` is set
   */
  declared(script: Bytes, sha: boolean): ReadonlySet<Bytes> | undefined {
    if (sha) {
      const known = this.#known.get(script)?.script;
      return known?.declared ? known.flags : undefined;
    }
    if (!script.startsWith('#!')) return undefined;
    try {
      return readShebang(script, this.texts).flags;
    } catch {
      // The script does not compile, and will be refused for that.
      return undefined;
    }
  }

  /** Removes every script that was not registered. */
  flush(): void {
    this.#known.clear();
  }

  /** The number of known scripts. */
  get size(): number {
    return this.#known.size;
  }

  /** The total length of the scripts' texts, in bytes. */
  get bytes(): number {
    return this.#known.bytes;
  }

  /** EVALSHA. Throws NOSCRIPT if the script is unknown. */
  evalSha(client: Client, request: ScriptRequest): Outcome {
    const sha = request.argv[1];
    const known = this.#known.get(sha);
    const native = this.#natives.size === 0 ? undefined : this.#natives.get(asciiLower(sha));
    if (native !== undefined) return this.#runNative(client, native, request);
    if (known === undefined) throw refuse(this.#server.dialect.noScript);
    return this.#startKnown(client, known, request);
  }

  /** EVAL: stores the script, then runs it. */
  eval(client: Client, request: ScriptRequest): Outcome {
    const text = request.argv[1];
    if (this.#natives.size > 0) {
      const native = this.#natives.get(Scripts.sha1(text));
      if (native !== undefined) return this.#runNative(client, native, request);
    }
    const known = this.#known.evaluate(compile(text, this.texts));
    const outcome = this.#startKnown(client, known, request);
    // Compiling the script may have taken long.
    this.#server.current.wasBrief = false;
    return outcome;
  }

  #startKnown(client: Client, known: KnownScript, request: ScriptRequest): Outcome {
    const outcome = this.start(client, known.script, request);
    this.#known.use(known);
    return outcome;
  }

  /** Runs a script or a function. Returns PAUSED if its reply comes later. Throws ReplyError if it may not run now. */
  start(client: Client, program: CompiledScript | LibraryFunction, request: ScriptRequest): Outcome {
    const { declared } = program;
    if (declared) checkDeclared(this.#server, client, program.flags, request.readonly);
    else if (this.#server.isStale()) throw refuse(LINK_DOWN);
    this.#readonly = request.readonly || program.isReadonly;
    this.#ignoresMemory = program.ignoresMemory;
    this.#crossesSlots = !declared || program.crossesSlots;
    this.#enter(client, request);
    let result: Reply | Execution = null;
    try {
      // Without a connection that waits for the reply, the script cannot be paused.
      result =
        client.connection === undefined || client.has(PRIMARY_LINK)
          ? program.run(request, this)
          : program.start(request, this, this.#server.slowScript.firstSlice);
    } finally {
      if (!(result instanceof Execution)) this.#leave();
    }
    if (!(result instanceof Execution)) {
      if (this.#isQuick && program.steps < BRIEF) this.#server.current.wasBrief = true;
      return result;
    }
    return this.#pause(client, request, result, program instanceof CompiledScript);
  }

  #pause(client: Client, { argv }: ScriptRequest, execution: Execution, isScript: boolean): Outcome {
    const kind = isScript ? 'script' : 'function';
    this.#server.slowScript.begin({ client, argv, execution, kind, leave: () => this.#leave() });
    return PAUSED;
  }

  #runNative(client: Client, run: NativeHandler, request: ScriptRequest): Outcome {
    const callOrThrow = (...words: Bytes[]): Reply => {
      const reply = this.call(words);
      if (reply instanceof ReplyError) throw traced(reply);
      return reply;
    };
    const { argv, firstKey, keys } = request;
    this.#readonly = request.readonly;
    this.#crossesSlots = true;
    this.#enter(client, request);
    try {
      return run(argv.slice(firstKey, firstKey + keys), argv.slice(firstKey + keys), callOrThrow);
    } finally {
      this.#leave();
    }
  }

  /**
   * Runs a user's command, which may call commands as a script does. Within a script, its calls are those of the script. It is
   * propagated as what it does. Throws ReplyError when commands call each other without end.
   * @param isReadonly true: it may not write
   */
  runOwn<T>(client: Client, argv: Bytes[], isReadonly: boolean, run: () => T): T {
    if (this.#ownDepth === DEEPEST_OWN)
      throw refuse(`ERR commands of your own call each other more than ${DEEPEST_OWN} deep`);
    const isWithin = this.#caller !== undefined;
    const before = this.#readonly;
    if (!isWithin) {
      this.#crossesSlots = false;
      this.#ignoresMemory = false;
      this.#enter(client, { argv });
    }
    this.#readonly = (isWithin && before) || isReadonly;
    this.#ownDepth++;
    try {
      return run();
    } finally {
      this.#ownDepth--;
      if (isWithin) {
        this.#readonly = before;
        if (this.#server.effects.feeding) this.#server.effects.propagateAs();
      } else this.#leave();
    }
  }

  /** Notes that a user's command writes. Throws ReplyError if it may not now, as for a command that a script calls. */
  beginOwnWrite(): void {
    if (this.#readonly) throw refuse(WRITES);
    const refusal = this.#server.state === 0 ? undefined : this.#refusedByState({ bits: WRITE | DENY_OOM });
    if (refusal !== undefined) throw refusal;
    this.wrote = true;
  }

  /** Throws ReplyError if a user's command may not use the key, which its request need not name: on a cluster, a key of another slot. */
  checkOwnKey(key: Bytes, writes: boolean): void {
    const name = writes ? 'restore' : 'dump';
    const command = this.#server.declared.get(name);
    const refusal = command === undefined ? undefined : this.#refusedByCluster(command, [name, key]);
    if (refusal !== undefined) throw refusal;
  }

  #enter(client: Client, { argv }: { readonly argv: readonly Bytes[] }): void {
    this.#caller = client;
    this.enteredBy = argv[0];
    this.#client.db = client.db;
    this.#client.account = client.account;
    this.#client.protocol = 2;
    this.#client.mark(UNREPLICATED | UNSTORED, false);
    this.wrote = false;
    this.#isQuick = true;
  }

  /** The command that has called the running script or function, as the request wrote it. */
  enteredBy: Bytes | undefined;

  /** True while a script or a function runs or is paused. */
  get entered(): boolean {
    return this.#caller !== undefined;
  }

  // A script is propagated as the commands that it runs, never as itself.
  #leave(): void {
    const { effects } = this.#server;
    if (effects.feeding) effects.propagateAs();
    this.#caller = undefined;
    this.enteredBy = undefined;
  }

  /** redis.call and redis.pcall: runs a command for the script. Refusals are returned as ReplyError. */
  call(argv: Bytes[]): Reply {
    const reply = this.#run(argv);
    this.#server.observer.watcher?.called(this.#caller, argv, reply);
    return reply;
  }

  #run(argv: Bytes[]): Reply {
    const server = this.#server;
    const command = this.#find(argv);
    const refusal =
      command instanceof ReplyError
        ? command
        : (this.#wrongArity(command, argv) ?? this.#refusal(command, argv));
    if (refusal !== undefined) {
      const isDenied = refusal instanceof ScriptDenial;
      server.stats.count(isDenied ? server.dialect.deniedInScript : codeOf(refusal));
      if (!(command instanceof ReplyError)) server.stats.refused[command.serial]!++;
      return refusal;
    }
    if (command instanceof ReplyError) return command;
    if ((command.bits & WRITE) !== 0) this.wrote = true;
    if ((command.bits & QUICK) === 0) this.#isQuick = false;
    const outcome = server.call(this.#client, command, argv);
    return outcome instanceof Unanswered ? null : outcome;
  }

  #find(argv: Bytes[]): Command | ReplyError {
    const server = this.#server;
    const name = argv[0] ?? '';
    const command = server.commands.get(name) ?? server.commands.get(asciiLower(name));
    if (command === undefined) {
      server.stats.unknown(name);
      return refuse(server.dialect.unknownInScript);
    }
    const found = step(command, argv);
    if (found === undefined) server.stats.unknown(`${command.name} ${argv[1]}`);
    if (found !== undefined) return found;
    const named = server.dialect.subcommandInScript === 'by its name';
    return named ? unknownSubcommand(argv) : refuse(server.dialect.unknownInScript);
  }

  /** The refusal of a request with too few or too many words, and of a container without a subcommand. */
  #wrongArity({ arity, subcommands }: Command, argv: Bytes[]): ReplyError | undefined {
    const fits = arityFits(arity, argv.length) && (subcommands === undefined || arity === -1);
    return fits ? undefined : refuse(this.#server.dialect.arityInScript);
  }

  /** Returns why the script may not run the command now; undefined if it may. */
  #refusal(command: Command, argv: Bytes[]): ReplyError | undefined {
    const server = this.#server;
    const { bits } = command;
    if ((bits & NO_SCRIPT) !== 0 && !this.callsAnything) return refuse(server.dialect.notFromScript);
    if ((bits & STALE) === 0 && server.isStale())
      return refuse('ERR Can not execute the command on a stale replica');
    if (this.#caller?.has(RESTRICTED)) {
      const denial = server.acl.refuse(this.#caller, command, argv, this.#client.db.index, true);
      if (denial !== undefined) {
        const named = server.dialect.denial === 'by name';
        const complaint = server.acl.complaint(this.#caller, denial, command);
        return new ScriptDenial(named ? `ERR ACL failure in script: ${complaint}` : DENIED[denial.what]);
      }
    }
    const { routesScriptsFirst } = server.dialect.cluster;
    const elsewhere = routesScriptsFirst ? this.#refusedByCluster(command, argv) : undefined;
    if (elsewhere !== undefined) return elsewhere;
    if (this.#readonly && (bits & (WRITE | MAY_REPLICATE)) !== 0) return refuse(WRITES);
    if (server.state === 0) return undefined;
    return (
      this.#refusedByState(command) ??
      (routesScriptsFirst ? undefined : this.#refusedByCluster(command, argv))
    );
  }

  #refusedByCluster(command: Command, argv: readonly Bytes[]): ReplyError | undefined {
    if (this.#caller === undefined) return undefined;
    return this.#server.cluster?.refusalInScript(
      this.#caller,
      this.#client.db,
      command,
      argv,
      this.#crossesSlots,
    );
  }

  #refusedByState(command: Pick<Command, 'bits'>): ReplyError | undefined {
    const server = this.#server;
    if ((command.bits & WRITE) !== 0) {
      if (server.readOnlyReplica() && this.#caller?.has(PRIMARY_LINK) !== true) return refuse(READONLY);
      if ((server.state & GATE_DISK) !== 0) return refuse(misconfigured(titleOf(server)));
      if ((server.state & GATE_AOF) !== 0) return refuse(cannotStore(server.durability?.trouble));
      if ((server.state & GATE_MIN_REPLICAS) !== 0 && !server.replication.good.enough) {
        return refuse('NOREPLICAS Not enough good replicas to write.');
      }
    }
    if (this.#ignoresMemory) return undefined;
    // Only the first write can be refused: a script that has written is not stopped halfway.
    const limited = (server.state & GATE_LIMITED_MEMORY) !== 0 && (command.bits & DENY_OOM) !== 0;
    return limited && !this.wrote && server.eviction.outOfMemory ? refuse(OOM) : undefined;
  }

  /**
   * redis.log: writes a line to the log.
   * @param level 0 (debug) to 3 (warning)
   */
  log(level: number, text: Bytes): void {
    this.#server.log(LEVELS[level] ?? 'notice', text);
  }

  /** redis.setresp: sets the protocol of the replies that the script receives. */
  setProtocol(version: 2 | 3): void {
    this.#client.protocol = version;
  }

  /** redis.set_repl: sets where the script's writes are propagated, as a bit mask of the REPL_ constants. */
  setReplication(targets: number): void {
    this.#client.mark(UNREPLICATED, (targets & TO_REPLICAS) === 0);
    this.#client.mark(UNSTORED, (targets & TO_DISK) === 0);
  }

  /** redis.acl_check_cmd: returns whether the user may run the command, or how the error begins. */
  allowed(argv: Bytes[]): boolean | Bytes {
    const { commands, dialect } = this.#server;
    const command = commandOf(commands, argv);
    if (command === undefined) return 'Invalid command passed to';
    if (dialect.aclCheckWords === 'counted' && !arityFits(command.arity, argv.length)) {
      return 'Wrong number of args for';
    }
    if (this.#caller === undefined) return true;
    const place = this.#server.acl.placeIn(this.#client.db.index);
    return this.#caller.account.check(command, argv, place) === undefined;
  }
}
