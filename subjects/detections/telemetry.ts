/** Telemetry that a rule needs, and whether an organization sends it. */
import { z } from 'zod';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { topics } from '../../schemas/topics.ts';
import type { LogSource, Selection, SelectionItem, SigmaDocument, SigmaFilter, SigmaRule } from './documents.ts';
import { EventPaths } from './event.ts';
import { appliesTo, type FieldTable, listFieldNames } from './fields/table.ts';
import { type EventKind, getLogSourceCertainty, mayMatchLogSource } from './log-sources.ts';

export const defaultTelemetryDays = 30;

export const RuleTelemetry = z.strictObject({
  isSeen: z
    .boolean()
    .nullable()
    .describe('Whether the organization sends this telemetry; `null` if unknown, with the reason'),
  reason: z.string().nullable(),
  lastSeen: z.iso.date().nullable().describe('Day on which records of this log source were last received'),
  missingFields: z.array(z.string()).describe('Fields of the rule that none of these records had'),
});
export type RuleTelemetry = z.output<typeof RuleTelemetry>;

/** Records of one log source in the last days */
interface ReceivedSource {
  readonly kind: EventKind;
  readonly names: ReadonlySet<string>;
  readonly lastDay: string;
}

/** Telemetry that an organization sent in the last days */
export interface Telemetry {
  readonly days: number;
  /** By log source; empty if no rule was enabled, because records are not classified in that case */
  readonly sources: readonly ReceivedSource[];
  /** Last day of each attribute, by the names that rules may use for it; for unknown log sources */
  readonly attributes: ReadonlyMap<string, string>;
}

const maxSources = 5_000;
const maxAttributes = 20_000;

interface SourceRow {
  readonly products: readonly string[];
  readonly services: readonly string[];
  readonly categories: readonly string[];
  readonly knows: boolean;
  readonly last: string;
  readonly names: readonly string[];
}

const toReceivedSource = ({ products, services, categories, knows, last, names }: SourceRow): ReceivedSource => ({
  kind: {
    key: '',
    products: new Set(products),
    services: new Set(services),
    categories: knows ? new Set(categories) : undefined,
  },
  names: new Set(names),
  lastDay: last,
});

/**
 * Returns the telemetry of the last days: log sources as classified by detections, and attributes as counted at
 * ingestion.
 */
export const readTelemetry = async (
  { columns, nowMs }: Pick<TenantReader, 'columns' | 'nowMs'>,
  days: number,
  tables: readonly FieldTable[],
): Promise<Telemetry> => {
  const values = { since: String(Math.trunc(nowMs / 1000) - days * 86_400) };
  const [sources, attributes] = await Promise.all([
    columns.query<SourceRow>(
      `SELECT products, services, categories, knows_categories AS knows, toString(toDate(max(day))) AS last, groupUniqArrayArray(fields) AS names
      FROM detection_telemetry WHERE tenant_id = {tenant:String} AND day >= toStartOfDay(toDateTime({since:Int64}, 'UTC'))
      GROUP BY products, services, categories, knows_categories ORDER BY last DESC LIMIT ${maxSources}`,
      values,
    ),
    columns.query<{ key: string; last: string }>(
      `SELECT toString(key) AS key, toString(toDate(max(last_seen))) AS last FROM fields
      WHERE tenant_id = {tenant:String} AND topic = '${topics.logs.name}' AND kind IN ('attribute', 'resource', 'field')
        AND hour >= toDateTime({since:Int64}, 'UTC') GROUP BY key ORDER BY key LIMIT ${maxAttributes}`,
      values,
    ),
  ]);
  const paths = new EventPaths(tables);
  return {
    days,
    sources: sources.map(toReceivedSource),
    attributes: new Map(
      attributes.flatMap(({ key, last }) => paths.getNames(key).map((name) => [name, last] as const)),
    ),
  };
};

const collectItems = (selection: Selection): readonly SelectionItem[] =>
  selection.is === 'any' ? selection.parts.flatMap(collectItems) : selection.items;

/** Returns the fields of a rule or filter, each with the names that events may use for it. */
export const listRuleFields = (
  { detection, logsource }: SigmaRule | SigmaFilter,
  tables: readonly FieldTable[],
): { readonly field: string; readonly names: readonly string[] }[] => {
  const fields = new Set([...detection.selections.values()].flatMap(collectItems).map(({ field }) => field));
  return [...fields]
    .filter((field) => field !== '')
    .map((field) => ({ field, names: listFieldNames(field, logsource, tables) }));
};

/** Returns the tables that map the fields of a rule to events. */
export const listTablesFor = (logsource: LogSource, tables: readonly FieldTable[]): string[] =>
  tables.filter((table) => appliesTo(table, logsource)).map(({ name }) => name);

const describeLogSource = (logsource: LogSource): string =>
  Object.entries(logsource)
    .map(([part, value]) => `${part} ${value}`)
    .join(', ');

const createUnknownTelemetry = (reason: string): RuleTelemetry => ({
  isSeen: null,
  reason,
  lastSeen: null,
  missingFields: [],
});

type Fields = ReturnType<typeof listRuleFields>;

/**
 * Returns the telemetry of a rule by attributes: if no rule is enabled, records are not classified and bodies are not
 * known.
 */
const judgeByAttributes = (fields: Fields, { attributes, days }: Telemetry): RuleTelemetry => {
  const lastDays = fields.map(({ names }) =>
    names.map((name) => attributes.get(name)).find((day) => day !== undefined),
  );
  const earliestDay = lastDays.filter((day) => day !== undefined).toSorted()[0];
  if (earliestDay !== undefined && !lastDays.includes(undefined))
    return { isSeen: true, reason: null, lastSeen: earliestDay, missingFields: [] };
  return createUnknownTelemetry(
    `records are counted by log source once a rule is enabled, and none matched in the last ${days} days; not all fields of the rule were attributes of records`,
  );
};

/** Returns whether the telemetry that a document needs was received. */
export const findRuleTelemetry = (
  document: SigmaDocument,
  tables: readonly FieldTable[],
  telemetry: Telemetry,
): RuleTelemetry => {
  if (document.kind === 'correlation')
    return createUnknownTelemetry('a correlation needs the data of the rules that it references');
  const { logsource } = document;
  const { sources, days } = telemetry;
  const fields = listRuleFields(document, tables);
  if (sources.length === 0) return judgeByAttributes(fields, telemetry);
  const possibleSources = sources.filter(({ kind }) => mayMatchLogSource(kind, logsource));
  const certainSources = possibleSources.filter(({ kind }) => getLogSourceCertainty(kind, logsource) === 'all');
  const hasField = ({ names }: ReceivedSource, field: Fields[number]): boolean =>
    field.names.some((name) => names.has(name));
  const matchingSources =
    certainSources.length > 0
      ? certainSources
      : possibleSources.filter((source) => fields.some((field) => hasField(source, field)));
  if (matchingSources.length > 0)
    return {
      isSeen: true,
      reason: null,
      lastSeen:
        matchingSources
          .map(({ lastDay }) => lastDay)
          .toSorted()
          .at(-1) ?? null,
      missingFields: fields
        .filter((field) => !matchingSources.some((source) => hasField(source, field)))
        .map(({ field }) => field),
    };
  if (possibleSources.length > 0 && fields.length === 0)
    return createUnknownTelemetry(
      `received records identify ${describeLogSource(logsource)} only in part; keywords are matched if a part is known, and otherwise only with anySource`,
    );
  const missingText =
    possibleSources.length > 0
      ? 'of unknown log sources had a field of the rule'
      : `were of ${describeLogSource(logsource)}`;
  return {
    isSeen: false,
    reason: `no records of the last ${days} days ${missingText}`,
    lastSeen: null,
    missingFields: fields.map(({ field }) => field),
  };
};
