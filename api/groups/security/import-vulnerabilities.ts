import { z } from 'zod';
import type { WorkerRequester } from '../../../queries/worker.ts';
import { PackedBytes } from '../../../runtime/packed-bytes.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import type { VulnerabilitySource } from '../../../schemas/resources/vulnerability-source.ts';
import type { ImportCounts } from '../../../subjects/vulnerabilities/apply-report.ts';
import {
  type AppliedReport,
  applyReportInWorker,
  type ImportSummary,
  matchAdvisoriesInWorker,
  mergeAdvisoriesInWorker,
  readImportInWorker,
} from '../../../subjects/vulnerabilities/import-work.ts';
import { advisoryScanner } from '../../../subjects/vulnerabilities/match-advisories.ts';
import {
  computeSourceId,
  listSources,
  maxSources,
  readSourceContent,
  type StoredSource,
  writeSource,
} from '../../../subjects/vulnerabilities/sources.ts';
import type { Transact } from '../../changes.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { OutdatedDocumentError, retryOutdated } from '../../resources/outdated-document.ts';

const maxReportBytes = 100 * 1024 * 1024;
const noCounts: ImportCounts = { new: 0, unchanged: 0, fixed: 0, reopened: 0 };

const addCounts = (left: ImportCounts, right: ImportCounts): ImportCounts => ({
  new: left.new + right.new,
  unchanged: left.unchanged + right.unchanged,
  fixed: left.fixed + right.fixed,
  reopened: left.reopened + right.reopened,
});

/** A source to write, computed for the state before */
interface PlannedSource {
  readonly head: Omit<VulnerabilitySource, 'revision' | 'parts'>;
  readonly content: Uint8Array;
  readonly before: StoredSource | undefined;
}

interface ImportPlan {
  readonly counts: ImportCounts;
  readonly sources: readonly PlannedSource[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

interface PlanContext {
  readonly reader: WorkerRequester;
  readonly documents: TenantDocuments;
  readonly nowMs: number;
  readonly importedAt: string;
}

const requireContent = async (documents: TenantDocuments, source: StoredSource): Promise<Uint8Array> => {
  const content = await readSourceContent(documents, source);
  if (content === undefined) throw new OutdatedDocumentError();
  return content;
};

/** Applies one report about a target to the reports that are stored or planned for it. */
const planReport = async (
  report: { readonly content: Uint8Array; readonly scanner: string; readonly format: string; readonly target: string },
  stored: readonly {
    readonly source: StoredSource | undefined;
    readonly scanner: string;
    readonly content: Uint8Array;
  }[],
  { reader, nowMs, importedAt }: PlanContext,
): Promise<{ readonly applied: AppliedReport; readonly planned: PlannedSource }> => {
  const applied = await applyReportInWorker(
    reader,
    report.content,
    stored.map(({ content }) => content),
    nowMs,
  );
  const before = stored.find(({ scanner }) => scanner === report.scanner)?.source;
  const { scanner, format, target } = report;
  const head = { kind: 'report' as const, format, scanner, target, importedAt };
  return { applied, planned: { head, content: applied.content, before } };
};

const listAdvisories = async (documents: TenantDocuments, ecosystems: readonly string[]): Promise<Uint8Array[]> => {
  if (ecosystems.length === 0) return [];
  const sources = await listSources(documents, { kind: 'advisories', target: { $in: ecosystems } });
  return Promise.all(sources.map((source) => requireContent(documents, source)));
};

/** Statements of a bill of materials replace those of the same scanner and target. */
const planStatements = async (
  { statements, format, scanner }: ImportSummary,
  target: string,
  { documents, importedAt }: PlanContext,
): Promise<PlannedSource[]> => {
  if (statements === undefined) return [];
  const stored = await listSources(documents, { kind: 'vex', target });
  const before = stored.find((source) => source.scanner === scanner);
  if (before === undefined && statements.count === 0) return [];
  return [{ head: { kind: 'vex', format, scanner, target, importedAt }, content: statements.content, before }];
};

const planScannerReport = async (summary: ImportSummary, context: PlanContext): Promise<ImportPlan> => {
  const { documents, reader } = context;
  const target = summary.target?.id ?? '';
  if (target === '') throw createFieldError('target', 'is required: the report names no target');
  const sources = await listSources(documents, { kind: 'report', target });
  const stored = await Promise.all(
    sources.map(async (source) => ({
      source,
      scanner: source.scanner,
      content: await requireContent(documents, source),
    })),
  );
  const report = { content: summary.content, scanner: summary.scanner, format: summary.format, target };
  const { applied, planned } = await planReport(report, stored, context);
  const own = [planned, ...(await planStatements(summary, target, context))];
  const advisories = await listAdvisories(documents, summary.ecosystems);
  if (advisories.length === 0) return { counts: applied.counts, sources: own, problems: [] };
  const [matched] = await matchAdvisoriesInWorker(reader, advisories, [applied.content]);
  if (matched === undefined) return { counts: applied.counts, sources: own, problems: [] };
  const others = stored.filter(({ scanner }) => scanner !== summary.scanner);
  const withReport = [...others, { source: undefined, scanner: summary.scanner, content: applied.content }];
  const advisoryReport = { content: matched.content, scanner: advisoryScanner, format: 'osv', target };
  const second = await planReport(advisoryReport, withReport, context);
  return {
    counts: { ...applied.counts, new: applied.counts.new + second.applied.counts.new },
    sources: [...own, second.planned],
    problems: matched.problems,
  };
};

/** Stores advisories by ecosystem, and compares them with the stored packages of all targets. */
const planAdvisories = async (summary: ImportSummary, context: PlanContext): Promise<ImportPlan> => {
  const { documents, reader, importedAt } = context;
  const planned: PlannedSource[] = [];
  const stored = await listSources(documents, { kind: 'advisories' });
  for (const ecosystem of summary.ecosystems) {
    const before = stored.find(({ target }) => target === ecosystem);
    const former = before === undefined ? undefined : await requireContent(documents, before);
    const content = await mergeAdvisoriesInWorker(reader, summary.content, ecosystem, former);
    const head = { kind: 'advisories' as const, format: 'osv', scanner: '', target: ecosystem, importedAt };
    planned.push({ head, content, before });
  }
  const unchanged = stored.filter(({ target }) => !summary.ecosystems.includes(target));
  const advisories = [
    ...planned.map(({ content }) => content),
    ...(await Promise.all(unchanged.map((source) => requireContent(documents, source)))),
  ];
  const byTarget = Map.groupBy(await listSources(documents, { kind: 'report' }), ({ target }) => target);
  let counts = noCounts;
  const problems = new Map<string, { readonly path: string; readonly message: string }>();
  for (const [target, sources] of byTarget) {
    const reports = await Promise.all(
      sources.map(async (source) => ({
        source,
        scanner: source.scanner,
        content: await requireContent(documents, source),
      })),
    );
    const others = reports.filter(({ scanner }) => scanner !== advisoryScanner);
    const matched = await matchAdvisoriesInWorker(
      reader,
      advisories,
      others.map(({ content }) => content),
    );
    // The packages of a target are those of the report with the most of them found.
    const [best] = [...matched].sort((left, right) => right.findings - left.findings);
    for (const problem of matched.flatMap((item) => item.problems)) problems.set(problem.path, problem);
    const hasFormer = reports.some(({ scanner }) => scanner === advisoryScanner);
    if (best === undefined || (best.findings === 0 && !hasFormer)) continue;
    const report = { content: best.content, scanner: advisoryScanner, format: 'osv', target };
    const { applied, planned: plannedReport } = await planReport(report, reports, context);
    counts = addCounts(counts, applied.counts);
    planned.push(plannedReport);
  }
  return { counts, sources: planned, problems: [...problems.values()] };
};

/** Statements, scores and catalogs replace those of the same name. */
const planReplacement = async (summary: ImportSummary, { documents, importedAt }: PlanContext): Promise<ImportPlan> => {
  const { kind, format, name } = summary;
  const stored = await listSources(documents, { kind, target: name });
  const before = stored.find(({ scanner }) => scanner === '');
  const head = { kind, format, scanner: '', target: name, importedAt };
  const counts = { ...noCounts, new: summary.items };
  return { counts, sources: [{ head, content: summary.content, before }], problems: [] };
};

const planImport = (summary: ImportSummary, context: PlanContext): Promise<ImportPlan> => {
  if (summary.kind === 'report') return planScannerReport(summary, context);
  return summary.kind === 'advisories' ? planAdvisories(summary, context) : planReplacement(summary, context);
};

/** Writes what was planned, unless another import changed a source meanwhile. */
const writePlan = (
  plan: ImportPlan,
  { change, tenantId, name }: { change: Transact; tenantId: string; name: string },
) =>
  change(async ({ forTenant, record }) => {
    const documents = forTenant(tenantId);
    for (const { head, content, before } of plan.sources) {
      const current = (await listSources(documents, { kind: head.kind, target: head.target })).find(
        ({ scanner }) => scanner === head.scanner,
      );
      if (current?.revision !== before?.revision) throw new OutdatedDocumentError();
      await writeSource(documents, head, content, current);
    }
    const [first] = plan.sources;
    const id = first === undefined ? '' : computeSourceId(first.head.kind, first.head.scanner, first.head.target);
    record({ id, name, after: { ...plan.counts } });
  });

interface ImportRequest {
  readonly tenantId: string;
  readonly callerId: string;
  readonly signal: AbortSignal;
  readonly change: Transact;
  readonly content: PackedBytes;
  /** Target of the report, in place of the one that it names */
  readonly target: string;
  readonly isDryRun: boolean;
}

/** Imports a report, and records the change. Throws an `ApiError` for content without a known format. */
export const importReport = async (
  { tenantId, callerId, signal, change, content, target, isDryRun }: ImportRequest,
  ports: Pick<Ports, 'documents' | 'clock'>,
) => {
  const reader = { tenantId, callerId, signal };
  const read = await readImportInWorker(reader, content.parts, target);
  if ('problem' in read) throw createFieldError('', read.problem);
  const documents = ports.documents.forTenant(tenantId);
  if ((await listSources(documents)).length + read.sources.length > maxSources)
    throw new ApiError('CONFLICT', `the organization has ${maxSources} reports, which is the maximum`);
  const plan = await retryOutdated('reports', async () => {
    const nowMs = ports.clock.now();
    const context = { reader, documents, nowMs, importedAt: new Date(nowMs).toISOString() };
    const plans: ImportPlan[] = [];
    for (const summary of read.sources) plans.push(await planImport(summary, context));
    const planned: ImportPlan = {
      counts: plans.map(({ counts }) => counts).reduce(addCounts, noCounts),
      sources: plans.flatMap(({ sources }) => sources),
      problems: plans.flatMap(({ problems }) => problems),
    };
    const [first] = read.sources;
    const name = first?.target?.id === read.target ? first?.target?.name : read.target;
    if (!isDryRun) await writePlan(planned, { change, tenantId, name: name ?? first?.name ?? read.format });
    return planned;
  });
  return {
    format: read.format,
    target: read.target,
    ...plan.counts,
    packages: read.sources.reduce((sum, { packages }) => sum + packages, 0),
    problems: [...read.problems, ...plan.problems].slice(0, 100),
  };
};

const Problem = z.strictObject({ path: z.string(), message: z.string() });

const Body = z
  .instanceof(PackedBytes, { error: 'is required: the content of a report' })
  .meta({ type: 'string', format: 'binary' });
const passBytes = (bytes: Uint8Array): Uint8Array => bytes;

export const importVulnerabilities = defineOperation({
  method: 'POST',
  path: '/api/security/vulnerabilities/import',
  operationId: 'importVulnerabilities',
  summary:
    'Import a report of a scanner, a bill of materials, VEX, EPSS, KEV or advisories of OSV; a repeated import changes nothing',
  role: 'editor',
  audit: 'vulnerability-report.import',
  maxBodyBytes: maxReportBytes,
  packsBody: true,
  budgetMs: 300_000,
  query: z.strictObject({
    target: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .describe('Target of the report, in place of the one that it names: image digest, host or repository'),
    dryRun: z.enum(['true', 'false']).optional().describe('true: nothing is written'),
  }),
  body: Body.describe(
    'JSON of Trivy, Grype or OSV-Scanner, SARIF 2.1, CycloneDX, SPDX, OpenVEX, CycloneDX VEX, KEV JSON, EPSS CSV, or a zip archive of advisories of OSV; the format is detected',
  ),
  alsoAccepts: Object.fromEntries(
    [
      'application/json',
      'application/sarif+json',
      'application/spdx+json',
      'application/vnd.cyclonedx+json',
      'application/octet-stream',
      'application/zip',
      'application/gzip',
      'text/csv',
    ].map((type) => [type, passBytes]),
  ),
  response: z.strictObject({
    format: z.string(),
    target: z
      .string()
      .nullable()
      .describe('Target of the report, or name of a cluster; null for what is about no target'),
    new: z.int().describe('Findings, or entries of VEX, EPSS and KEV'),
    unchanged: z.int(),
    fixed: z.int(),
    reopened: z.int(),
    packages: z.int().describe('Packages of a bill of materials'),
    problems: z.array(Problem).describe('Parts of the report that were skipped; the first 100'),
  }),
  handler({ caller, query, body, change, signal }, ports) {
    return importReport(
      {
        tenantId: caller.tenantId,
        callerId: caller.actor.id,
        signal,
        change,
        content: body,
        target: query.target ?? '',
        isDryRun: query.dryRun === 'true',
      },
      ports,
    );
  },
});
