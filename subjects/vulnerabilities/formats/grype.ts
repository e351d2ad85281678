/** Reports of Grype (JSON). */
import { getList, getText, getTexts, getValue } from '../json-fields.ts';
import { toPackage } from '../packages.ts';
import type { ReportedFinding, ReportProblem, ReportTarget, ScannerReport } from '../report.ts';

const readTarget = (report: unknown): ReportTarget => {
  const target = getValue(report, 'source', 'target');
  if (typeof target === 'string') return { id: target, name: target, kind: 'repository', references: [] };
  const name = getText(target, 'userInput');
  const digests = getTexts(target, 'repoDigests');
  const id = getText(target, 'imageID') || getText(target, 'manifestDigest') || name;
  return { id, name, kind: 'image', references: [...getTexts(target, 'tags'), ...digests] };
};

export const isGrype = (report: unknown): boolean =>
  Array.isArray(getValue(report, 'matches')) && getValue(report, 'descriptor') !== undefined;

const scope = 'all';

/**
 * Returns the ids of each vulnerability of a match. An advisory of a distribution, such as ALAS-2023-1704, is about
 * several, which other scanners report one by one.
 */
const separateVulnerabilities = (id: string, relatedIds: readonly string[]): string[][] => {
  const cves = [...new Set(relatedIds.filter((other) => other.startsWith('CVE-')))];
  return id.startsWith('CVE-') || cves.length < 2 ? [[id, ...relatedIds]] : cves.map((cve) => [cve]);
};

export const readGrype = (report: unknown): ScannerReport => {
  const target = readTarget(report);
  const findings: ReportedFinding[] = [];
  const problems: ReportProblem[] = [];
  for (const [index, match] of getList(report, 'matches').entries()) {
    const id = getText(match, 'vulnerability', 'id');
    const name = getText(match, 'artifact', 'name');
    if (id === '' || name === '') {
      problems.push({ path: `matches.${index}`, message: 'has no vulnerability.id or no artifact.name' });
      continue;
    }
    const related = getList(match, 'relatedVulnerabilities');
    const sources = [getValue(match, 'vulnerability'), ...related];
    const epss = getValue(match, 'vulnerability', 'epss', 0, 'epss') ?? getValue(related[0], 'epss', 0, 'epss');
    const finding: Omit<ReportedFinding, 'ids'> = {
      package: toPackage({
        name,
        version: getText(match, 'artifact', 'version'),
        purl: getText(match, 'artifact', 'purl'),
        type: getText(match, 'artifact', 'type'),
      }),
      location: target.kind === 'image' ? '' : getText(match, 'artifact', 'locations', 0, 'path').replace(/^\.?\//, ''),
      scope,
      severity: getText(match, 'vulnerability', 'severity').toLowerCase(),
      title: getText(match, 'vulnerability', 'description') || getText(related[0], 'description'),
      url: getText(match, 'vulnerability', 'dataSource'),
      vectors: sources.flatMap((vulnerability) =>
        getList(vulnerability, 'cvss').flatMap((rating) => {
          const vector = getText(rating, 'vector');
          return vector === '' ? [] : [{ source: getText(rating, 'source') || 'grype', vector }];
        }),
      ),
      fixedVersions: getTexts(match, 'vulnerability', 'fix', 'versions'),
      epss: typeof epss === 'number' ? epss : null,
      isKnownExploited: sources.some((vulnerability) => getList(vulnerability, 'knownExploited').length > 0),
    };
    const relatedIds = related.map((vulnerability) => getText(vulnerability, 'id')).filter((other) => other !== '');
    for (const ids of separateVulnerabilities(id, relatedIds)) findings.push({ ids, ...finding });
  }
  const configuration = getValue(report, 'descriptor', 'configuration');
  const isNarrower =
    getValue(configuration, 'only-fixed') === true ||
    getValue(configuration, 'only-notfixed') === true ||
    getList(report, 'ignoredMatches').length > 0;
  return {
    kind: 'report',
    format: 'grype',
    scanner: 'grype',
    target,
    isComplete: !isNarrower,
    scopes: [scope],
    findings,
    packages: [],
    hasPackages: false,
    problems,
  };
};
