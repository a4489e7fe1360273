/** The manifest that is published, and what speaks against a release. */

/** Who publishes the package: tools/release/owner.json, the only place where the owner is named. */
export interface Owner {
  /** The author, as npm writes it: `Name <mail> (page)`. */
  readonly author: string;
  /** The address of the repository without `.git`, such as https://github.com/name/lostlock. */
  readonly repository: string;
}

/** The fields of a manifest that only developers need. */
const DEVELOPMENT = ['scripts', 'devDependencies'];

/** The manifest as it is published: with the owner's fields, and without those that only developers need. */
export function releaseManifest(manifest: object, { author, repository }: Owner): Record<string, unknown> {
  const kept = Object.entries(manifest).filter(([name]) => !DEVELOPMENT.includes(name));
  const owned =
    repository === ''
      ? {}
      : {
          homepage: `${repository}#readme`,
          bugs: `${repository}/issues`,
          repository: { type: 'git', url: `git+${repository}.git` },
        };
  return { ...Object.fromEntries(kept), ...(author !== '' && { author }), ...owned };
}

/** What a release looks at before it begins. */
export interface ReleaseState {
  readonly owner: Owner;
  readonly version: string;
  readonly changelog: string;
  /** What `git status --porcelain` prints. */
  readonly uncommitted: string;
}

/** Why this state must not be released; empty when nothing speaks against it. */
export function reasonsAgainst({ owner, version, changelog, uncommitted }: ReleaseState): string[] {
  const reasons: string[] = [];
  if (owner.author === '') reasons.push('tools/release/owner.json has no author');
  if (!/^https:\/\/[^/]+\/[^/]+\/[^/]+$/.test(owner.repository) || owner.repository.endsWith('.git')) {
    reasons.push('tools/release/owner.json has no repository like https://github.com/name/lostlock');
  }
  if (!changelog.split('\n').some((line) => line.startsWith(`## ${version}`))) {
    reasons.push(`CHANGELOG.md has no heading for ${version}`);
  }
  if (uncommitted !== '') reasons.push('there are changes that are not committed');
  return reasons;
}
