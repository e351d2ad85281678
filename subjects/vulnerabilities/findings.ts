/**
 * Findings of several scanners, merged: one per target, package, location and vulnerability, whatever ids the scanners use,
 * and in whatever order their reports arrive.
 */
import { computeHashId } from '../../runtime/hash-id.ts';
import { toPackageKey } from './packages.ts';
import type { ReportedFinding, ReportedPackage, ReportTarget } from './report.ts';

/** A finding of one scanner, with its history */
export interface StoredFinding extends ReportedFinding {
  readonly firstMs: number;
  readonly lastMs: number;
  /** When a complete report lacked it first; null if it is open */
  readonly fixedMs: number | null;
}

/** The latest state of a target according to one scanner */
export interface StoredReport {
  readonly format: string;
  readonly scanner: string;
  readonly target: ReportTarget;
  readonly importedMs: number;
  readonly scopes: readonly string[];
  readonly findings: readonly StoredFinding[];
  readonly packages: readonly ReportedPackage[];
  readonly hasPackages: boolean;
}

/** Ids that name one vulnerability */
export class AliasClasses {
  readonly #parents = new Map<string, string>();
  readonly #canonical = new Map<string, string>();

  /** Joins the ids of a report. Cycles do not matter. */
  add(ids: readonly string[]): void {
    const [first] = ids;
    if (first === undefined) return;
    for (const id of ids) {
      const [left, right] = [this.#findRoot(first), this.#findRoot(id)];
      if (left === right) continue;
      const canonical = selectCanonical([this.#canonical.get(left) ?? left, this.#canonical.get(right) ?? right]);
      this.#parents.set(right, left);
      this.#canonical.set(left, canonical);
    }
  }

  /** Returns the id that stands for all ids of a vulnerability: its CVE, if it has one. */
  getCanonical(id: string): string {
    const root = this.#findRoot(id);
    return this.#canonical.get(root) ?? root;
  }

  #findRoot(id: string): string {
    let root = id;
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent;
    let current = id;
    while (current !== root) {
      const next = this.#parents.get(current) ?? root;
      this.#parents.set(current, root);
      current = next;
    }
    return root;
  }
}

const rankId = (id: string): number => (id.startsWith('CVE-') ? 0 : id.startsWith('GHSA-') ? 1 : 2);

const selectCanonical = (ids: readonly string[]): string =>
  [...ids].sort((left, right) => rankId(left) - rankId(right) || (left < right ? -1 : 1))[0] as string;

/** A scanner that reports a finding, and what it says */
export interface FindingSource {
  readonly scanner: string;
  readonly format: string;
  readonly id: string;
  readonly severity: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly fixedMs: number | null;
  readonly finding: StoredFinding;
}

export interface MergedFinding {
  readonly id: string;
  /** Ids that the finding had with fewer aliases: decisions may be stored under them */
  readonly formerIds: readonly string[];
  readonly vulnerability: string;
  readonly aliases: readonly string[];
  readonly target: ReportTarget;
  readonly package: ReportedPackage;
  readonly location: string;
  readonly sources: readonly FindingSource[];
  readonly isOpen: boolean;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly fixedMs: number | null;
}

const computeFindingId = (target: string, packageKey: string, location: string, vulnerability: string): string =>
  computeHashId('vulnerability', target, packageKey, location, vulnerability);

/** Returns the more informative of two descriptions of a package, in any order. */
const selectPackage = (left: ReportedPackage, right: ReportedPackage): ReportedPackage => {
  const weigh = (item: ReportedPackage) => (item.purl === '' ? 0 : 2) + (item.ecosystem === '' ? 0 : 1);
  const order =
    weigh(right) - weigh(left) ||
    (left.purl + left.name + left.version < right.purl + right.name + right.version ? -1 : 1);
  return order <= 0 ? left : right;
};

/** Returns the findings of all reports. `aliases` has more ids of vulnerabilities, such as those of advisories. */
export const mergeFindings = (
  reports: readonly StoredReport[],
  aliases: readonly (readonly string[])[] = [],
): MergedFinding[] => {
  const classes = new AliasClasses();
  for (const ids of aliases) classes.add(ids);
  for (const { findings } of reports) for (const { ids } of findings) classes.add(ids);
  const groups = new Map<
    string,
    {
      target: ReportTarget;
      package: ReportedPackage;
      location: string;
      vulnerability: string;
      key: string;
      sources: FindingSource[];
    }
  >();
  for (const { target, scanner, format, findings } of reports)
    for (const finding of findings) {
      const key = toPackageKey(finding.package);
      const vulnerability = classes.getCanonical(finding.ids[0] as string);
      const id = computeFindingId(target.id, key, finding.location, vulnerability);
      const source: FindingSource = {
        scanner,
        format,
        id: finding.ids[0] as string,
        severity: finding.severity,
        firstMs: finding.firstMs,
        lastMs: finding.lastMs,
        fixedMs: finding.fixedMs,
        finding,
      };
      const group = groups.get(id);
      if (group === undefined)
        groups.set(id, {
          target,
          package: finding.package,
          location: finding.location,
          vulnerability,
          key,
          sources: [source],
        });
      else {
        group.sources.push(source);
        group.package = selectPackage(group.package, finding.package);
        if (target.name < group.target.name) group.target = target;
      }
    }
  return Array.from(groups, ([id, { key, sources: unsorted, ...group }]) => {
    const sources = unsorted.sort((left, right) =>
      `${left.scanner} ${left.id}` < `${right.scanner} ${right.id}` ? -1 : 1,
    );
    const ids = [...new Set(sources.flatMap(({ finding }) => finding.ids))].sort();
    const isOpen = sources.some(({ fixedMs }) => fixedMs === null);
    return {
      ...group,
      id,
      formerIds: ids
        .filter((other) => other !== group.vulnerability)
        .map((other) => computeFindingId(group.target.id, key, group.location, other)),
      aliases: ids.filter((other) => other !== group.vulnerability),
      sources,
      isOpen,
      firstMs: Math.min(...sources.map(({ firstMs }) => firstMs)),
      lastMs: Math.max(...sources.map(({ lastMs }) => lastMs)),
      fixedMs: isOpen ? null : Math.max(...sources.map(({ fixedMs }) => fixedMs ?? 0)),
    };
  });
};
