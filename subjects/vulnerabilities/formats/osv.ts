/** Reports of OSV-Scanner, and advisories of OSV. */
import { getList, getText, getTexts, getValue } from '../json-fields.ts';
import { toPackage } from '../packages.ts';
import type {
  Advisory,
  AdvisoryRange,
  CvssVector,
  ReportedFinding,
  ReportedPackage,
  ScannerReport,
} from '../report.ts';

export const isOsvScanner = (report: unknown): boolean =>
  Array.isArray(getValue(report, 'results')) &&
  getList(report, 'results').every((result) => getValue(result, 'source') !== undefined);

export const isOsvAdvisory = (value: unknown): boolean =>
  getText(value, 'id') !== '' && Array.isArray(getValue(value, 'affected')) && getText(value, 'modified') !== '';

const readVectors = (advisory: unknown, source: string): CvssVector[] =>
  getList(advisory, 'severity').flatMap((severity) => {
    const vector = getText(severity, 'score');
    return vector === '' ? [] : [{ source, vector }];
  });

const idsOf = (advisory: unknown): string[] => [getText(advisory, 'id'), ...getTexts(advisory, 'aliases')];

/** Returns the ids of a vulnerability, with those that the scanner groups with it. */
const listIds = (entry: unknown, advisory: unknown): string[] => {
  const ids = idsOf(advisory);
  const [id = ''] = ids;
  const group = getList(entry, 'groups').find((item) => getTexts(item, 'ids').includes(id));
  return [...new Set([...ids, ...getTexts(group, 'ids'), ...getTexts(group, 'aliases')])];
};

/** Types of package URLs by ecosystem of OSV */
const types: Readonly<Record<string, string>> = {
  npm: 'npm',
  PyPI: 'pypi',
  Maven: 'maven',
  Go: 'golang',
  'crates.io': 'cargo',
  NuGet: 'nuget',
  RubyGems: 'gem',
  Packagist: 'composer',
  Pub: 'pub',
  Hex: 'hex',
  Debian: 'deb',
  Ubuntu: 'deb',
  Alpine: 'apk',
};

export const readOsvScanner = (report: unknown, targetName: string): ScannerReport => {
  const findings: ReportedFinding[] = [];
  const packages: ReportedPackage[] = [];
  const scopes: string[] = [];
  for (const result of getList(report, 'results')) {
    const location = getText(result, 'source', 'path');
    scopes.push(location);
    for (const entry of getList(result, 'packages')) {
      const ecosystem = getText(entry, 'package', 'ecosystem');
      const item: ReportedPackage = {
        ...toPackage({ name: getText(entry, 'package', 'name'), version: getText(entry, 'package', 'version') }),
        type: types[ecosystem.split(':')[0] ?? ''] ?? '',
        ecosystem,
      };
      packages.push(item);
      for (const advisory of getList(entry, 'vulnerabilities')) {
        const fixedVersions = getList(advisory, 'affected')
          .filter((affected) => getText(affected, 'package', 'name') === item.name)
          .flatMap((affected) => getList(affected, 'ranges').flatMap((range) => getList(range, 'events')))
          .map((event) => getText(event, 'fixed'))
          .filter((version) => version !== '');
        findings.push({
          ids: listIds(entry, advisory),
          package: item,
          location,
          scope: location,
          severity: getText(advisory, 'database_specific', 'severity').toLowerCase(),
          title: getText(advisory, 'summary') || getText(advisory, 'details'),
          url: getText(getList(advisory, 'references')[0], 'url'),
          vectors: readVectors(advisory, 'osv'),
          fixedVersions: [...new Set(fixedVersions)],
          epss: null,
          isKnownExploited: false,
        });
      }
    }
  }
  const name = targetName || scopes[0] || 'osv-scanner';
  return {
    kind: 'report',
    format: 'osv-scanner',
    scanner: 'osv-scanner',
    target: { id: name, name, kind: 'repository', references: [] },
    isComplete: true,
    scopes,
    findings,
    packages,
    hasPackages: packages.length > 0,
    problems: [],
  };
};

/** Returns an advisory; undefined if it was withdrawn or affects no package. */
export const readAdvisory = (value: unknown): Advisory | undefined => {
  if (getText(value, 'withdrawn') !== '') return undefined;
  const affected = getList(value, 'affected').flatMap((entry) => {
    const name = getText(entry, 'package', 'name');
    const ecosystem = getText(entry, 'package', 'ecosystem');
    if (name === '' || ecosystem === '') return [];
    const ranges = getList(entry, 'ranges').flatMap((range): AdvisoryRange[] => {
      if (getText(range, 'type') === 'GIT') return [];
      const events = getList(range, 'events').map((event) => ({
        ...(getText(event, 'introduced') !== '' && { introduced: getText(event, 'introduced') }),
        ...(getText(event, 'fixed') !== '' && { fixed: getText(event, 'fixed') }),
        ...(getText(event, 'last_affected') !== '' && { lastAffected: getText(event, 'last_affected') }),
      }));
      return [{ events }];
    });
    return [{ ecosystem, name, ranges, versions: getTexts(entry, 'versions') }];
  });
  if (affected.length === 0) return undefined;
  return {
    ids: [...new Set(idsOf(value))],
    title: getText(value, 'summary') || getText(value, 'details'),
    vectors: readVectors(value, 'osv'),
    affected,
  };
};
