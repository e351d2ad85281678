/** Compares packages of bills of materials with advisories. */
import { toPackageKey } from './packages.ts';
import type {
  Advisory,
  AdvisoryRange,
  ReportedFinding,
  ReportedPackage,
  ReportProblem,
  ReportTarget,
  ScannerReport,
} from './report.ts';
import { findVersionOrder } from './versions.ts';

export const advisoryScanner = 'osv-advisories';

type Affected = Advisory['affected'][number];

const baseOf = (ecosystem: string): string => ecosystem.split(':')[0] as string;

/** An advisory without a release applies to all releases of an ecosystem. */
const isSameEcosystem = (advisory: string, item: string): boolean =>
  advisory === item || (baseOf(advisory) === baseOf(item) && !advisory.includes(':'));

const normalizeName = (ecosystem: string, name: string): string =>
  ecosystem === 'PyPI' ? name.toLowerCase().replaceAll(/[-_.]+/g, '-') : name.toLowerCase();

const buildKey = (ecosystem: string, name: string): string =>
  `${baseOf(ecosystem)}\n${normalizeName(baseOf(ecosystem), name)}`;

/** Advisories by ecosystem and name */
export type AdvisoryIndex = ReadonlyMap<
  string,
  readonly { readonly advisory: Advisory; readonly affected: Affected }[]
>;

export const indexAdvisories = (advisories: readonly Advisory[]): AdvisoryIndex => {
  const index = new Map<string, { advisory: Advisory; affected: Affected }[]>();
  for (const advisory of advisories)
    for (const affected of advisory.affected) {
      const key = buildKey(affected.ecosystem, affected.name);
      const entries = index.get(key);
      if (entries === undefined) index.set(key, [{ advisory, affected }]);
      else entries.push({ advisory, affected });
    }
  return index;
};

type Order = NonNullable<ReturnType<typeof findVersionOrder>>;

/** Returns whether a version is in a range: the last event before it decides. */
const isInRange = (version: string, { events }: AdvisoryRange, compare: Order): boolean => {
  const isAtOrAfter = (bound: string): boolean => bound === '0' || compare(version, bound) >= 0;
  let isIncluded = false;
  const toBound = (event: AdvisoryRange['events'][number]): string =>
    event.introduced ?? event.fixed ?? event.lastAffected ?? '0';
  const sorted = [...events].sort((left, right) => {
    const [a, b] = [toBound(left), toBound(right)];
    return a === '0' ? -1 : b === '0' ? 1 : compare(a, b);
  });
  for (const { introduced, fixed, lastAffected } of sorted) {
    if (introduced !== undefined && isAtOrAfter(introduced)) isIncluded = true;
    if (fixed !== undefined && isAtOrAfter(fixed)) isIncluded = false;
    if (lastAffected !== undefined && compare(version, lastAffected) > 0) isIncluded = false;
  }
  return isIncluded;
};

const isAffected = (version: string, { versions, ranges }: Affected, compare: Order | undefined): boolean =>
  versions.includes(version) || (compare !== undefined && ranges.some((range) => isInRange(version, range, compare)));

const toFinding = (advisory: Advisory, affected: Affected, item: ReportedPackage): ReportedFinding => {
  const fixedVersions = affected.ranges.flatMap(({ events }) => events.flatMap(({ fixed }) => fixed ?? []));
  return {
    ids: advisory.ids,
    package: item,
    location: '',
    scope: 'all',
    severity: '',
    title: advisory.title,
    url: `https://osv.dev/vulnerability/${advisory.ids[0]}`,
    vectors: advisory.vectors,
    fixedVersions: [...new Set(fixedVersions)],
    epss: null,
    isKnownExploited: false,
  };
};

/** Returns the findings of packages by advisories, with a problem for each ecosystem whose order is unknown. */
export const matchAdvisories = (
  packages: readonly ReportedPackage[],
  index: AdvisoryIndex,
): { readonly findings: ReportedFinding[]; readonly problems: ReportProblem[] } => {
  const findings: ReportedFinding[] = [];
  const unknownOrders = new Set<string>();
  for (const item of packages) {
    const entries = item.version === '' ? [] : (index.get(buildKey(item.ecosystem, item.name)) ?? []);
    for (const { advisory, affected } of entries) {
      if (!isSameEcosystem(affected.ecosystem, item.ecosystem)) continue;
      const compare = findVersionOrder(item.ecosystem);
      if (compare === undefined) unknownOrders.add(baseOf(item.ecosystem));
      if (isAffected(item.version, affected, compare)) findings.push(toFinding(advisory, affected, item));
    }
  }
  const problems = [...unknownOrders].map((ecosystem) => ({
    path: ecosystem,
    message: 'has an unknown order of versions: only versions that advisories list are found',
  }));
  return { findings, problems };
};

/** Returns what advisories say about a target, as a report. */
export const toAdvisoryReport = (
  target: ReportTarget,
  packages: readonly ReportedPackage[],
  index: AdvisoryIndex,
): ScannerReport => {
  const unique = [...new Map(packages.map((item) => [`${item.ecosystem} ${toPackageKey(item)}`, item])).values()];
  const { findings, problems } = matchAdvisories(unique, index);
  return {
    kind: 'report',
    format: 'osv',
    scanner: advisoryScanner,
    target,
    isComplete: true,
    scopes: ['all'],
    findings,
    packages: [],
    hasPackages: false,
    problems,
  };
};
