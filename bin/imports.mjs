// Resolves modules with fewer steps: `node --import=…/imports.mjs`. A process loads some two thousand modules, and Node
// accesses the file system several times for each: whether it exists, its link target, and which package.json above it
// declares it as a module.
import { registerHooks } from 'node:module';

/**
 * Resolved names of packages and of Node's modules for the project's files, which all share the same `node_modules`.
 */
const named = new Map();

const formats = { '.ts': 'module-typescript', '.mjs': 'module' };

/** Package folders whose `.js` files are modules, which applies to all files of a folder. */
const ofModules = new Set();

/** Resolves a package's own file that one of its modules imports. */
const resolveInPackage = (specifier, context, next) => {
  const { href } = new URL(specifier, context.parentURL);
  const folder = href.slice(0, href.lastIndexOf('/'));
  if (ofModules.has(folder)) return { url: href, format: 'module', shortCircuit: true };
  const found = next(specifier, context);
  // A link resolves to another location than its own path.
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
        return specifier.endsWith('.js') ? resolveInPackage(specifier, context, next) : next(specifier, context);
      return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
    }
    if (!parentURL.endsWith('.ts') || Object.keys(importAttributes).length > 0) return next(specifier, context);
    const known = named.get(specifier) ?? { ...next(specifier, context), shortCircuit: true };
    named.set(specifier, known);
    return known;
  },
});
