/** Reports of Trivy (JSON). */
import { isFields } from '../../../runtime/fields.ts';
import { getList, getText, getTexts, getValue } from '../json-fields.ts';
import { toPackage } from '../packages.ts';
import type {
  CvssVector,
  ReportedFinding,
  ReportedPackage,
  ReportProblem,
  ReportTarget,
  ScannerReport,
} from '../report.ts';

const readVectors = (vulnerability: unknown): CvssVector[] => {
  const cvss = getValue(vulnerability, 'CVSS');
  if (!isFields(cvss)) return [];
  return Object.keys(cvss).flatMap((source) =>
    ['V2Vector', 'V3Vector', 'V40Vector'].flatMap((name) => {
      const vector = getText(cvss, source, name);
      return vector === '' ? [] : [{ source, vector }];
    }),
  );
};

const readTarget = (report: unknown): ReportTarget => {
  const name = getText(report, 'ArtifactName');
  const type = getText(report, 'ArtifactType');
  if (type !== 'container_image') {
    const kind = type === 'vm' ? 'host' : type === 'cyclonedx' || type === 'spdx' ? 'sbom' : 'repository';
    return { id: name, name, kind, references: [] };
  }
  const digests = getTexts(report, 'Metadata', 'RepoDigests');
  const imageId = getText(report, 'Metadata', 'ImageID');
  return {
    id: imageId || digests[0]?.split('@')[1] || name,
    name,
    kind: 'image',
    references: [...getTexts(report, 'Metadata', 'RepoTags'), ...digests],
  };
};

export const isTrivy = (report: unknown): boolean =>
  getValue(report, 'SchemaVersion') !== undefined && getValue(report, 'ArtifactName') !== undefined;

const readListedPackage = (item: unknown, type: string): ReportedPackage => {
  const release = getText(item, 'Release');
  const version = getText(item, 'Version') + (release === '' ? '' : `-${release}`);
  return toPackage({ name: getText(item, 'Name'), version, purl: getText(item, 'Identifier', 'PURL'), type });
};

/** Returns a finding; undefined without an id or a package. */
const readVulnerability = (
  vulnerability: unknown,
  { type, location, scope }: { readonly type: string; readonly location: string; readonly scope: string },
): ReportedFinding | undefined => {
  const id = getText(vulnerability, 'VulnerabilityID');
  const name = getText(vulnerability, 'PkgName');
  if (id === '' || name === '') return undefined;
  const purl = getText(vulnerability, 'PkgIdentifier', 'PURL');
  return {
    ids: [id, ...getTexts(vulnerability, 'VendorIDs').filter((other) => /^(?:GHSA|GO|CVE)-/.test(other))],
    package: toPackage({ name, version: getText(vulnerability, 'InstalledVersion'), purl, type }),
    location,
    scope,
    severity: getText(vulnerability, 'Severity').toLowerCase(),
    title: getText(vulnerability, 'Title'),
    url: getText(vulnerability, 'PrimaryURL'),
    vectors: readVectors(vulnerability),
    fixedVersions: getText(vulnerability, 'FixedVersion')
      .split(/,\s*/)
      .filter((version) => version !== ''),
    epss: null,
    isKnownExploited: false,
  };
};

/** Returns whether the report lacks vulnerabilities that a policy, a statement or a list hides. */
const hidesVulnerabilities = (report: unknown): boolean =>
  getList(report, 'Results').some((result) =>
    getList(result, 'ExperimentalModifiedFindings').some((finding) => getText(finding, 'Type') === 'vulnerability'),
  );

export const readTrivy = (report: unknown): ScannerReport => {
  const target = readTarget(report);
  const findings: ReportedFinding[] = [];
  const packages: ReportedPackage[] = [];
  const problems: ReportProblem[] = [];
  const scopes: string[] = [];
  for (const [index, result] of getList(report, 'Results').entries()) {
    const type = getText(result, 'Type');
    const scope = `${getText(result, 'Class')} ${type} ${getText(result, 'Target')}`;
    scopes.push(scope);
    const isLockFile = getText(result, 'Class') === 'lang-pkgs' && target.kind !== 'image';
    packages.push(...getList(result, 'Packages').map((item) => readListedPackage(item, type)));
    const place = { type, scope, location: isLockFile ? getText(result, 'Target') : '' };
    for (const [position, vulnerability] of getList(result, 'Vulnerabilities').entries()) {
      const finding = readVulnerability(vulnerability, place);
      const path = `Results.${index}.Vulnerabilities.${position}`;
      if (finding === undefined) problems.push({ path, message: 'has no VulnerabilityID or no PkgName' });
      else findings.push(finding);
    }
  }
  return {
    kind: 'report',
    format: 'trivy',
    scanner: 'trivy',
    target,
    isComplete: Array.isArray(getValue(report, 'Results')) && !hidesVulnerabilities(report),
    scopes,
    findings,
    packages,
    hasPackages: packages.length > 0,
    problems,
  };
};
