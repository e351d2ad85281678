/** Applies a new report of a scanner to what is stored about its target. */
import { addToList } from '../../schemas/add-to-list.ts';
import { type MergedFinding, mergeFindings, type StoredFinding, type StoredReport } from './findings.ts';
import { toPackageKey } from './packages.ts';
import type { ReportedFinding, ScannerReport } from './report.ts';

export interface ImportCounts {
  readonly new: number;
  readonly unchanged: number;
  readonly fixed: number;
  readonly reopened: number;
}

const listKeys = ({ ids, package: item, location }: ReportedFinding): string[] =>
  ids.map((id) => `${toPackageKey(item)}\n${location}\n${id}`);

/** Indexes findings by each of their ids. */
class FindingIndex<Finding extends ReportedFinding> {
  readonly #byKey = new Map<string, Finding>();

  constructor(findings: readonly Finding[]) {
    for (const finding of findings)
      for (const key of listKeys(finding)) if (!this.#byKey.has(key)) this.#byKey.set(key, finding);
  }

  find(finding: ReportedFinding): Finding | undefined {
    for (const key of listKeys(finding)) {
      const found = this.#byKey.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Removes findings that a report has several times. */
const deduplicate = (findings: readonly ReportedFinding[]): ReportedFinding[] => {
  const byKey = new Map<string, ReportedFinding>();
  for (const finding of findings) {
    const [key = ''] = listKeys(finding);
    const known = byKey.get(key);
    byKey.set(key, known === undefined ? finding : { ...known, ids: [...new Set([...known.ids, ...finding.ids])] });
  }
  return [...byKey.values()];
};

/** Marks the findings in the parts of a target that a report covers as fixed. */
const markFixed = (missing: readonly StoredFinding[], scopes: ReadonlySet<string>, nowMs: number): StoredFinding[] =>
  missing.map((finding) =>
    finding.fixedMs === null && scopes.has(finding.scope) ? { ...finding, fixedMs: nowMs } : finding,
  );

/**
 * Returns the new state of a target for a scanner. What a report lacks is fixed only if the report is complete, has the
 * form of the report before, and has the part of the target in which the finding was.
 */
export const applyReport = (former: StoredReport | undefined, report: ScannerReport, nowMs: number): StoredReport => {
  const reported = deduplicate(report.findings);
  const formerIndex = new FindingIndex<StoredFinding>(former?.findings ?? []);
  const reportedIndex = new FindingIndex(reported);
  const findings: StoredFinding[] = reported.map((finding) => {
    const before = formerIndex.find(finding);
    return {
      ...finding,
      ids: before === undefined ? finding.ids : [...new Set([...finding.ids, ...before.ids])],
      firstMs: before?.firstMs ?? nowMs,
      lastMs: nowMs,
      fixedMs: null,
    };
  });
  const canFix = report.isComplete && (former === undefined || former.format === report.format);
  const missing = (former?.findings ?? []).filter((finding) => reportedIndex.find(finding) === undefined);
  findings.push(...markFixed(missing, canFix ? new Set(report.scopes) : new Set<string>(), nowMs));
  return {
    format: canFix || former === undefined ? report.format : former.format,
    scanner: report.scanner,
    target: {
      ...report.target,
      references: [...new Set([...(former?.target.references ?? []), ...report.target.references])].sort(),
    },
    importedMs: nowMs,
    scopes: report.scopes,
    findings,
    packages: report.hasPackages ? report.packages : (former?.packages ?? []),
    hasPackages: report.hasPackages || former?.hasPackages === true,
  };
};

const isSameFinding = (left: MergedFinding, right: MergedFinding): boolean =>
  left.location === right.location &&
  toPackageKey(left.package) === toPackageKey(right.package) &&
  [left.vulnerability, ...left.aliases].some((id) => id === right.vulnerability || right.aliases.includes(id));

/** Counts what a report changed in the findings of its target, of all scanners. */
export const countChanges = (
  before: readonly StoredReport[],
  after: readonly StoredReport[],
  scanner: string,
): ImportCounts => {
  const formerByPackage = new Map<string, MergedFinding[]>();
  for (const finding of mergeFindings(before)) {
    const key = toPackageKey(finding.package);
    addToList(formerByPackage, key, finding);
  }
  const counts = { new: 0, unchanged: 0, fixed: 0, reopened: 0 };
  for (const finding of mergeFindings(after)) {
    const former = (formerByPackage.get(toPackageKey(finding.package)) ?? []).filter((item) =>
      isSameFinding(item, finding),
    );
    if (former.length === 0) counts.new++;
    else if (!finding.isOpen && former.some(({ isOpen }) => isOpen)) counts.fixed++;
    else if (finding.isOpen && former.every(({ isOpen }) => !isOpen)) counts.reopened++;
    else if (finding.sources.some((source) => source.scanner === scanner && source.fixedMs === null))
      counts.unchanged++;
  }
  return counts;
};
