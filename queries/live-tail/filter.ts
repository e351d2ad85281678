/** Filters for the records that a live tail receives. */
import { z } from 'zod';
import type { Field, Reference } from '../../schemas/fields.ts';
import { logFields, readNestedValues, readReference, resolveReference, spanFields } from '../../schemas/fields.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { severityNames } from '../../schemas/records/severity.ts';
import type { Span } from '../../schemas/records/span.ts';
import { createValidationError } from '../errors.ts';
import { serviceParameter } from '../range.ts';
import { buildSearchPredicate } from '../search/predicate.ts';

/**
 * Predicate of a record. It runs for every record of the tenant: it must not throw or wait, and must not retain the
 * record, which is reused afterwards.
 */
export type RecordPredicate<View extends RecordView = RecordView> = (record: View) => boolean;

/**
 * The predicate of a request, for its telemetry signal. Filters with equal keys accept the same records, so only one of
 * them is evaluated.
 */
export type Filter = { readonly key: string } & (
  | { readonly signal: 'logs'; readonly matches: RecordPredicate<LogRecord> }
  | { readonly signal: 'spans'; readonly matches: RecordPredicate<Span> }
);

const tailSignals = ['logs', 'spans'] as const;
export type TailSignal = (typeof tailSignals)[number];

const maxAttributeFilters = 16;
const attributeFilter = z
  .string()
  .max(1024)
  .regex(/^[^=]+=/, 'must be name=value');

/** Query parameters that filter records. */
export const filterParameters = {
  signal: z.enum(tailSignals).default('logs'),
  ...serviceParameter,
  search: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'A search (`docs/reference/search-language.md`): words that must all occur in the body, or in the name, service or attribute values of a span; field:value, and more',
    ),
  severity: z
    .string()
    .max(16)
    .optional()
    .describe('Minimum severity of log records: trace, debug, info, warn, error, fatal, or a number from 1 to 24'),
  attribute: z
    .union([attributeFilter, z.array(attributeFilter).max(maxAttributeFilters)])
    .optional()
    .describe(
      'name=value; may be repeated, and all must match. A field, or an attribute of the record or its resource',
    ),
};

const FilterSchema = z.strictObject(filterParameters);
/** A request, as parsed by `filterParameters`. */
export type FilterRequest = z.output<typeof FilterSchema>;

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** Returns the OpenTelemetry number of a severity. */
const parseSeverityNumber = (text: string): number => {
  const number = /^\d{1,2}$/.test(text) ? Number(text) : levels.indexOf(text.toLowerCase()) * 4 + 1;
  if (number < 1 || number >= severityNames.length)
    throw createValidationError('severity', `must be one of ${levels.join(', ')}, or a number from 1 to 24`);
  return number;
};

/** Returns the value of a reference as text; for enumerated fields, the name of the value. */
const readText = <View extends RecordView>(reference: Reference<View>, record: View): string | undefined => {
  const value = readReference(reference, record);
  if (value === undefined) return undefined;
  const names = reference.kind === 'field' ? reference.field.names : undefined;
  return names?.[Number(value)] ?? String(value);
};

const buildSharedPredicates = <View extends RecordView>(
  fields: readonly Field<View>[],
  { service, attribute: attributeFilters = [] }: FilterRequest,
): RecordPredicate<View>[] => [
  ...(service === undefined ? [] : [(record: View) => record.service === service]),
  ...[attributeFilters].flat().map((attributeEquality) => {
    const separatorIndex = attributeEquality.indexOf('=');
    const reference = resolveReference(fields, attributeEquality.slice(0, separatorIndex));
    const value = attributeEquality.slice(separatorIndex + 1);
    return (record: View) =>
      readText(reference, record) === value ||
      (reference.kind !== 'field' &&
        readNestedValues(reference, record).some(({ path, text }) => path === reference.key && text === value));
  }),
];

const matchAll =
  <View extends RecordView>(predicates: readonly RecordPredicate<View>[]): RecordPredicate<View> =>
  (record) =>
    predicates.every((holds) => holds(record));

/** Returns the filter of a request. Throws a `QueryError` if it is invalid. */
export const buildFilter = (request: FilterRequest): Filter => {
  const { signal, service, search, severity, attribute: equalities } = request;
  const key = JSON.stringify([signal, service, search, severity, equalities]);
  if (signal === 'spans') {
    if (severity !== undefined)
      throw createValidationError('severity', 'is not supported for spans: use attribute=status=error');
    const predicates = buildSharedPredicates(spanFields, request);
    if (search !== undefined) predicates.push(buildSearchPredicate(search, 'traces'));
    return { key, signal, matches: matchAll(predicates) };
  }
  const predicates = buildSharedPredicates(logFields, request);
  if (severity !== undefined) {
    const minSeverity = parseSeverityNumber(severity);
    predicates.unshift((log) => log.severityNumber >= minSeverity);
  }
  if (search !== undefined) predicates.push(buildSearchPredicate(search, 'logs'));
  return { key, signal, matches: matchAll(predicates) };
};
