/** The work of an import, in a worker: contents go in and out as compressed JSON. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { runInWorker } from '../../queries/worker.ts';
import { unpackBytes } from '../../runtime/packed-bytes.ts';
import { applyReport, countChanges, type ImportCounts } from './apply-report.ts';
import type { StoredReport } from './findings.ts';
import { indexAdvisories, toAdvisoryReport } from './match-advisories.ts';
import { readImport, type UnreadableReport } from './read-import.ts';
import type { Advisory, ImportedReport, ReportProblem, ReportTarget, ScannerReport } from './report.ts';
import { maxProblems } from './report.ts';

/** Maximum decompressed size of a stored content */
const maxContentBytes = 1024 * 1024 * 1024;

export const packContent = (value: unknown): Uint8Array => zstdCompressSync(JSON.stringify(value));
export const unpackContent = <Value>(packed: Uint8Array): Value =>
  JSON.parse(zstdDecompressSync(packed, { maxOutputLength: maxContentBytes }).toString()) as Value;

/** Contents that are stored as one source each */
type ImportedSource = Exclude<ImportedReport, { readonly kind: 'cluster' }>;

/** What a source is about, without its content */
export interface ImportSummary {
  readonly kind: ImportedSource['kind'];
  readonly format: string;
  readonly scanner: string;
  readonly target: ReportTarget | null;
  /** Name of a source that is not a report */
  readonly name: string;
  readonly packages: number;
  readonly items: number;
  /** Base names of ecosystems of advisories or packages */
  readonly ecosystems: readonly string[];
  readonly content: Uint8Array;
  /** Statements of a report about its target; undefined if the format has none */
  readonly statements: { readonly count: number; readonly content: Uint8Array } | undefined;
}

/** What an import contains: several sources if it is about the images of a cluster */
export interface ReadImport {
  readonly format: string;
  /** Target, or name of a cluster; null for what is about no target */
  readonly target: string | null;
  readonly sources: readonly ImportSummary[];
  readonly problems: readonly ReportProblem[];
}

const baseOf = (ecosystem: string): string => ecosystem.split(':')[0] as string;

const listEcosystems = (report: ImportedSource): string[] => {
  if (report.kind === 'report') return [...new Set(report.packages.map(({ ecosystem }) => baseOf(ecosystem)))];
  if (report.kind !== 'advisories') return [];
  return [...new Set(report.advisories.flatMap(({ affected }) => affected.map(({ ecosystem }) => baseOf(ecosystem))))];
};

const countItems = (report: ImportedSource): number => {
  if (report.kind === 'report') return report.findings.length;
  if (report.kind === 'vex') return report.statements.length;
  if (report.kind === 'epss') return report.scores.length;
  return report.kind === 'kev' ? report.ids.length : report.advisories.length;
};

const packStatements = (report: ImportedSource): ImportSummary['statements'] => {
  if (report.kind !== 'report' || report.statements === undefined) return undefined;
  const statements = report.statements.map((statement) => ({ ...statement, target: report.target.id }));
  return { count: statements.length, content: packContent({ statements }) };
};

const summarize = (report: ImportedSource): ImportSummary => ({
  kind: report.kind,
  format: report.format,
  scanner: report.kind === 'report' ? report.scanner : '',
  target: report.kind === 'report' ? report.target : null,
  name: report.kind === 'vex' ? report.name : report.kind,
  packages:
    report.kind === 'report' ? new Set(report.packages.map(({ name, version }) => `${name}@${version}`)).size : 0,
  items: countItems(report),
  ecosystems: listEcosystems(report).filter((name) => name !== ''),
  content: packContent(report),
  statements: packStatements(report),
});

/** Reads a report from the compressed parts of a body. */
export const readImportPacked = (parts: readonly Uint8Array[], targetName: string): ReadImport | UnreadableReport => {
  const report = readImport(unpackBytes(parts), targetName);
  if ('problem' in report) return report;
  const { format } = report;
  const problems = report.problems.slice(0, maxProblems);
  if (report.kind === 'cluster')
    return { format, target: report.name, sources: report.reports.map(summarize), problems };
  return { format, target: report.kind === 'report' ? report.target.id : null, sources: [summarize(report)], problems };
};

export const readImportInWorker = runInWorker(import.meta.url, readImportPacked, {
  transfersBytes: true,
  pool: 'reports',
});

export interface AppliedReport {
  readonly counts: ImportCounts;
  readonly content: Uint8Array;
}

/** Applies a report to the stored reports of its target, of which one may be of the same scanner. */
export const applyReportPacked = (
  content: Uint8Array,
  storedContents: readonly Uint8Array[],
  nowMs: number,
): AppliedReport => {
  const report = unpackContent<ScannerReport>(content);
  const stored = storedContents.map((item) => unpackContent<StoredReport>(item));
  const former = stored.find(({ scanner }) => scanner === report.scanner);
  const applied = applyReport(former, report, nowMs);
  const others = stored.filter((item) => item !== former);
  return { counts: countChanges(stored, [...others, applied], report.scanner), content: packContent(applied) };
};

export const applyReportInWorker = runInWorker(import.meta.url, applyReportPacked, { pool: 'reports' });

/** Returns reports about targets by advisories, in the order of the targets; each content is of an imported report. */
export const matchAdvisoriesPacked = (
  advisoryContents: readonly Uint8Array[],
  reportContents: readonly Uint8Array[],
): { readonly content: Uint8Array; readonly findings: number; readonly problems: readonly ReportProblem[] }[] => {
  const index = indexAdvisories(advisoryContents.flatMap((content) => unpackContent<Advisory[]>(content)));
  return reportContents.map((content) => {
    const { target, packages } = unpackContent<StoredReport>(content);
    const report = toAdvisoryReport(target, packages, index);
    return { content: packContent(report), findings: report.findings.length, problems: report.problems };
  });
};

export const matchAdvisoriesInWorker = runInWorker(import.meta.url, matchAdvisoriesPacked, { pool: 'reports' });

/** Returns the advisories of each ecosystem, with those of an earlier import that the new one does not replace. */
export const mergeAdvisoriesPacked = (
  content: Uint8Array,
  ecosystem: string,
  formerContent: Uint8Array | undefined,
): Uint8Array => {
  const { advisories } = unpackContent<{ advisories: readonly Advisory[] }>(content);
  const byId = new Map<string, Advisory>();
  const former = formerContent === undefined ? [] : unpackContent<readonly Advisory[]>(formerContent);
  for (const advisory of [...former, ...advisories])
    if (advisory.affected.some((affected) => baseOf(affected.ecosystem) === ecosystem))
      byId.set(advisory.ids[0] as string, advisory);
  return packContent([...byId.values()]);
};

export const mergeAdvisoriesInWorker = runInWorker(import.meta.url, mergeAdvisoriesPacked, { pool: 'reports' });
