/** Bills of materials: CycloneDX, with vulnerabilities and statements about them, and SPDX. */
import { getList, getText, getTexts, getValue } from '../json-fields.ts';
import { parsePurl, toPackage } from '../packages.ts';
import type {
  ReportedFinding,
  ReportedPackage,
  ReportProblem,
  ReportTarget,
  ScannerReport,
  VexDocument,
  VexStatement,
  VexStatus,
} from '../report.ts';

export const isCycloneDx = (report: unknown): boolean => getText(report, 'bomFormat') === 'CycloneDX';
export const isSpdx = (report: unknown): boolean =>
  getText(report, 'spdxVersion') !== '' || getText(report, '@context').includes('spdx.org');

const imageIdOf = (component: unknown): string =>
  getText(
    getList(component, 'properties').find((property) => /:ImageID$/i.test(getText(property, 'name'))),
    'value',
  );

const readCycloneDxTarget = (report: unknown): ReportTarget => {
  const component = getValue(report, 'metadata', 'component');
  const name = getText(component, 'name') || getText(report, 'serialNumber') || 'bill of materials';
  const imageId = imageIdOf(component);
  const digest = getText(component, 'version').startsWith('sha256:') ? getText(component, 'version') : '';
  if (getText(component, 'type') === 'container')
    return { id: imageId || digest || name, name, kind: 'image', references: [] };
  return { id: name, name, kind: 'sbom', references: [] };
};

const vexStates: Readonly<Record<string, VexStatus>> = {
  not_affected: 'not_affected',
  false_positive: 'not_affected',
  resolved: 'fixed',
  resolved_with_pedigree: 'fixed',
  exploitable: 'affected',
  in_triage: 'under_investigation',
};

const listComponents = (parent: unknown): unknown[] =>
  getList(parent, 'components').flatMap((component) => [component, ...listComponents(component)]);

const idsOf = (vulnerability: unknown): string[] => [
  getText(vulnerability, 'id'),
  ...getList(vulnerability, 'references').map((reference) => getText(reference, 'id')),
];

const readStatements = (report: unknown): VexStatement[] =>
  getList(report, 'vulnerabilities').flatMap((vulnerability) => {
    const status = vexStates[getText(vulnerability, 'analysis', 'state')];
    if (status === undefined) return [];
    const products = getList(vulnerability, 'affects').map((affected) => getText(affected, 'ref').replace(/^.*#/, ''));
    const justification =
      getText(vulnerability, 'analysis', 'justification') || getText(vulnerability, 'analysis', 'detail');
    return [
      {
        ids: idsOf(vulnerability).filter((id) => id !== ''),
        products: products.filter((ref) => ref !== ''),
        status,
        justification,
      },
    ];
  });

/** Returns statements whose products are package URLs instead of references to components. */
const resolveProducts = (
  statements: readonly VexStatement[],
  byReference: ReadonlyMap<string, ReportedPackage>,
): VexStatement[] =>
  statements.map((statement) => ({
    ...statement,
    products: statement.products.map((reference) => {
      const item = byReference.get(reference);
      return item === undefined ? reference : item.purl || item.name;
    }),
  }));

const packageTypes = ['library', 'framework', 'application'];

/** Returns the package of a component; undefined for files, operating systems and components without a version. */
const readComponent = (component: unknown): ReportedPackage | undefined => {
  const purl = getText(component, 'purl');
  if (purl !== '') {
    const item = toPackage({ name: '', version: '', purl });
    return item.name === '' ? undefined : item;
  }
  if (!packageTypes.includes(getText(component, 'type'))) return undefined;
  const group = getText(component, 'group');
  const name = getText(component, 'name');
  const version = getText(component, 'version');
  return version === '' ? undefined : toPackage({ name: group === '' ? name : `${group}/${name}`, version });
};

const readRatingVectors = (vulnerability: unknown) =>
  getList(vulnerability, 'ratings').flatMap((rating) => {
    const vector = getText(rating, 'vector');
    return vector === '' ? [] : [{ source: getText(rating, 'source', 'name'), vector }];
  });

const toCycloneDxFinding = (vulnerability: unknown, ids: readonly string[], item: ReportedPackage): ReportedFinding => {
  const severities = getList(vulnerability, 'ratings').map((rating) => getText(rating, 'severity'));
  const upgrade = /\bto version (\S+?)[.,;]?(?:\s|$)/.exec(getText(vulnerability, 'recommendation'))?.[1];
  return {
    ids,
    package: item,
    location: '',
    scope: 'all',
    severity: severities.find((severity) => severity !== '') ?? '',
    title: getText(vulnerability, 'description'),
    url: getText(vulnerability, 'source', 'url'),
    vectors: readRatingVectors(vulnerability),
    fixedVersions: upgrade === undefined ? [] : [upgrade],
    epss: null,
    isKnownExploited: false,
  };
};

/** Returns the findings of a vulnerability in each affected component. */
const readVulnerability = (
  vulnerability: unknown,
  path: string,
  { byReference, problems }: { byReference: ReadonlyMap<string, ReportedPackage>; problems: ReportProblem[] },
): ReportedFinding[] => {
  const ids = idsOf(vulnerability).filter((id) => id !== '');
  if (ids.length === 0) {
    problems.push({ path, message: 'has no id' });
    return [];
  }
  return getList(vulnerability, 'affects').flatMap((affected, position) => {
    const reference = getText(affected, 'ref').replace(/^.*#/, '');
    const item = byReference.get(reference) ?? parsePurl(reference);
    if (item !== undefined) return [toCycloneDxFinding(vulnerability, ids, item)];
    problems.push({ path: `${path}.affects.${position}.ref`, message: 'names no component' });
    return [];
  });
};

/** Returns a report, or a VEX document for one without components whose vulnerabilities are analyzed. */
export const readCycloneDx = (report: unknown): ScannerReport | VexDocument => {
  const components = listComponents(report);
  const statements = readStatements(report);
  if (statements.length > 0 && components.length === 0)
    return {
      kind: 'vex',
      format: 'cyclonedx-vex',
      name: getText(report, 'serialNumber') || getText(report, 'metadata', 'component', 'name'),
      statements,
      problems: [],
    };
  const problems: ReportProblem[] = [];
  const byReference = new Map<string, ReportedPackage>();
  for (const [index, component] of components.entries()) {
    const purl = getText(component, 'purl');
    if (purl !== '' && parsePurl(purl) === undefined)
      problems.push({ path: `components.${index}.purl`, message: `is not a package URL: ${purl.slice(0, 200)}` });
    const item = readComponent(component);
    if (item !== undefined) byReference.set(getText(component, 'bom-ref') || `${index}`, item);
  }
  const findings = getList(report, 'vulnerabilities').flatMap((vulnerability, index) =>
    readVulnerability(vulnerability, `vulnerabilities.${index}`, { byReference, problems }),
  );
  const tools = [...getList(report, 'metadata', 'tools', 'components'), ...getList(report, 'metadata', 'tools')];
  const isIncomplete = getList(report, 'compositions').some((part) => /^incomplete/.test(getText(part, 'aggregate')));
  return {
    kind: 'report',
    format: 'cyclonedx',
    scanner: getText(tools[0], 'name').toLowerCase() || 'cyclonedx',
    target: readCycloneDxTarget(report),
    isComplete: Array.isArray(getValue(report, 'vulnerabilities')) && !isIncomplete,
    scopes: ['all'],
    findings,
    packages: [...byReference.values()],
    hasPackages: true,
    statements: resolveProducts(statements, byReference),
    problems,
  };
};

const readSpdxPackage = (item: unknown): ReportedPackage => {
  const reference = getList(item, 'externalRefs').find((ref) => getText(ref, 'referenceType') === 'purl');
  const purl = getText(reference, 'referenceLocator') || getText(item, 'software_packageUrl');
  const version = getText(item, 'versionInfo') || getText(item, 'software_packageVersion');
  return toPackage({ name: purl === '' ? getText(item, 'name') : '', version: purl === '' ? version : '', purl });
};

/** Operating systems and images are packages of SPDX, but nothing that advisories name. */
const isPlatform = (item: unknown): boolean =>
  /^(?:operating[-_]?system|container)$/i.test(
    getText(item, 'primaryPackagePurpose') || getText(item, 'software_primaryPurpose'),
  );

export const readSpdx = (report: unknown): ScannerReport => {
  const elements = getList(report, '@graph');
  const items =
    elements.length > 0
      ? elements.filter((element) => getText(element, 'type') === 'software_Package')
      : getList(report, 'packages');
  const described = getTexts(report, 'documentDescribes');
  const roots = new Set([
    ...described,
    ...getList(report, 'relationships')
      .filter((relationship) => getText(relationship, 'relationshipType') === 'DESCRIBES')
      .map((relationship) => getText(relationship, 'relatedSpdxElement')),
  ]);
  const document = elements.find((element) => getText(element, 'type') === 'SpdxDocument');
  const name = getText(report, 'name') || getText(document, 'name') || getText(report, 'documentNamespace');
  const creators = getTexts(report, 'creationInfo', 'creators');
  const tool = creators.find((creator) => creator.startsWith('Tool: '))?.slice(6) ?? 'spdx';
  const packages = items
    .filter((item) => !roots.has(getText(item, 'SPDXID')) && !isPlatform(item))
    .map(readSpdxPackage)
    .filter((item) => item.name !== '' && (item.purl !== '' || item.version !== ''));
  return {
    kind: 'report',
    format: 'spdx',
    scanner: tool.replace(/-[\w.]+$/, '').toLowerCase(),
    target: { id: name, name, kind: 'sbom', references: [] },
    isComplete: false,
    scopes: [],
    findings: [],
    packages,
    hasPackages: true,
    problems: [],
  };
};
