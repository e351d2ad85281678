/** Licences of all packages, from the lock file: `npm run licenses` prints them. */
import { readFileSync } from 'node:fs';

export interface PackageLicense {
  readonly name: string;
  readonly version: string;
  /** SPDX expression; empty if the package declares none */
  readonly license: string;
  /** Whether an image contains the package */
  readonly isShipped: boolean;
}

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly license?: string; readonly dev?: boolean }>
  >;
}

/** Returns the packages of the lock file, sorted by name. */
export const listLicenses = (): readonly PackageLicense[] => {
  const { packages } = JSON.parse(
    readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
  ) as LockFile;
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version = '', license = '', dev = false }]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      license,
      isShipped: !dev,
    }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
};

if (import.meta.main)
  for (const { name, version, license, isShipped } of listLicenses())
    console.log([name, version, license || 'none declared', isShipped ? 'shipped' : 'development'].join('\t'));
