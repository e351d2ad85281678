import { z } from 'zod';
import { timeParameter } from '../../../queries/time-parameters.ts';
import { computeHashId } from '../../../runtime/hash-id.ts';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import { TimeZone } from '../../../schemas/resources/preferences.ts';
import { type SloReport, sloReports } from '../../../schemas/resources/slo-report.ts';
import { calendarPeriods } from '../../../schemas/slo-slices.ts';
import { readAlertIdsOfRules } from '../../../subjects/alerts/history.ts';
import type { IdentifiedSlo } from '../../../subjects/slos/document.ts';
import { readExclusions } from '../../../subjects/slos/exclusions.ts';
import { findPeriods, readReport, serializePeriod } from '../../../subjects/slos/report.ts';
import type { Caller } from '../../callers/caller.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';
import { csvType, formatCsvRow } from '../../csv.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { readVersions } from '../../resources/resource-history.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findSlo } from './find-slo.ts';
import { measurementFields, sloMetricFields } from './measurement-fields.ts';
import { parseSliceRange } from './range.ts';

const maxPeriods = 100;
const maxIncidents = 1000;

const Period = z.strictObject({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  targetPct: z.number().describe('Target at the end of the period, or the current one'),
  hasEnded: z.boolean(),
  isSettled: z.boolean().describe('Whether late records no longer change anything'),
  isMet: z.boolean().nullable().describe('null if unknown; preliminary for a running period'),
  ...sloMetricFields,
  withMaintenance: z.strictObject(sloMetricFields).nullable().describe('null if no maintenance is excluded'),
  incidents: z
    .array(z.strictObject({ id: z.string(), openedAt: z.iso.datetime(), severity: z.string() }))
    .describe('Incidents of its service or its alerts that were opened in the period'),
  revision: z.int().nullable().describe('From 1 on; null if the period is not frozen'),
  sha256: z.string().nullable().describe('Hash of the frozen content; also in the audit chain'),
});
type Period = z.input<typeof Period>;

/** Returns the target at a time, from the stored versions of the SLO. Before the oldest version, the target of that version applies. */
const readTargets = async (
  tenantDocuments: TenantDocuments,
  { id, slo }: IdentifiedSlo,
): Promise<(ms: number) => number> => {
  const versions = (await readVersions(tenantDocuments, 'service-level-objective', id)).map(({ at, fields }) => ({
    atMs: Date.parse(at),
    targetPct: Number((fields as { targetPct?: unknown }).targetPct ?? slo.targetPct),
  }));
  return (ms) => (versions.find(({ atMs }) => atMs <= ms) ?? versions.at(-1) ?? { targetPct: slo.targetPct }).targetPct;
};

/** Incidents of the SLO's service or alerts that were opened in a range. */
const findIncidents = async (
  { id, slo }: IdentifiedSlo,
  caller: Caller,
  ports: Ports,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly (Incident & StoredMetadata)[]> => {
  const ids = await readAlertIdsOfRules(createQueryReader(caller, ports), `${id}-`, maxIncidents);
  const stored = ports.documents.forTenant(caller.tenantId).collection(incidents);
  const openedAt = { $gte: new Date(fromMs).toISOString(), $lt: new Date(toMs).toISOString() };
  const incidentsById = new Map<string, Incident & StoredMetadata>();
  for (const filter of [
    ...(slo.service === '' ? [] : [{ services: slo.service, openedAt }]),
    ...(ids.length === 0 ? [] : [{ alertIds: { $in: ids }, openedAt }]),
  ])
    for (const incident of (await stored.list({ filter, sort: { openedAt: 1 }, limit: maxIncidents })).items)
      incidentsById.set(incident.id, incident);
  return [...incidentsById.values()].toSorted((first, second) => (first.openedAt < second.openedAt ? -1 : 1));
};

type PeriodContent = Omit<Period, 'revision' | 'sha256'>;

/** Freezes a settled period if it differs from the last revision. A repeated call writes nothing. */
const freezeIfChanged = async (
  { id, slo }: IdentifiedSlo,
  period: PeriodContent,
  { reportId, tenantId, ports }: { readonly reportId: string; readonly tenantId: string; readonly ports: Ports },
): Promise<Pick<Period, 'revision' | 'sha256'>> => {
  const { content, sha256 } = serializePeriod(period);
  const readLastRevision = async (
    tenantDocuments: Pick<TenantDocuments, 'collection'>,
  ): Promise<SloReport | undefined> =>
    (await tenantDocuments.collection(sloReports).list({ filter: { of: reportId } })).items.toSorted(
      (first, second) => second.revision - first.revision,
    )[0];
  const lastRevision = await readLastRevision(ports.documents.forTenant(tenantId));
  if (lastRevision?.sha256 === sha256) return { revision: lastRevision.revision, sha256 };
  return createSystemTransact(
    ports,
    'slo-report.freeze',
  )(async (scope) => {
    const tenantDocuments = scope.forTenant(tenantId);
    const before = await readLastRevision(tenantDocuments);
    if (before?.sha256 === sha256) {
      scope.markUnchanged();
      return { revision: before.revision, sha256 };
    }
    const revision = (before?.revision ?? 0) + 1;
    const frozenAt = new Date(ports.clock.now()).toISOString();
    const writtenReport = await tenantDocuments
      .collection(sloReports)
      .insert({ id: computeHashId(reportId, revision), sloId: id, of: reportId, revision, frozenAt, sha256, content });
    const { content: _, ...after } = writtenReport;
    scope.record({ id: writtenReport.id, name: slo.name, after, tenantId, actor: createSystemActor('slo-reports') });
    return { revision, sha256 };
  });
};

const writeCsv = function* (items: readonly Period[]): Generator<string> {
  const formatCell = (value: number | boolean | string | null): string | number =>
    value === null ? '' : typeof value === 'number' ? value : String(value);
  yield formatCsvRow([
    ...[
      'from',
      'to',
      'targetPct',
      'hasEnded',
      'isSettled',
      'isMet',
      'sli',
      'good',
      'total',
      'budgetTotal',
      'budgetLeft',
    ],
    ...[
      'coverage',
      'sliWithMaintenance',
      'goodWithMaintenance',
      'totalWithMaintenance',
      'incidents',
      'revision',
      'sha256',
    ],
  ]);
  for (const period of items) {
    const withMaintenance = period.withMaintenance;
    yield formatCsvRow(
      [
        ...[
          period.from,
          period.to,
          period.targetPct,
          period.hasEnded,
          period.isSettled,
          period.isMet,
          period.sli,
          period.good,
          period.total,
        ],
        ...[
          period.budget.total,
          period.budget.remaining,
          period.coverage,
          withMaintenance?.sli ?? null,
          withMaintenance?.good ?? null,
          withMaintenance?.total ?? null,
        ],
        ...[period.incidents.length, period.revision, period.sha256],
      ].map(formatCell),
    );
  }
};

export const getSloReport = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/report',
  operationId: 'getSloReport',
  summary: 'Report an SLO by calendar period; a period that ended and settled in its own time zone is frozen',
  role: 'viewer',
  contentType: ['application/json; charset=utf-8', csvType],
  params: idParameter,
  query: z.strictObject({
    period: z.enum(calendarPeriods).default('month'),
    timeZone: TimeZone.optional().describe("Default: that of the SLO's calendar, or UTC"),
    from: timeParameter.default('now-90d'),
    to: timeParameter.default('now'),
    format: z.enum(['json', 'csv']).default('json'),
  }),
  response: z.strictObject({
    period: z.enum(calendarPeriods),
    timeZone: z.string(),
    ...measurementFields,
    items: z.array(Period),
  }),
  async handler({ caller, params, query, request }, ports) {
    const knownSlo = await findSlo(params.id, caller, ports);
    const sloTimeZone = knownSlo.slo.query.calendar?.timeZone ?? 'UTC';
    const { period, timeZone = sloTimeZone, format } = query;
    const nowMs = ports.clock.now();
    const range = parseSliceRange(query, nowMs);
    const periods = findPeriods({ period, timeZone }, range, maxPeriods);
    if (periods === undefined)
      throw createFieldError(
        'from',
        `results in more than ${maxPeriods} periods: use a later start, or longer periods`,
      );
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    const { periods: reports, ...measurement } = await readReport(createQueryReader(caller, ports), knownSlo, {
      periods,
      nowMs,
      maintenance: await readExclusions(tenantDocuments, [knownSlo.slo]),
      targetAt: await readTargets(tenantDocuments, knownSlo),
    });
    const openedIncidents = await findIncidents(knownSlo, caller, ports, {
      fromMs: periods[0]?.fromMs ?? range.fromMs,
      toMs: periods.at(-1)?.toMs ?? range.toMs,
    });
    const items: Period[] = [];
    for (const report of reports) {
      const periodContent = {
        ...report,
        incidents: openedIncidents
          .filter(({ openedAt }) => openedAt >= report.from && openedAt < report.to)
          .map(({ id, openedAt, severity }) => ({ id, openedAt, severity })),
      };
      const isFrozen = report.isSettled && timeZone === sloTimeZone && report.coverage > 0;
      const reportKey = computeHashId(knownSlo.id, period, timeZone, report.from);
      const revisionFields = isFrozen
        ? await freezeIfChanged(knownSlo, periodContent, { reportId: reportKey, tenantId: caller.tenantId, ports })
        : { revision: null, sha256: null };
      items.push({ ...periodContent, ...revisionFields });
    }
    if (format === 'json') return { period, timeZone, ...measurement, items };
    request.reply('Content-Disposition', `attachment; filename="slo-${period}.csv"`);
    return { contentType: csvType, content: [...writeCsv(items)].join('') };
  },
});
