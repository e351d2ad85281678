/** Packages by package URL, and the ecosystems of OSV that they belong to. */
import { PackageURL } from 'packageurl-js';
import type { ReportedPackage } from './report.ts';

const osTypes = new Set(['deb', 'rpm', 'apk', 'alpm', 'bitnami']);

/** Ecosystems of OSV by type of package URL */
const ecosystems: Readonly<Record<string, string>> = {
  npm: 'npm',
  pypi: 'PyPI',
  maven: 'Maven',
  golang: 'Go',
  cargo: 'crates.io',
  nuget: 'NuGet',
  gem: 'RubyGems',
  composer: 'Packagist',
  pub: 'Pub',
  hex: 'Hex',
  cran: 'CRAN',
  hackage: 'Hackage',
  swift: 'SwiftURL',
  conan: 'ConanCenter',
  githubactions: 'GitHub Actions',
  bitnami: 'Bitnami',
};

/** Ecosystems of operating systems, by the namespace of their package URLs */
const distributions: Readonly<Record<string, string>> = {
  debian: 'Debian',
  ubuntu: 'Ubuntu',
  alpine: 'Alpine',
  wolfi: 'Wolfi',
  chainguard: 'Chainguard',
  redhat: 'Red Hat',
  rhel: 'Red Hat',
  alma: 'AlmaLinux',
  almalinux: 'AlmaLinux',
  rocky: 'Rocky Linux',
  rockylinux: 'Rocky Linux',
  opensuse: 'openSUSE',
  suse: 'SUSE',
  mageia: 'Mageia',
};

const findEcosystem = (purl: PackageURL): string => {
  const { type, namespace, qualifiers } = purl;
  if (!osTypes.has(type)) return ecosystems[type] ?? '';
  const distribution = distributions[(namespace ?? '').toLowerCase()];
  if (distribution === undefined) return '';
  const release = /(\d+(?:\.\d+)?)/.exec(
    String((qualifiers as Record<string, string> | undefined)?.['distro'] ?? ''),
  )?.[1];
  if (release === undefined) return distribution;
  if (distribution === 'Alpine') return `Alpine:v${release}`;
  return distribution === 'Ubuntu' ? `Ubuntu:${release}` : `${distribution}:${release.split('.')[0]}`;
};

/** Returns a package by its URL; undefined if the URL is invalid. */
export const parsePurl = (text: string): ReportedPackage | undefined => {
  try {
    const purl = PackageURL.fromString(text);
    const { type, namespace, name, version, qualifiers } = purl;
    const separator = type === 'maven' ? ':' : '/';
    const hasNamespace = namespace !== undefined && namespace !== null && namespace !== '' && !osTypes.has(type);
    const epoch = (qualifiers as Record<string, string> | undefined)?.['epoch'];
    return {
      name: hasNamespace ? `${namespace}${separator}${name}` : name,
      version: `${epoch === undefined ? '' : `${epoch}:`}${version ?? ''}`,
      purl: text,
      type,
      ecosystem: findEcosystem(purl),
    };
  } catch {
    return undefined;
  }
};

/** Types of package URLs by the names of scanners */
const typeNames: Readonly<Record<string, string>> = {
  'go-module': 'golang',
  gomod: 'golang',
  gobinary: 'golang',
  'node-pkg': 'npm',
  yarn: 'npm',
  pnpm: 'npm',
  python: 'pypi',
  'python-pkg': 'pypi',
  pip: 'pypi',
  poetry: 'pypi',
  'java-archive': 'maven',
  jar: 'maven',
  pom: 'maven',
  gradle: 'maven',
  'rust-crate': 'cargo',
  bundler: 'gem',
  gemspec: 'gem',
  composer: 'composer',
  'php-composer': 'composer',
  dotnet: 'nuget',
  'dotnet-core': 'nuget',
};

/** Returns a package of a report, by its URL or else by the name that the report has. */
export const toPackage = (fields: {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly type?: string;
}): ReportedPackage => {
  const { name, version, purl = '', type = '' } = fields;
  const parsed = purl === '' ? undefined : parsePurl(purl);
  if (parsed !== undefined)
    return { ...parsed, name: name === '' ? parsed.name : name, version: version === '' ? parsed.version : version };
  const named = typeNames[type.toLowerCase()] ?? type.toLowerCase();
  return { name, version, purl: '', type: named, ecosystem: ecosystems[named] ?? '' };
};

/**
 * Returns what identifies a package in a target. Scanners differ in namespaces, in the epoch, and in the separator of
 * Maven; `pypi` has no case and no difference between hyphens and underscores.
 */
export const toPackageKey = ({ name, version, type }: Pick<ReportedPackage, 'name' | 'version' | 'type'>): string => {
  const plain = name.replaceAll(':', '/').toLowerCase();
  const normalized = type === 'pypi' ? plain.replaceAll(/[-_.]+/g, '-') : plain;
  const isGo = type === 'golang' || /^[a-z0-9-]+\.[a-z]+\//.test(normalized);
  return `${normalized}@${version.replace(/^\d+:/, '').replace(isGo ? /^v/ : /^$/, '')}`;
};
