/** LAB INTERCEPT: rules that answer, delay or break chosen requests. */
import { asciiLower, asciiUpper, type Bytes, fromText } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import { MapReply, OK, type Reply } from '../../protocol/reply.ts';
import { defineContainer } from '../../server/commands/define.ts';
import type { Caller } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import type { Intervention, RequestFilter } from '../../start/control/interceptor.ts';
import { numberOf, textOf } from './arguments.ts';
import { type LabSession, type LabSubject, type NamedNode, type NumberedRule, sessionOf } from './session.ts';
import { about, attempt, HEAD } from './table.ts';

/** What selects requests, with the field of the filter. */
const FILTERS: Readonly<Record<string, 'client' | 'command' | 'key' | 'argument' | 'nth' | 'node'>> = {
  FROM: 'client',
  ON: 'node',
  COMMAND: 'command',
  KEY: 'key',
  ARGUMENT: 'argument',
  NTH: 'nth',
};

const FILTER_SYNTAX = '[FROM=client] [ON=node] [COMMAND=command] [KEY=pattern] [ARGUMENT=word]';

/** A rule as words say it. */
interface AskedRule {
  readonly filter: RequestFilter;
  readonly node: string | undefined;
  readonly act: Intervention;
}

/** Reads what happens to a request. Returns the number of words that it takes. */
function actOf(words: readonly Bytes[], at: number): { readonly act: Intervention; readonly words: number } {
  const value = (): string => textOf(words[at + 1] ?? fail(SYNTAX));
  switch (asciiUpper(words[at] ?? '')) {
    case 'DISCONNECT':
      return { act: 'disconnect', words: 1 };
    case 'DISCONNECT-AFTER':
      return { act: 'disconnect-after', words: 1 };
    case 'REPLY-LOST':
      return { act: 'reply-lost', words: 1 };
    case 'ERROR':
      return { act: { error: value() }, words: 2 };
    case 'REPLY':
      return { act: { reply: value() }, words: 2 };
    case 'DELAY':
      return { act: { delayMs: numberOf(words[at + 1] ?? fail(SYNTAX)) }, words: 2 };
    default:
      return fail(
        fromText(
          `ERR '${textOf(words[at] ?? '')}' is neither FROM, ON, COMMAND, KEY, ARGUMENT or NTH nor what happens: DISCONNECT, DISCONNECT-AFTER, REPLY-LOST, ERROR text, REPLY text or DELAY ms`,
        ),
      );
  }
}

/** Reads a rule. Throws an error for wrong words, and for a rule without an end. */
function askedBy(words: readonly Bytes[]): AskedRule {
  const found: { [name: string]: string | number } = {};
  let act: Intervention | undefined;
  for (let at = 0; at < words.length; ) {
    const name = FILTERS[asciiUpper(words[at] ?? '')];
    if (name === undefined) {
      if (act !== undefined) fail(SYNTAX);
      const read = actOf(words, at);
      act = read.act;
      at += read.words;
      continue;
    }
    const value = words[at + 1] ?? fail(SYNTAX);
    if (name in found) fail(SYNTAX);
    found[name] = name === 'nth' ? numberOf(value) : textOf(value);
    at += 2;
  }
  if (act === undefined)
    fail(
      'ERR a rule ends with what happens: DISCONNECT, DISCONNECT-AFTER, REPLY-LOST, ERROR text, REPLY text or DELAY ms',
    );
  const { node, ...filter } = found as { node?: string };
  return { filter: filter as RequestFilter, node, act };
}

/** Reads the filters of a rule without what happens. Throws a syntax error for anything else. */
export function filterOf(words: readonly Bytes[]): Pick<AskedRule, 'filter' | 'node'> {
  return askedBy([...words, 'DISCONNECT']);
}

/** The node that is named, or all. Throws an error for a name that no node has. */
export function placeOf(
  subject: LabSubject,
  node: string | undefined,
): Pick<NamedNode, 'intercept' | 'dump'> {
  if (node === undefined) return subject;
  const names = subject.nodes.map(({ name }) => name).join(', ');
  return (
    subject.nodes.find(({ name }) => name === node) ??
    fail(
      fromText(
        `ERR no node is called '${node}'; ${names === '' ? 'this server has no nodes' : `there are ${names}`}`,
      ),
    )
  );
}

function add(session: LabSession, words: readonly Bytes[]): Reply {
  const { filter, node, act } = askedBy(words);
  const place = placeOf(session.subject, node);
  return session.add(
    words.map(textOf),
    attempt(() => place.intercept(filter, act)),
  );
}

function ruleReply({ id, words, interception }: NumberedRule): Reply {
  const { matches, hits } = interception;
  return new MapReply(['id', id, 'rule', words.map(fromText), 'matches', matches, 'hits', hits]);
}

/** Removes rules. Throws an error, and removes none, when one of the numbers is no rule's. */
function remove(session: LabSession, words: readonly Bytes[]): Reply {
  if (words.length === 0) fail("ERR wrong number of arguments for 'lab|intercept' command");
  const ids = words.map(numberOf);
  const unknown = ids.find((id) => !session.rules.some((rule) => rule.id === id));
  if (unknown !== undefined) fail(`ERR there is no rule ${unknown}; LAB INTERCEPT LIST lists the rules`);
  for (const id of ids) session.remove(id);
  return OK;
}

/** The subcommand for rules. @param subject returns what they apply to */
export function interceptCommands(subject: () => LabSubject): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    intercept: {
      ...about,
      summary:
        'Adds a rule that answers, delays or breaks matching requests of clients, by default each at any node. Returns its id. LIST lists the rules with their hits; REMOVE removes some.',
      syntax: `change:(ADD=rule:{${FILTER_SYNTAX} [NTH=n:int] act:(DISCONNECT | DISCONNECT-AFTER | REPLY-LOST | ERROR=error | REPLY=reply | DELAY=milliseconds:int)} | LIST | REMOVE=id:int...)`,
      arity: -3,
      run(_client, argv) {
        const session = sessionOf(subject());
        const words = argv.slice(3);
        const what = asciiLower(argv[2]);
        if (what === 'add') return add(session, words);
        if (what === 'remove') return remove(session, words);
        if (what === 'list' && words.length === 0) return session.rules.map(ruleReply);
        return fail(SYNTAX);
      },
    },
  });
}
