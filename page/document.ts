/** The frame of an HTML file that runs a script of ours and nothing else. */

/** What differs between our pages. Nothing in it is escaped here. */
interface DocumentParts {
  readonly title: string;
  /** What the page is about, in a sentence. */
  readonly description: string;
  /** The Content-Security-Policy beside what every page has: its scripts and styles. */
  readonly policy: string;
  /** Further lines of the head. */
  readonly head: readonly string[];
  /** What the page says without JavaScript. */
  readonly without: string;
  /** HTML that stands in `page` until its script fills it. */
  readonly content?: string;
  /** The elements at the end of the body. */
  readonly scripts: readonly string[];
}

/** An HTML file with an element `page`, which its script fills. It can load and send only what its policy allows. */
export function htmlDocument({
  title,
  description,
  policy,
  head,
  without,
  content = '',
  scripts,
}: DocumentParts): string {
  const whole = `default-src 'none'; ${policy}; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${whole}">
<meta name="generator" content="lostlock">
<meta name="description" content="${description}">
<title>${title} - lostlock</title>
${head.join('\n')}
</head>
<body>
<div id="page">${content}</div>
<noscript>${without}</noscript>
${scripts.join('\n')}
</body>
</html>
`;
}
