/** Builds a small Maven project in two steps, so that a registry out of reach is not taken for Java that does not compile. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How long Maven may look for its downloads, in milliseconds: a registry out of reach answers nothing at all. */
const RESOLVE_MS = 180_000;

function maven(project: string, goals: readonly string[]): void {
  const local = process.env.MAVEN_REPOSITORY ? [`-Dmaven.repo.local=${process.env.MAVEN_REPOSITORY}`] : [];
  execFileSync('mvn', ['-q', '-B', ...local, ...goals], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: RESOLVE_MS,
  });
}

const classpathFile = (project: string): string => join(project, 'target', 'classpath.txt');

/** Fetches the project's libraries and Maven's plugins; throws when they cannot be fetched. */
export function resolveProject(project: string): void {
  const output = `-Dmdep.outputFile=${classpathFile(project)}`;
  maven(project, ['compiler:help', 'resources:help', 'dependency:build-classpath', output]);
}

/** Compiles the project; gives the class path to run it by. Throws when the Java does not compile. */
export function buildProject(project: string): string {
  maven(project, ['--offline', 'compile']);
  const classes = join(project, 'target', 'classes');
  if (!existsSync(join(classes, 'lostlock'))) throw new Error(`Maven compiled nothing in ${project}`);
  return `${classes}:${readFileSync(classpathFile(project), 'utf8').trim()}`;
}
