/** The pages of the documentation site: which files they come from, and where they stand in the menu. */

/** A page: its address on the site without an extension, its source from the repository's root, and its name in the menu. */
export interface SitePage {
  readonly address: string;
  readonly source: string;
  readonly title: string;
}

const doc = (name: string, title: string): SitePage => ({ address: name, source: `docs/${name}.md`, title });
const other = (address: string, source: string, title: string): SitePage => ({ address, source, title });

/** The menu: sections with their pages. Every page of the site but the first one and the API is in it. */
export const sections: readonly { readonly title: string; readonly pages: readonly SitePage[] }[] = [
  {
    title: 'Start',
    pages: [
      doc('concepts', 'Concepts'),
      doc('start/vitest', 'Vitest'),
      doc('start/jest', 'Jest'),
      doc('start/mocha', 'Mocha'),
      doc('start/node-test', 'node:test'),
      doc('start/playwright', 'Playwright'),
      doc('start/python', 'Python'),
      doc('start/go', 'Go'),
      doc('start/java', 'Java'),
      doc('start/other-languages', 'Other languages'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      doc('testing', 'Testing with lostlock'),
      doc('cookbook', 'Cookbook'),
      doc('time', 'Time in the lab'),
      doc('lab', "The lab's controls"),
      doc('explore', 'Explorations'),
      doc('timeline', 'Timelines'),
      doc('playground', 'The playground'),
      doc('sentinel', 'Sentinel'),
      doc('cluster', 'Cluster'),
      doc('persistence', 'Persistence'),
    ],
  },
  {
    title: 'Locks',
    pages: [
      doc('which-lock', 'Which lock to take'),
      doc('using-locks', 'Using the locks'),
      doc('locks', 'The failures they are built for'),
      doc('scenarios', 'The lost locks, one by one'),
      doc('libraries', "npm's lock libraries, explored"),
      doc('specimens', 'Mistakes, explored'),
      doc('real-servers', 'The same on real servers'),
      doc('contrast', 'Redis, ZooKeeper and etcd'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      doc('commands', 'Commands'),
      doc('differences', 'Differences from Redis'),
      doc('dialects', 'Dialects'),
      doc('stability', 'What is stable'),
      other('bench', 'bench/results.md', 'Bench results'),
      other('robustness', 'bench/robustness.md', 'Robustness'),
      other('oversell', 'bench/oversell.md', 'Overselling'),
    ],
  },
  {
    title: 'More',
    pages: [
      doc('comparison', 'Comparison and migration'),
      doc('faq', 'Questions'),
      doc('architecture', 'Architecture'),
      doc('decisions/0004-time-in-the-lab', 'Decision: time in the lab'),
      doc('decisions/0020-a-dialect-is-named-behaviours', 'Decision: dialects'),
      other('integrations/pytest', 'integrations/pytest/README.md', 'pytest-lostlock'),
      other('integrations/go', 'integrations/go/README.md', 'lostlock for Go'),
      other('integrations/junit', 'integrations/junit/README.md', 'lostlock for JUnit 5'),
      other('contributing', 'CONTRIBUTING.md', 'Contributing'),
      other('changelog', 'CHANGELOG.md', 'Changelog'),
      other('security', 'SECURITY.md', 'Security'),
    ],
  },
];

/** All pages of the menu. */
export const pages: readonly SitePage[] = sections.flatMap((section) => section.pages);
