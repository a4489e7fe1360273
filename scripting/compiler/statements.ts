/** Writes Lua statements and functions as JavaScript source, in the fast or the resumable form. */
import { allocate, OverLimit } from '../../protocol/allowance.ts';
import type {
  CallNode,
  Expression,
  FunctionNode,
  GenericFor,
  MethodNode,
  NumericFor,
  Statement,
  Variable,
} from '../syntax/ast.ts';
import { RepeatEmitter } from './repeats.ts';
import { MANY_VARIABLES, MOST_SAVED, Slots } from './slots.ts';

/** Estimated bytes of JavaScript stack for a frame and for each of its variables. */
const FRAME_BYTES = 160;
const SLOT_BYTES = 9;
/** How many bytes of memory each byte of source takes while it is put together from pieces. */
const PIECES = 4;
/** More arguments than this are counted when `...` takes them. */
const FEW = 32;
/** So many places that allocate something small take one step. */
const SITES = 4;
/** Longer elseif chains are written without nesting, because JavaScript's parser would recurse. */
const MAX_ELSEIF = 60;

/** How many steps it takes to run code with so many places that allocate something. */
function costOf(sites: number): number {
  return 1 + Math.floor(sites / SITES);
}

/** Writes whole functions. */
export class StatementEmitter extends RepeatEmitter {
  #labels = 0;

  protected override functionSource(node: Expression & { type: 'function' }): string {
    return this.functionCode(node.body);
  }

  /** The source of a function: the main chunk, or one inside it. */
  functionCode(node: FunctionNode): string {
    const outer = this.frame;
    const kept = node.locals > MANY_VARIABLES ? new Slots() : undefined;
    this.frame = { node, temps: 0, spare: [], blocks: 0, yields: 0, sites: 0, zero: undefined, slots: kept };
    const body = this.#block(node.body);
    const parameters = node.parameters.map((parameter) => `v${parameter.id}`);
    if (node.vararg) parameters.push('...V');
    const temps = Array.from({ length: this.frame.temps }, (_, i) => `t${i + 1}`);
    const names = [...temps, ...(kept?.names ?? [])];
    const slots = names.length + this.frame.blocks + (kept === undefined ? node.locals : 0);
    if (slots * this.frame.yields > MOST_SAVED) throw new OverLimit();
    const lines: string[] = [];
    if (node.vararg) lines.push(`if (V.length > ${FEW}) R.allocatePlaces(V.length);`);
    if (names.length > 0) lines.push(`let ${names.join(', ')};`);
    const cost = costOf(this.frame.sites);
    if (node.calls) lines.push(this.#entrance(FRAME_BYTES + SLOT_BYTES * slots, cost));
    else if (cost > 1) lines.push(this.#spend(Math.max(1, node.line), cost));
    if (node.arg !== undefined)
      lines.push(`let v${node.arg.id}${node.usesVararg ? '' : ' = R.argTable(V)'};`);
    lines.push(body);
    const last = node.body[node.body.length - 1];
    if (last?.type !== 'return') lines.push(this.#leave('R.NOTHING'));
    const star = this.form === 'resumable' ? '*' : '';
    this.frame = outer;
    if (outer !== undefined) outer.sites++;
    return `(function${star} (${parameters.join(', ')}) {\n${lines.join('\n')}\n})`;
  }

  #entrance(bytes: number, cost: number): string {
    const spend = this.#spend(Math.max(1, this.frame.node.line), cost);
    if (this.form === 'resumable') return spend;
    return `${spend} const D = S.depth; if ((S.depth = D + ${bytes}) > R.MAX_DEPTH) R.tooDeep();`;
  }

  /** Spends fuel for a step. When the fuel is used up, the resumable form pauses and records where. */
  #spend(line: number, cost: number): string {
    const spent = cost === 1 ? '--S.fuel < 0' : `(S.fuel -= ${cost}) < 0`;
    if (this.form === 'fast') return `if (${spent}) R.spent();`;
    this.frame.yields++;
    return `if (${spent}) { S.site = ${this.site(line)}; yield; }`;
  }

  /** The body of a loop, after the source that spends fuel for each iteration. */
  #loop(line: number, body: readonly Statement[], before = '', after = (): string => ''): string {
    const { sites } = this.frame;
    this.frame.sites = 0;
    const code = `${before}${this.#block(body)}${after()}`;
    const spend = this.#spend(line, costOf(this.frame.sites));
    this.frame.sites += sites;
    return `${spend}\n${code}`;
  }

  #leave(code: string, quiet = true): string {
    if (this.form === 'resumable' || !this.frame.node.calls) return `return ${code};`;
    if (quiet) return `{ S.depth = D; return ${code}; }`;
    const temp = this.temp();
    this.release(temp);
    return `{ ${temp} = ${code}; S.depth = D; return ${temp}; }`;
  }

  #block(statements: readonly Statement[]): string {
    const { slots } = this.frame;
    const taken = slots?.taken ?? 0;
    const lines = statements.map((statement) => {
      const code = this.statement(statement);
      allocate(code.length * PIECES);
      return code;
    });
    slots?.freeAfter(taken);
    return lines.join('\n');
  }

  protected override statement(node: Statement): string {
    switch (node.type) {
      case 'local':
        return this.#local(node.variables, node.values);
      case 'assign':
        return this.#assign(node.targets, node.values, node.line);
      case 'callStatement':
        return `${this.call(node.call, true)};`;
      case 'do':
        return `{\n${this.#block(node.body)}\n}`;
      case 'while':
        return `while (${this.condition(node.condition)}) {\n${this.#loop(node.line, node.body)}\n}`;
      case 'repeat': {
        const until = () => `\nif (${this.condition(node.condition)}) break;`;
        return `for (;;) {\n${this.#loop(node.line, node.body, '', until)}\n}`;
      }
      case 'if':
        return this.#if(node.clauses);
      case 'numericFor':
        return this.#numericFor(node);
      case 'genericFor':
        return this.#genericFor(node);
      case 'localFunction': {
        if (!node.variable.assigned) this.kinds.set(node.variable, 'function');
        const word = this.place(node.variable) && (node.variable.assigned ? 'let ' : 'const ');
        return `${word}${this.nameOf(node.variable)} = ${this.functionCode(node.body)};`;
      }
      case 'return':
        return this.#return(node.values);
      case 'break':
        return 'break;';
      case 'repeated':
        return this.repeated(node);
    }
  }

  #return(values: readonly Expression[]): string {
    const [only] = values;
    if (only === undefined) return this.#leave('R.NOTHING');
    if (values.length > 1) {
      const quiet = values.every((value) => this.isQuiet(value));
      return this.#leave(`[${this.list(values).join(', ')}]`, quiet);
    }
    if (only.type === 'vararg') return this.#leave('V');
    // A frame that is returned without being run replaces this one: a tail call.
    if (only.type === 'call' || only.type === 'method') return this.#leave(this.startCall(only), false);
    return this.#leave(this.value(only), this.isQuiet(only));
  }

  #declare(variable: Variable, code: string | undefined, value?: Expression): string {
    if (!variable.assigned && value !== undefined) this.kinds.set(variable, this.kindOf(value));
    const word = this.place(variable);
    const name = this.nameOf(variable);
    if (word === '') return `${name} = ${code};`;
    if (variable.assigned || code === undefined) return `let ${name}${code ? ` = ${code}` : ''};`;
    return `const ${name} = ${code};`;
  }

  #local(variables: readonly Variable[], values: readonly Expression[]): string {
    const lines: string[] = [];
    const last = values[values.length - 1];
    const open = last !== undefined && this.isOpen(last);
    const spread = open && variables.length > values.length;
    const single = spread ? values.length - 1 : values.length;
    for (let i = 0; i < single; i++) {
      const code = this.value(values[i]!);
      const variable = variables[i];
      lines.push(variable === undefined ? `${code};` : this.#declare(variable, code, values[i]));
    }
    const rest = variables.slice(single);
    if (spread) lines.push(this.#spreadLocals(last, rest));
    else for (const variable of rest) lines.push(this.#declare(variable, undefined));
    return lines.join('\n');
  }

  #spreadLocals(node: Expression, variables: readonly Variable[]): string {
    const words = variables.map((variable) => this.place(variable));
    const names = variables.map((variable) => this.nameOf(variable));
    if (!words.includes('')) return this.#spread(node, names, 'let ');
    const declared = names.filter((_, i) => words[i] !== '');
    const first = declared.length > 0 ? `let ${declared.join(', ')}; ` : '';
    return `${first}${this.#spread(node, names, '')}`;
  }

  /** Assigns the values of a call or of `...` to several names. */
  #spread(node: Expression, names: readonly string[], declare: string): string {
    if (node.type === 'vararg') {
      return names.map((name, i) => `${declare}${name} = V[${i}];`).join(' ');
    }
    const code = this.call(node as CallNode | MethodNode);
    const temp = this.temp();
    this.release(temp);
    const first = `${declare}${names.join(', ')};`;
    const many = names.map((name, i) => `${name} = ${temp}[${i}];`).join(' ');
    const none = names.slice(1).map((name) => ` ${name} = undefined;`);
    const one = `${names[0]} = ${temp};${declare === '' ? none.join('') : ''}`;
    return `${declare === '' ? '' : first} if (isArray(${temp} = ${code})) { ${many} } else { ${one} }`;
  }

  #assign(targets: readonly Expression[], values: readonly Expression[], line: number): string {
    if (targets.length === 1 && values.length === 1)
      return this.#store(targets[0]!, this.value(values[0]!), line);
    const temps: string[] = [];
    const lines: string[] = [];
    const hold = (code: string) => {
      const temp = this.temp();
      temps.push(temp);
      lines.push(`${temp} = ${code};`);
      return temp;
    };
    const places = targets.map((target) => {
      if (target.type !== 'index') return undefined;
      const object = hold(this.value(target.object));
      const key = target.key.type === 'string' ? '' : hold(this.value(target.key));
      return { object, key };
    });
    const sources = this.#sources(targets.length, values, hold, lines, temps);
    for (let i = targets.length - 1; i >= 0; i--) {
      lines.push(this.#store(targets[i]!, sources[i]!, line, places[i]));
    }
    this.release(...temps);
    return lines.join(' ');
  }

  #sources(
    count: number,
    values: readonly Expression[],
    hold: (code: string) => string,
    lines: string[],
    temps: string[],
  ): string[] {
    const last = values[values.length - 1]!;
    const open = this.isOpen(last) && count > values.length;
    const sources = values.slice(0, open ? -1 : undefined).map((value) => hold(this.value(value)));
    if (open) {
      const names = Array.from({ length: count - sources.length }, () => this.temp());
      temps.push(...names);
      lines.push(this.#spread(last, names, ''));
      sources.push(...names);
    }
    while (sources.length < count) sources.push('undefined');
    return sources;
  }

  #store(target: Expression, code: string, line: number, place?: { object: string; key: string }): string {
    if (target.type === 'local') return `${this.nameOf(target.variable)} = ${code};`;
    if (target.type === 'global') {
      const globals = this.constant(this.library.globals);
      const name = this.column(target) ?? this.string(target.name);
      return this.#run(`R.setIndex(${globals}, ${name}, ${code}, ${this.site(line)})`);
    }
    if (target.type !== 'index') return '';
    const site = this.site(line, this.naming(target.object));
    const object = place?.object ?? this.value(target.object);
    if (target.key.type === 'string' && this.column(target.key) === undefined) {
      const { value } = target.key;
      return this.#run(
        `R.setString(${object}, ${this.string(value)}, ${this.hash(value)}, ${code}, ${site})`,
      );
    }
    const key = place?.key || this.value(target.key);
    return this.#run(`R.setIndex(${object}, ${key}, ${code}, ${site})`);
  }

  #run(code: string): string {
    return `${this.settled(code)};`;
  }

  #if(clauses: readonly { condition: Expression | undefined; body: readonly Statement[] }[]): string {
    const flat = clauses.length > MAX_ELSEIF ? `b${++this.#labels}` : '';
    const parts = clauses.map(({ condition, body }) => {
      const code = `{\n${this.#block(body)}\n${flat === '' ? '' : `break ${flat};`}\n}`;
      return condition === undefined ? code : `if (${this.condition(condition)}) ${code}`;
    });
    return flat === '' ? parts.join(' else ') : `${flat}: {\n${parts.join('\n')}\n}`;
  }

  #numericFor(node: NumericFor): string {
    const { id, captured, assigned } = node.variable;
    const own = captured || assigned;
    if (!assigned) this.kinds.set(node.variable, 'number');
    const site = this.site(node.line);
    if (this.frame.slots === undefined) this.frame.blocks += 3;
    const taken = this.frame.slots?.taken;
    const lines = ['{'];
    const bind = (name: string, value: Expression, what: string) => {
      lines.push(`${this.let}${name} = ${this.value(value)};`);
      if (this.kindOf(value) === 'number') return '';
      return `if (typeof ${name} !== 'number') ${name} = R.forNumber(${name}, '${what}', ${site});`;
    };
    const word = this.place(node.variable);
    const name = this.nameOf(node.variable);
    const counter = own ? this.hidden(`i${id}`) : name;
    const limit = this.hidden(`l${id}`);
    const checks = [bind(counter, node.start, 'initial value'), bind(limit, node.limit, 'limit')];
    const step = node.step ?? { type: 'number', value: 1 };
    const literal = step.type === 'number' && step.value !== 0 ? step.value : undefined;
    const by = literal === undefined ? this.hidden(`s${id}`) : this.number(literal);
    if (literal === undefined) checks.push(bind(by, step, 'step'));
    lines.push(checks.join(' '));
    // Like Lua, subtracts the step once before the loop. The result differs for fractional numbers.
    if (node.start.type !== 'number' || literal !== 1) lines.push(`${counter} = ${counter} - ${by} + ${by};`);
    const up = `${counter} <= ${limit}`;
    const down = `${limit} <= ${counter}`;
    const test = literal === undefined ? `(0 < ${by} ? ${up} : ${down})` : literal > 0 ? up : down;
    const first = own ? `${word}${name} = ${counter};\n` : '';
    lines.push(`for (; ${test}; ${counter} += ${by}) {`, this.#loop(node.line, node.body, first), '}', '}');
    if (taken !== undefined) this.frame.slots?.freeAfter(taken);
    return lines.join('\n');
  }

  #genericFor(node: GenericFor): string {
    const id = node.variables[0]!.id;
    const taken = this.frame.slots?.taken;
    const [f, s, c, it, r] = ['f', 's', 'c', 'n', 'r'].map((letter) => this.hidden(`${letter}${id}`));
    if (this.frame.slots === undefined) this.frame.blocks += 5;
    const site = this.site(node.line, "local '(for generator)'");
    const lines = ['{', this.#forValues(node.values, [f!, s!, c!])];
    lines.push(`${this.let && `let ${r}; const `}${it} = R.iterate(${f}, ${s}, ${c});`);
    lines.push('for (;;) {');
    const head = node.variables.map((variable) => this.#declare(variable, undefined));
    const names = node.variables.map((variable) => this.nameOf(variable));
    const second = names.length > 1 ? ` ${names[1]} = ${it}.value;` : '';
    head.push(
      `if (${it} !== undefined) { if (!${it}.step()) break; ${names[0]} = ${it}.key;${second} } else {`,
    );
    const target = `(typeof ${f} === 'function' ? ${f} : R.callable(${f}, ${this.site(node.line)}))`;
    const [enter, leave] = this.form === 'fast' ? ['', ''] : ['S.nested++; ', ' S.nested--;'];
    head.push(`S.site = ${site}; ${enter}${r} = ${this.settled(`${target}(${s}, ${c})`)};${leave}`);
    const many = names.map((name, i) => `${name} = ${r}[${i}];`).join(' ');
    head.push(`if (isArray(${r})) { ${many} } else ${names[0]} = ${r};`);
    head.push(`if (${names[0]} === undefined) break; ${c} = ${names[0]}; }`, '');
    lines.push(this.#loop(node.line, node.body, head.join('\n')), '}', '}');
    if (taken !== undefined) this.frame.slots?.freeAfter(taken);
    return lines.join('\n');
  }

  #forValues(values: readonly Expression[], names: readonly string[]): string {
    const lines: string[] = this.let === '' ? [] : [`let ${names.join(', ')};`];
    const sources = this.#sources(
      3,
      values,
      (code) => {
        const temp = this.temp();
        lines.push(`${temp} = ${code};`);
        return temp;
      },
      lines,
      [],
    );
    lines.push(...names.map((name, i) => `${name} = ${sources[i]};`));
    this.release(...new Set(sources.filter((source) => source !== 'undefined')));
    return lines.join(' ');
  }
}
