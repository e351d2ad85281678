/** Checks of the code without running it, by title: scripts of `package.json`. */
export const codeChecks: readonly { readonly title: string; readonly script: string }[] = [
  { title: 'code is linted and formatted', script: 'lint' },
  { title: 'types hold', script: 'types:root' },
  { title: 'types of the page hold', script: 'types:web' },
  { title: 'no file and no dependency is unused', script: 'unused' },
];
