/** An ACL user: enabled or not, passwords, and selectors. */
import { createHash } from 'node:crypto';
import { asciiLower, type Bytes, toBuffer } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Command } from '../table/command.ts';
import { BadRule } from './bad-rule.ts';
import type { CommandList } from './categories.ts';
import type { DatabasePlace } from './databases.ts';
import { describeSelector } from './describe.ts';
import { type Denial, READ_KEYS, RELEVANCE, Selector } from './selector.ts';

const BAD_HASH =
  'The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters';
const NO_SUCH_PASSWORD = 'The password you are trying to remove from the user does not exist';

/** What users of a dialect's server have. */
type AclTraits = Pick<Dialect, 'payloadFlag' | 'databaseRules'>;

/** Returns the hash under which a password is stored: SHA-256 in hexadecimal. */
export function hashPassword(password: Bytes): Bytes {
  return createHash('sha256').update(toBuffer(password)).digest('hex');
}

/** A user (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/). */
export class User {
  readonly name: Bytes;
  enabled = false;
  /** True if any password is accepted. */
  noPassword = false;
  /** Whether RESTORE checks this user's payloads, as the flags say; undefined if they do not say it. */
  sanitize: boolean | undefined;
  /** The hashes of the passwords: SHA-256 in hexadecimal. */
  passwords: Bytes[] = [];
  root: Selector;
  selectors: Selector[] = [];
  /** True if nothing is forbidden: requests need no check. */
  unlimited = false;
  readonly #commands: CommandList;
  readonly #openChannels: () => boolean;
  readonly #traits: AclTraits;

  /** @param openChannels whether a new or reset user may use all channels (acl-pubsub-default) */
  constructor(name: Bytes, commands: CommandList, openChannels: () => boolean, traits: AclTraits) {
    this.#traits = traits;
    this.sanitize = traits.payloadFlag === 'always' ? true : undefined;
    this.name = name;
    this.#commands = commands;
    this.#openChannels = openChannels;
    this.root = this.#newSelector();
  }

  /** Returns an independent copy. */
  copy(): User {
    const copy = new User(this.name, this.#commands, this.#openChannels, this.#traits);
    copy.take(this);
    return copy;
  }

  /** Copies everything from another user except the name. */
  take(other: User): void {
    this.enabled = other.enabled;
    this.noPassword = other.noPassword;
    this.sanitize = other.sanitize;
    this.passwords = [...other.passwords];
    this.root = other.root.copy();
    this.selectors = other.selectors.map((each) => each.copy());
    this.unlimited = this.root.unlimited;
  }

  /** Applies one rule of ACL SETUSER. Throws BadRule if that fails. */
  apply(rule: Bytes): void {
    if (!this.#applyToUser(rule)) this.root.apply(rule);
    this.unlimited = this.root.unlimited;
  }

  /** Applies a rule that concerns the user itself. Returns false for a rule of the root selector. */
  #applyToUser(rule: Bytes): boolean {
    switch (asciiLower(rule)) {
      case 'on':
        this.enabled = true;
        return true;
      case 'off':
        this.enabled = false;
        return true;
      case 'nopass':
        this.noPassword = true;
        this.passwords = [];
        return true;
      case 'resetpass':
        this.noPassword = false;
        this.passwords = [];
        return true;
      case 'sanitize-payload':
        this.#checkPayloads(true);
        return true;
      case 'skip-sanitize-payload':
        this.#checkPayloads(false);
        return true;
      case 'clearselectors':
        this.selectors = [];
        return true;
      case 'reset':
        this.#reset();
        return true;
    }
    if (rule.startsWith('(')) this.#addSelector(rule);
    else if (/^[>#<!]/.test(rule)) this.#changePasswords(rule.slice(0, 1), rule.slice(1));
    else return false;
    return true;
  }

  /** Returns whether the password is one of the user's. */
  accepts(password: Bytes): boolean {
    return this.enabled && (this.noPassword || this.passwords.includes(hashPassword(password)));
  }

  /** Returns why the request is not allowed, from the selector that came closest; undefined if it is. */
  check(command: Command, argv: readonly Bytes[], place: DatabasePlace): Denial | undefined {
    let closest: Denial | undefined;
    for (const selector of [this.root, ...this.selectors]) {
      const denial = selector.check(command, argv, place);
      if (denial === undefined) return undefined;
      const more =
        closest === undefined ||
        RELEVANCE[denial.what] > RELEVANCE[closest.what] ||
        (denial.what === closest.what && denial.at > closest.at);
      if (more) closest = denial;
    }
    return closest;
  }

  /** Returns whether some selector allows to read every key. */
  get mayReadAll(): boolean {
    const all = ({ allKeys, keys }: Selector): boolean =>
      allKeys || keys.some(({ pattern, permissions }) => pattern === '*' && (permissions & READ_KEYS) !== 0);
    return [this.root, ...this.selectors].some(all);
  }

  /** The user's flags, in Redis' order. */
  get flags(): Bytes[] {
    const words = [this.enabled ? 'on' : 'off'];
    if (this.noPassword) words.push('nopass');
    if (this.sanitize !== undefined) words.push(this.sanitize ? 'sanitize-payload' : 'skip-sanitize-payload');
    return words;
  }

  /** Returns the user's line in ACL LIST. */
  describe(asGiven: boolean): Bytes {
    const words = ['user', this.name, ...this.flags, ...this.passwords.map((hash) => `#${hash}`)];
    words.push(describeSelector(this.root, asGiven));
    words.push(...this.selectors.map((each) => `(${describeSelector(each, asGiven)})`));
    return words.join(' ');
  }

  #newSelector(): Selector {
    const selector = new Selector(this.#commands, this.#traits.databaseRules);
    selector.allChannels = this.#openChannels();
    return selector;
  }

  #checkPayloads(checks: boolean): void {
    if (this.#traits.payloadFlag !== 'never') this.sanitize = checks;
  }

  #reset(): void {
    this.enabled = false;
    this.noPassword = false;
    this.passwords = [];
    this.#checkPayloads(true);
    this.root = this.#newSelector();
    this.selectors = [];
  }

  #addSelector(rule: Bytes): void {
    const selector = this.#newSelector();
    for (const word of rule.slice(1, -1).split(' ')) if (word !== '') selector.apply(word);
    this.selectors.push(selector);
  }

  #changePasswords(sign: Bytes, text: Bytes): void {
    const hashed = sign === '#' || sign === '!';
    if (hashed && !/^[0-9a-f]{64}$/.test(text)) throw new BadRule(BAD_HASH);
    const hash = hashed ? text : hashPassword(text);
    const place = this.passwords.indexOf(hash);
    if (sign === '>' || sign === '#') {
      if (place < 0) this.passwords.push(hash);
      this.noPassword = false;
    } else {
      if (place < 0) throw new BadRule(NO_SUCH_PASSWORD);
      this.passwords.splice(place, 1);
    }
  }
}
