/** Reports of Trivy (JSON) about an image, a host, a repository or the workloads of a Kubernetes cluster. */
import { isFields } from '../../../runtime/fields.ts';
import { getList, getText, getTexts, getValue } from '../json-fields.ts';
import { toPackage } from '../packages.ts';
import type {
  ClusterReport,
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

/** Reports before Trivy 0.20 are a list of results. */
export const isTrivyList = (report: unknown): boolean =>
  Array.isArray(report) &&
  report.length > 0 &&
  report.every((result) => getText(result, 'Target') !== '' && getValue(result, 'Vulnerabilities') !== undefined);

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

interface Contents {
  readonly findings: ReportedFinding[];
  readonly packages: ReportedPackage[];
  readonly scopes: string[];
}

/** Adds the findings and packages of a part of a report. */
const addResult = (
  { findings, packages, scopes }: Contents,
  result: unknown,
  { path, isImage, problems }: { readonly path: string; readonly isImage: boolean; readonly problems: ReportProblem[] },
): void => {
  const type = getText(result, 'Type');
  const packageClass = getText(result, 'Class');
  const name = `${packageClass} ${type} ${getText(result, 'Target')}`;
  // The name of a part about an operating system has its release, which updates of packages change. Stored findings may
  // have this name as their scope.
  const scope = packageClass === 'os-pkgs' ? packageClass : name;
  scopes.push(...new Set([scope, name]));
  const isLockFile = packageClass === 'lang-pkgs' && !isImage;
  for (const item of getList(result, 'Packages')) packages.push(readListedPackage(item, type));
  const place = { type, scope, location: isLockFile ? getText(result, 'Target') : '' };
  for (const [position, vulnerability] of getList(result, 'Vulnerabilities').entries()) {
    const finding = readVulnerability(vulnerability, place);
    if (finding !== undefined) findings.push(finding);
    else
      problems.push({
        path: `${path}.Vulnerabilities.${position}`,
        message: 'has no VulnerabilityID or no PkgName',
      });
  }
};

const createReport = (
  { target, isComplete }: Pick<ScannerReport, 'target' | 'isComplete'>,
  contents: Contents,
  problems: readonly ReportProblem[],
): ScannerReport => ({
  kind: 'report',
  format: 'trivy',
  scanner: 'trivy',
  target,
  isComplete,
  ...contents,
  hasPackages: contents.packages.length > 0,
  problems,
});

export const readTrivy = (report: unknown): ScannerReport => {
  const target = readTarget(report);
  const contents: Contents = { findings: [], packages: [], scopes: [] };
  const problems: ReportProblem[] = [];
  for (const [index, result] of getList(report, 'Results').entries())
    addResult(contents, result, { path: `Results.${index}`, isImage: target.kind === 'image', problems });
  const isComplete = Array.isArray(getValue(report, 'Results')) && !hidesVulnerabilities(report);
  return createReport({ target, isComplete }, contents, problems);
};

/** Returns what a part about an operating system names before it: `alpine:3.10 (alpine 3.10.2)`. */
const readSystemTarget = (result: unknown): string | undefined => {
  const name = getText(result, 'Target');
  const end = name.indexOf(' (');
  return end > 0 && name.endsWith(')') ? name.slice(0, end) : undefined;
};

/** Returns a report of the present form for a list of results, of which one about an operating system names the image. */
export const readTrivyList = (list: unknown): ScannerReport => {
  const results = (Array.isArray(list) ? list : []) as readonly object[];
  const image = results.map(readSystemTarget).find((name) => name !== undefined);
  return readTrivy({
    ArtifactName: image ?? getText(results[0], 'Target'),
    ArtifactType: image === undefined ? 'repository' : 'container_image',
    Results: results.map((result) => ({
      ...result,
      Class: readSystemTarget(result) === undefined ? 'lang-pkgs' : 'os-pkgs',
    })),
  });
};

/** Reports with details list resources, summaries list findings, and those before Trivy 0.36 list vulnerabilities. */
const resourceLists = ['Resources', 'Findings', 'Vulnerabilities'] as const;

const listResources = (report: unknown): { readonly path: string; readonly resource: unknown }[] =>
  resourceLists.flatMap((name) =>
    getList(report, name).map((resource, index) => ({ path: `${name}.${index}`, resource })),
  );

export const isTrivyCluster = (report: unknown): boolean =>
  typeof getValue(report, 'ClusterName') === 'string' &&
  listResources(report).every(({ resource }) => getText(resource, 'Kind') !== '');

/** Returns the images of a workload. Reports before Trivy 0.50 have the metadata of one image. */
const listImages = (resource: unknown): ReportTarget[] => {
  const metadata = getValue(resource, 'Metadata');
  return (Array.isArray(metadata) ? metadata : [metadata]).flatMap((item: unknown) => {
    const references = [...getTexts(item, 'RepoTags'), ...getTexts(item, 'RepoDigests')];
    const imageId = getText(item, 'ImageID');
    const id = imageId || references.map((reference) => reference.split('@')[1]).find(Boolean) || references[0];
    return id === undefined ? [] : [{ id, name: references[0] ?? id, kind: 'image' as const, references }];
  });
};

const hasVulnerabilitiesOrPackages = (result: unknown): boolean =>
  /^(?:os|lang)-pkgs/.test(getText(result, 'Class')) ||
  getList(result, 'Vulnerabilities').length > 0 ||
  getList(result, 'Packages').length > 0;

/** Returns what a part is about that names no image: the image in its name, or else the workload. */
const nameTarget = (resource: unknown, result: unknown): ReportTarget => {
  const image = readSystemTarget(result);
  if (image !== undefined) return { id: image, name: image, kind: 'image', references: [image] };
  const name = ['Namespace', 'Kind', 'Name']
    .map((field) => getText(resource, field))
    .filter(Boolean)
    .join('/');
  return { id: name, name, kind: 'repository', references: [] };
};

/** Returns the image that a part is about: the part about its operating system begins with its name, and others follow. */
const findImage = (images: readonly ReportTarget[], result: unknown, former: ReportTarget | undefined) => {
  const name = getText(result, 'Target');
  const named = images.find(({ references }) => references.some((reference) => name.startsWith(`${reference} (`)));
  return named ?? former ?? (images.length === 1 ? images[0] : undefined);
};

interface ClusterContents {
  readonly byImage: Map<string, { readonly target: ReportTarget; isComplete: boolean; readonly contents: Contents }>;
  readonly problems: ReportProblem[];
}

/** Adds the images of a workload. */
const addResource = ({ byImage, problems }: ClusterContents, resource: unknown, path: string): void => {
  const error = getText(resource, 'Error');
  if (error !== '') problems.push({ path: `${path}.Error`, message: `the scan failed: ${error}` });
  const isComplete = error === '' && !hidesVulnerabilities(resource);
  const images = listImages(resource);
  let image: ReportTarget | undefined;
  for (const [position, result] of getList(resource, 'Results').entries()) {
    if (!hasVulnerabilitiesOrPackages(result)) continue;
    const resultPath = `${path}.Results.${position}`;
    image = images.length === 0 ? nameTarget(resource, result) : findImage(images, result, image);
    if (image === undefined) {
      problems.push({ path: resultPath, message: 'is about no image that the resource names' });
      continue;
    }
    const known = byImage.get(image.id) ?? {
      target: image,
      isComplete,
      contents: { findings: [], packages: [], scopes: [] },
    };
    known.isComplete &&= isComplete;
    byImage.set(image.id, known);
    addResult(known.contents, result, { path: resultPath, isImage: true, problems });
  }
};

/** Returns a report for each image that runs in a cluster. Images of several workloads are scanned once. */
export const readTrivyCluster = (report: unknown): ClusterReport => {
  const contents: ClusterContents = { byImage: new Map(), problems: [] };
  for (const { path, resource } of listResources(report)) addResource(contents, resource, path);
  return {
    kind: 'cluster',
    format: 'trivy-k8s',
    name: getText(report, 'ClusterName'),
    reports: Array.from(contents.byImage.values(), ({ contents: parts, ...head }) => createReport(head, parts, [])),
    problems: contents.problems,
  };
};
