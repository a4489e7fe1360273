/** Finds the programs on the pages of the documentation, and what they say that they print. */
import { readFileSync } from 'node:fs';

/** The code blocks of a page in a language that are whole programs: they import lostlock and print something. */
export function programs(page: string, language: string): string[] {
  const fences = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g');
  const blocks = [...readFileSync(page, 'utf8').matchAll(fences)];
  return blocks.map((block) => block[1] ?? '').filter((text) => text.includes('console.log'));
}

/** What a program says that it prints: the text behind each arrow. */
export function promised(program: string): string[] {
  return [...program.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1] ?? '');
}
