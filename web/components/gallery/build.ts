/** Builds the gallery as a file that a browser opens: `node bin/node.mjs web/components/gallery/build.ts` */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../../..');
const directory = join(root, 'node_modules/.cache/oiq-gallery');

await build({
  absWorkingDir: root,
  outdir: directory,
  bundle: true,
  format: 'iife',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryPoints: [
    { in: 'web/components/gallery/gallery.tsx', out: 'gallery' },
    { in: 'web/style/page.css', out: 'gallery' },
  ],
  logLevel: 'warning',
});
writeFileSync(
  join(directory, 'index.html'),
  '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>Components</title><link rel="stylesheet" href="gallery.css"><body></body><script src="gallery.js"></script></html>\n',
);
process.stdout.write(`${join(directory, 'index.html')}\n`);
