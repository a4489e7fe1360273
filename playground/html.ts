/** The HTML file of the playground. */

/** It loads its own script, style and worker, and nothing else. */
export function playgroundHtml(): string {
  const policy =
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="generator" content="lostlock">
<title>Playground - lostlock</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
</head>
<body>
<div id="page"></div>
<noscript>The playground runs a lab in your browser with JavaScript.</noscript>
<script src="app.js"></script>
</body>
</html>
`;
}
