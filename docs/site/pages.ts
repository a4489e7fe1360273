/** The pages of the documentation site: which files they come from, and where they stand in the menu. */

/** A page: its address on the site without an extension, its source from the repository's root, and its name in the menu. */
export interface SitePage {
  readonly address: string;
  readonly source: string;
  readonly title: string;
  /** What it is about, in a sentence, where its own first sentences do not say it. */
  readonly about?: string;
}

const page = (address: string, source: string, title: string, about?: string): SitePage =>
  about === undefined ? { address, source, title } : { address, source, title, about };
const doc = (name: string, title: string, about?: string): SitePage =>
  page(name, `docs/${name}.md`, title, about);
const start = (name: string, title: string): SitePage =>
  doc(
    `start/${name}`,
    title,
    `How to test distributed locks with lostlock, a Redis-compatible server: ${title}.`,
  );

/** The menu by task: sections with their pages. Every page of the site but the first one and the API is in it. */
export const sections: readonly { readonly title: string; readonly pages: readonly SitePage[] }[] = [
  {
    title: 'Start',
    pages: [
      start('vitest', 'Vitest'),
      start('jest', 'Jest'),
      start('mocha', 'Mocha'),
      start('node-test', 'node:test'),
      doc('runtimes', 'Bun, Deno and versions of Node'),
      start('playwright', 'Playwright'),
      start('python', 'Python'),
      start('go', 'Go'),
      start('java', 'Java'),
      start('other-languages', 'Other languages'),
      doc('faq', 'Questions', 'Questions about lostlock, answered in a few sentences each.'),
      doc(
        'comparison',
        'Comparison and migration',
        'lostlock beside redis-memory-server, Testcontainers, ioredis-mock and others, and how to move to it.',
      ),
      doc('ioredis-mock', 'From ioredis-mock'),
      doc(
        'clients',
        'Clients and versions',
        'Which clients and lock libraries the tests run, and in which versions.',
      ),
    ],
  },
  {
    title: 'Test my lock',
    pages: [
      doc(
        'test-my-lock',
        'Test my lock',
        'A test of your own lock: first green, then a failover, then an exploration, for each library and runner.',
      ),
      doc('testing', 'What tests can do'),
      doc('cookbook', 'Cookbook', 'Programs to copy for common tests of distributed locks.'),
      doc('time', 'Time in the lab'),
      doc('lab', "The lab's controls"),
      doc('commands-of-your-own', 'Commands of your own'),
      doc('ci', 'CI', 'Whole workflows for GitHub and GitLab: tests, explorations, JUnit, timelines.'),
      doc('sentinel', 'Sentinel'),
      doc('cluster', 'Cluster'),
      doc('persistence', 'Persistence'),
    ],
  },
  {
    title: 'Find bugs',
    pages: [
      doc('explore', 'Explorations'),
      doc('programs', 'Programs in any language'),
      doc('failures', 'Reading a failure'),
      doc(
        'troubleshooting',
        'Troubleshooting by message',
        'Messages of lostlock, why they appear, and their cures.',
      ),
      doc(
        'symptoms',
        'Recipes by symptom',
        'The job ran twice, sold too many, nobody gets the lock: causes, how to see them happen, and cures.',
      ),
      doc('timeline', 'Timelines'),
      doc('playground', 'The playground'),
      doc(
        'libraries',
        "npm's lock libraries, explored",
        'Which faults break the lock libraries of npm: what explorations of each of them found.',
      ),
      doc(
        'specimens',
        'Mistakes, explored',
        'The usual mistakes in distributed locks as client code, and whether explorations find them.',
      ),
    ],
  },
  {
    title: 'Understand locks',
    pages: [
      doc('concepts', 'How locks are lost'),
      doc('which-lock', 'Which lock to take'),
      doc('using-locks', 'Using the locks'),
      doc('locks', 'The failures they are built for'),
      doc('scenarios', 'The lost locks, one by one'),
      doc('real-servers', 'The same on real servers'),
      doc('contrast', 'Redis, ZooKeeper and etcd'),
      page(
        'oversell',
        'bench/oversell.md',
        'Overselling',
        'A service that sells a stock over HTTP with each kind of lock, and how much it oversells.',
      ),
      doc('glossary', 'Glossary'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      doc('commands', 'Commands'),
      doc('parameters', 'Parameters of redis.conf'),
      doc('lab-commands', 'LAB commands'),
      doc('differences', 'Differences from Redis'),
      doc('dialects', 'Dialects'),
      doc('stability', 'What is stable'),
      doc('claims', 'Claims', 'What lostlock claims, and the command that shows each claim.'),
      page('bench', 'bench/results.md', 'Bench results', 'Speed and memory of lostlock beside redis-server.'),
      page(
        'robustness',
        'bench/robustness.md',
        'Robustness',
        'What attacks on a lostlock server do to its other clients.',
      ),
      page('integrations/pytest', 'integrations/pytest/README.md', 'pytest-lostlock'),
      page('integrations/go', 'integrations/go/README.md', 'lostlock for Go'),
      page('integrations/junit', 'integrations/junit/README.md', 'lostlock for JUnit 5'),
      doc('architecture', 'Architecture'),
      doc('decisions/0004-time-in-the-lab', 'Decision: time in the lab'),
      doc('decisions/0020-a-dialect-is-named-behaviours', 'Decision: dialects'),
      page(
        'contributing',
        'CONTRIBUTING.md',
        'Contributing',
        'How lostlock is built, tested and released, and the rules of its code.',
      ),
      page('changelog', 'CHANGELOG.md', 'Changelog'),
      page('security', 'SECURITY.md', 'Security'),
    ],
  },
];

/** All pages of the menu. */
export const pages: readonly SitePage[] = sections.flatMap((section) => section.pages);
