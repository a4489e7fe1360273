/** Programs at the compiler's limits, which are too long for a file. */

function repeat(count: number, write: (i: number) => string, separator = ''): string {
  return Array.from({ length: count }, (_, i) => write(i)).join(separator);
}

const locals = (count: number): string => repeat(count, (i) => `local v${i} = ${i} `);
const numbers = (count: number): string => repeat(count, (i) => `${i}`, ',');
const names = (count: number, separator: string): string => repeat(count, (i) => `v${i}`, separator);

/** Code that may nest at most 200 levels deep, nested to a given depth. */
const NESTED: Record<string, (depth: number) => string> = {
  parentheses: (n) => `return ${'('.repeat(n)}1${')'.repeat(n)}`,
  blocks: (n) => `${'do '.repeat(n)}local x = 1 ${'end '.repeat(n)}return 2`,
  concatenations: (n) => `return ${repeat(n, () => '"a"', '..')}`,
  powers: (n) => `return ${repeat(n, () => '1', '^')}`,
  negations: (n) => `local a = 1 return ${'- '.repeat(n)}a`,
  nots: (n) => `return ${'not '.repeat(n)}nil`,
  functions: (n) => `return ${'(function() return '.repeat(n)}1${' end)()'.repeat(n)}`,
  tables: (n) => `return #cjson.encode(${'{'.repeat(n)}${'}'.repeat(n)})`,
  calls: (n) => `local f = function(x) return x end return ${'f('.repeat(n)}1${')'.repeat(n)}`,
};

/** Name and text of every program. */
export function limitPrograms(): Map<string, string> {
  const programs = new Map<string, string>();
  for (const count of [200, 201]) {
    programs.set(`${count} locals`, `${locals(count)}return v199`);
    programs.set(`${count} locals of a function`, `local function f()\n${locals(count)} end return 1`);
    programs.set(`a list of ${count} locals`, `local ${names(count, ',')} = 1 return v0`);
    programs.set(`${count} parameters`, `return (function(${names(count, ',')}) return v0 end)(7)`);
    programs.set(`${count - 3} locals and a loop`, `${locals(count - 3)}for i = 1, 2 do end return 1`);
  }
  for (const count of [60, 61]) {
    programs.set(
      `${count} upvalues`,
      `${locals(count)}return (function() return ${names(count, '+')} end)()`,
    );
  }
  for (const count of [245, 247, 248, 249, 250, 255]) {
    programs.set(`${count} arguments`, `return select('#', ${numbers(count)})`);
    programs.set(`${count} results`, `return ${numbers(count)}`);
  }
  programs.set('1000 items', `return #{${numbers(1000)}}`);
  programs.set('300 fields', `return #cjson.encode({${repeat(300, (i) => `k${i}=${i}`, ',')}})`);
  for (const depth of [150, 194, 195, 196, 197, 198, 199, 200, 201, 250]) {
    for (const [what, write] of Object.entries(NESTED)) programs.set(`${depth} ${what}`, write(depth));
  }
  programs.set('a sum of 900 numbers', `return ${repeat(900, () => '1', '+')}`);
  programs.set('a sum of 900 variables', `local a = 1 return ${repeat(900, () => 'a', ' + ')}`);
  programs.set('a bad sum', `local a = 1 local b return b + ${repeat(900, () => 'a', ' - ')}`);
  programs.set('900 ands', `return ${repeat(900, () => 'true', ' and ')}`);
  programs.set('900 ors', `local x return ${repeat(900, () => 'x', ' or ')} or 5`);
  const clauses = repeat(300, (i) => `elseif x == ${i + 1} then return ${i + 1} `);
  programs.set('300 elseifs', `local x = 250 if x == 0 then return 0 ${clauses}end`);
  return programs;
}
