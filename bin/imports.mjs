// Finds modules with fewer steps: `node --import=…/imports.mjs`. A process reads some two thousand, and Node asks the file system several
// times for each: whether it is there, what it is a link to, and which package.json above it says that it is a module.
import { registerHooks } from 'node:module';

/** What names of packages and of Node's modules mean to the project's files, which all have the same `node_modules`. */
const named = new Map();

const formats = { '.ts': 'module-typescript', '.mjs': 'module' };

/** Folders of packages whose `.js` files were found to be modules, as all of one folder are. */
const ofModules = new Set();

/** A package's own file that one of its modules names. */
const inPackage = (specifier, context, next) => {
  const { href } = new URL(specifier, context.parentURL);
  const folder = href.slice(0, href.lastIndexOf('/'));
  if (ofModules.has(folder)) return { url: href, format: 'module', shortCircuit: true };
  const found = next(specifier, context);
  // What is a link elsewhere is not where it seems to be.
  if (found.format === 'module' && found.url === href) ofModules.add(folder);
  return found;
};

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL, conditions, importAttributes } = context;
    if (parentURL === undefined || !conditions.includes('import')) return next(specifier, context);
    if (specifier.startsWith('./') || specifier.startsWith('../')) {
      const format = formats[/\.(?:ts|mjs)$/.exec(specifier)?.[0]];
      if (format === undefined)
        return specifier.endsWith('.js') ? inPackage(specifier, context, next) : next(specifier, context);
      return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
    }
    if (!parentURL.endsWith('.ts') || Object.keys(importAttributes).length > 0) return next(specifier, context);
    const known = named.get(specifier) ?? { ...next(specifier, context), shortCircuit: true };
    named.set(specifier, known);
    return known;
  },
});
