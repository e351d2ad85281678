/**
 * Names of the fields of a record, for users and programs. The search language (as SQL and as a predicate over views),
 * live tail, detections and reads share this table, so that they agree.
 *
 * A name is resolved in this order, and the first match applies:
 * 1. a field of the signal's table below, by its name or one of its aliases;
 * 2. after one of the prefixes `attribute.`, `resource.` and `scope.`: only that kind of attribute;
 * 3. after the prefix `body.`, for log records: the value inside the body with that path;
 * 4. otherwise the record's attribute with that key or, without one, its resource's attribute.
 *
 * The key of an attribute may also be the path of a value inside an array or map (`records/nested-values.ts`).
 *
 * Thus a field takes precedence over an attribute with its name (use `attribute.name` for the attribute). A prefix takes
 * precedence over an attribute that begins with it (`attribute.resource.x` is the attribute `resource.x`). Names are
 * case-sensitive, as in OpenTelemetry.
 */

import type { AttributeType } from './records/attributes.ts';
import type { LogRecord } from './records/log-record.ts';
import type { NestedValue } from './records/nested-values.ts';
import type { DataPoint } from './records/points.ts';
import type { RecordView } from './records/record.ts';
import { severityNames } from './records/severity.ts';
import type { Span } from './records/span.ts';
import { quoteString } from './tables/literal.ts';
import type { logsTable } from './tables/logs.ts';
import type { samplesTable, seriesTable } from './tables/metrics.ts';
import { nestedMarks } from './tables/parts.ts';
import { buildAttributeTextSql, severityTextSql } from './tables/search.ts';
import { toPlainText } from './tables/search-text.ts';
import type { spansTable } from './tables/spans.ts';

/** `time`: nanoseconds since the epoch. `duration`: nanoseconds. `traceId` and `spanId`: hexadecimal, empty for none. */
export type FieldType = 'text' | 'number' | 'time' | 'duration' | 'traceId' | 'spanId';
export type FieldValue = string | number | bigint;

/** A field that every record of a signal has. */
export interface Field<View extends RecordView = RecordView> {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly type: FieldType;
  /** Unmodified column that stores the field, for indexes and sort keys. */
  readonly column: string;
  /** SQL expression of the value that `read` returns. */
  readonly expression: string;
  /** Names of the numeric values, by number. */
  readonly names?: readonly string[];
  /** SQL expression of all values, if a record may have several. `expression` is then their concatenated text. */
  readonly elements?: string;
  /** Whether the value is without ANSI escape sequences, such as colors. */
  readonly isPlain?: true;
  /** Whether the field has values inside it, whose names begin with that of the field. */
  readonly hasPaths?: true;
  /** Whether the values are names of the same object, so that grouping uses only `expression`. */
  readonly areOneThing?: true;
  read(record: View): FieldValue;
}

type Column<Table extends { readonly columns: object }> = keyof Table['columns'] & string;
type FieldDefinition<View extends RecordView, Name extends string> = readonly [
  type: FieldType,
  column: Name,
  summary: string,
  read: (record: View) => FieldValue,
  more?: Partial<Pick<Field, 'aliases' | 'names' | 'expression' | 'isPlain' | 'hasPaths'>>,
];

const buildIdExpression = (column: string, bytes: number): string =>
  `if(${column} = toFixedString('', ${bytes}), '', lower(hex(${column})))`;

const toExpression = (type: FieldType, column: string): string => {
  if (type === 'time') return `toUnixTimestamp64Nano(${column})`;
  if (type === 'traceId') return buildIdExpression(column, 16);
  return type === 'spanId' ? buildIdExpression(column, 8) : column;
};

const buildFields = <View extends RecordView, Name extends string>(
  rows: Readonly<Record<string, FieldDefinition<View, Name>>>,
): readonly Field<View>[] =>
  Object.entries(rows).map(([name, [type, column, summary, read, { aliases = [], ...details } = {}]]) => ({
    name,
    aliases,
    summary,
    type,
    column,
    expression: toExpression(type, column),
    read,
    ...details,
  }));

const sharedFields = {
  service: ['text', 'service', 'Service', ({ service }: RecordView) => service, { aliases: ['service.name'] }],
  projectId: ['text', 'project_id', 'Project', ({ projectId }: RecordView) => projectId, { aliases: ['project'] }],
  'scope.name': ['text', 'scope_name', 'Name of the instrumentation scope', ({ scope }: RecordView) => scope.name],
  'scope.version': [
    'text',
    'scope_version',
    'Version of the instrumentation scope',
    ({ scope }: RecordView) => scope.version,
  ],
} as const;
const traceIdAliases = { aliases: ['trace_id', 'trace.id'] };
const spanIdAliases = { aliases: ['span_id', 'span.id'] };

/** Fields of log records. */
export const logFields = buildFields<LogRecord, Column<typeof logsTable>>({
  timestamp: [
    'time',
    'timestamp',
    'Time of the record; if absent, when it was observed or received',
    (log) => log.timeNs,
  ],
  observedTimestamp: [
    'time',
    'observed_timestamp',
    'When the record was observed; if absent, when it was received',
    (log) => log.observedTimeNs,
  ],
  severityNumber: [
    'number',
    'severity_number',
    'OpenTelemetry severity number, 0 for none',
    (log) => log.severityNumber,
    { aliases: ['severity_number'] },
  ],
  severity: [
    'text',
    'severity_text',
    'Severity text of the sender without colors; if absent, the short name of the severity number',
    (log) => toPlainText(log.severity),
    {
      aliases: ['level'],
      isPlain: true,
      expression: `if(severity_text != '', ${severityTextSql}, [${severityNames.map(quoteString).join(', ')}][severity_number + 1])`,
    },
  ],
  severityText: [
    'text',
    'severity_text',
    'Severity text of the sender without colors',
    (log) => toPlainText(log.severityText),
    { aliases: ['severity_text'], isPlain: true, expression: severityTextSql },
  ],
  body: [
    'text',
    'body',
    'Body; JSON if it is an array or a map',
    (log) => log.body,
    { aliases: ['message'], hasPaths: true },
  ],
  eventName: ['text', 'event_name', 'Name of the event', (log) => log.eventName, { aliases: ['event_name'] }],
  traceId: ['traceId', 'trace_id', 'Trace', (log) => log.traceId, traceIdAliases],
  spanId: ['spanId', 'span_id', 'Span', (log) => log.spanId, spanIdAliases],
  flags: ['number', 'flags', 'Trace flags', (log) => log.flags],
  ...sharedFields,
});

/** Fields of spans. */
export const spanFields = buildFields<Span, Column<typeof spansTable>>({
  timestamp: [
    'time',
    'timestamp',
    'Start time; if absent, when the span was received',
    (span) => span.timeNs,
    { aliases: ['startTime'] },
  ],
  duration: ['duration', 'duration', 'Time from start to end', (span) => span.durationNs],
  name: ['text', 'name', 'Name of the span', (span) => span.name],
  kind: [
    'number',
    'kind',
    'Kind of the span',
    (span) => span.kind,
    { names: ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] },
  ],
  status: [
    'number',
    'status_code',
    'Status of the span',
    (span) => span.statusCode,
    { aliases: ['statusCode', 'status_code'], names: ['unset', 'ok', 'error'] },
  ],
  statusMessage: [
    'text',
    'status_message',
    'Status message',
    (span) => span.statusMessage,
    { aliases: ['status_message'] },
  ],
  traceId: ['traceId', 'trace_id', 'Trace', (span) => span.traceId, traceIdAliases],
  spanId: ['spanId', 'span_id', 'Span', (span) => span.spanId, spanIdAliases],
  parentSpanId: [
    'spanId',
    'parent_span_id',
    'Id of the parent span, empty for the root of a trace',
    (span) => span.parentSpanId,
    { aliases: ['parent_span_id'] },
  ],
  traceState: ['text', 'trace_state', 'W3C trace state', (span) => span.traceState, { aliases: ['trace_state'] }],
  flags: ['number', 'flags', 'Trace flags', (span) => span.flags],
  ...sharedFields,
});

/** Fields of data points. The columns are those of `series`, and `timestamp` and `value` of the point tables. */
export const pointFields = buildFields<DataPoint, Column<typeof seriesTable> | Column<typeof samplesTable>>({
  timestamp: ['time', 'timestamp', 'Time of the data point; if absent, when it was received', (point) => point.timeNs],
  metric: ['text', 'metric', 'Name of the metric', (point) => point.metric.name],
  kind: ['text', 'kind', 'Kind of the metric', (point) => point.kind],
  unit: ['text', 'unit', 'Unit of the metric', (point) => point.metric.unit],
  temporality: [
    'number',
    'temporality',
    'Temporality of the metric',
    (point) => point.metric.temporality,
    { names: ['unspecified', 'delta', 'cumulative'] },
  ],
  value: ['number', 'value', 'Value of a gauge or sum; not a number for others', (point) => point.value ?? Number.NaN],
  ...sharedFields,
});

/** Fields of time series: the point fields that are stored in `series`. */
export const seriesFields: readonly Field<DataPoint>[] = pointFields.filter(
  ({ name }) => name !== 'timestamp' && name !== 'value',
);

/** Resolved meaning of a name. `any` is the record's attribute, or else its resource's. `body` is a value inside it. */
export type Reference<View extends RecordView = RecordView> =
  | { readonly kind: 'field'; readonly field: Field<View> }
  | { readonly kind: 'attribute' | 'body' | 'resource' | 'scope' | 'any'; readonly key: string };

const prefixes = ['attribute', 'resource', 'scope'] as const;

/**
 * Resolves a name among the fields of a signal. Every name resolves. An empty name resolves to an attribute that no
 * record has.
 */
export const resolveReference = <View extends RecordView>(
  fields: readonly Field<View>[],
  name: string,
): Reference<View> => {
  const field = fields.find((candidate) => candidate.name === name || candidate.aliases.includes(name));
  if (field !== undefined) return { kind: 'field', field };
  for (const kind of prefixes) if (name.startsWith(`${kind}.`)) return { kind, key: name.slice(kind.length + 1) };
  if (name.startsWith('body.') && fields.some(({ hasPaths }) => hasPaths === true))
    return { kind: 'body', key: name.slice('body.'.length) };
  return { kind: 'any', key: name };
};

/**
 * Returns a field's value, or an attribute's stored text; `undefined` if the record has no such attribute. Values inside
 * arrays and maps are separate (`readNestedValues`).
 */
export const readReference = <View extends RecordView>(
  reference: Reference<View>,
  record: View,
): FieldValue | undefined => {
  switch (reference.kind) {
    case 'field':
      return reference.field.read(record);
    case 'attribute':
      return record.getAttribute(reference.key);
    case 'body':
      return undefined;
    case 'resource':
      return record.getResourceAttribute(reference.key);
    case 'scope':
      return record.scope.get(reference.key);
    default: {
      const { key } = reference;
      const text = record.getAttribute(key);
      if (text !== undefined) return text;
      const resourceText = record.getResourceAttribute(key);
      return resourceText === undefined || hasPath(record.nestedAttributes, key) ? undefined : resourceText;
    }
  }
};

const hasPath = (values: readonly NestedValue[], path: string): boolean => values.some((value) => value.path === path);
const noValues: readonly NestedValue[] = [];

/**
 * Returns the values inside the arrays and maps to which an attribute's name may refer, of any path. Those of the
 * resource count for a name without a prefix if the record has neither an attribute with that key nor a value with that path.
 */
export const readNestedValues = <View extends RecordView>(
  reference: Reference<View>,
  record: View,
): readonly NestedValue[] => {
  switch (reference.kind) {
    case 'attribute':
      return record.nestedAttributes;
    case 'body':
      return record.bodyValues;
    case 'resource':
      return record.resourceView.nestedAttributes;
    case 'any': {
      const { nestedAttributes } = record;
      const { nestedAttributes: resourceValues } = record.resourceView;
      if (resourceValues.length === 0) return nestedAttributes;
      const isOwn = record.getAttribute(reference.key) !== undefined || hasPath(nestedAttributes, reference.key);
      return isOwn ? nestedAttributes : [...nestedAttributes, ...resourceValues];
    }
    default:
      return noValues;
  }
};

/** Returns the type of the received attribute; `undefined` for a field, and if the record has no such attribute. */
export const getReferenceType = <View extends RecordView>(
  reference: Reference<View>,
  record: View,
): AttributeType | undefined => {
  switch (reference.kind) {
    case 'field':
      return undefined;
    case 'attribute':
      return record.getAttributeType(reference.key);
    case 'body':
      return undefined;
    case 'resource':
      return record.getResourceAttributeType(reference.key);
    case 'scope':
      return record.scope.attributes.get(reference.key)?.type;
    default:
      return record.getAttributeType(reference.key) ?? record.getResourceAttributeType(reference.key);
  }
};

/** SQL of the values that a row has for a name in addition to the first: items of arrays, and values inside them. */
export interface FurtherValues {
  /** Returns whether a further value passes a test of its text and its lowercase type character, both SQL. */
  hasAny(test: (text: string, type: string) => string): string;
  /** Whether the name is that of a map with values, or of an array of maps. */
  readonly hasValuesWithin: string;
  /** Whether a row may have such values. It takes little time to compute. */
  readonly mayHaveValuesWithin: string;
  /** Whether a row may have further values. It takes little time to compute. */
  readonly mayExist: string;
  /** Array of the texts of all values except arrays and maps, without duplicates; empty for a row without any. */
  readonly texts: string;
}

/**
 * SQL expressions of an attribute: whether a row has it, its text, and the type character. The latter two are empty
 * without the attribute. If it has several values, they are those of the first. Types inside arrays and maps are
 * uppercase (`tables/parts.ts`).
 */
export interface AttributeExpressions {
  readonly exists: string;
  readonly text: string;
  readonly type: string;
  readonly further?: FurtherValues;
}

/** The columns of a part of a row: attributes of a record, values of a body, attributes in `resources`. */
export type AttributePart = 'attribute' | 'body' | 'resource';

/** Maps of the parts. */
export const attributeMaps = { attribute: 'attributes', body: 'body_values', resource: 'attributes' } as const;
const typeColumns = { attribute: 'attribute_types', body: 'body_value_types', resource: 'attribute_types' } as const;

/**
 * Returns the expressions for tables with the columns `attributes` and `attribute_types`: those of records, and
 * `resources`; or for the values inside bodies of log records. Any key is allowed.
 */
export const buildAttributeExpressions = (key: string, part: AttributePart = 'attribute'): AttributeExpressions => {
  const name = quoteString(key);
  const map = attributeMaps[part];
  const types = typeColumns[part];
  const exists = `mapContains(${map}, ${name})`;
  const text = buildAttributeTextSql(name, map);
  // Without the attribute, its index is 0, and the engine returns an empty text.
  const type = `substring(${types}, indexOf(mapKeys(${map}), ${name}), 1)`;
  if (part === 'resource')
    return { exists, text, type, further: buildFurtherResourceValues(name, { exists, text, type }) };
  const keysAndTypes = `mapKeys(${map}), splitByString('', substring(${types}, 1, length(mapKeys(${map}))))`;
  const hasMark = (mark: string): string => `endsWith(${types}, ${quoteString(mark)})`;
  const hasSeveral = hasMark(nestedMarks.several);
  // Counting keys takes a fraction of the time of a lambda.
  const mayExist = `(${hasSeveral} AND countEqual(mapKeys(${map}), ${name}) > 1)`;
  // Characters of attributes are lowercase.
  const isFurther = "nested_type < 'a'";
  return {
    exists,
    text,
    type,
    further: {
      mayExist,
      hasAny: (test) =>
        `arrayExists((nested_key, nested_type, nested_text) -> nested_key = ${name} AND ${isFurther} AND ${test('nested_text', 'lower(nested_type)')}, ${keysAndTypes}, mapValues(${map}))`,
      mayHaveValuesWithin: `(${hasSeveral} OR ${hasMark(nestedMarks.single)})`,
      hasValuesWithin: `arrayExists((nested_key, nested_type) -> startsWith(nested_key, ${quoteString(`${key}.`)}) AND ${isFurther}, ${keysAndTypes})`,
      texts: `arrayDistinct(arrayConcat(if(${type} IN ('', 'j') OR ${type} < 'a', [], [${text}]), arrayFilter((nested_text, nested_key, nested_type) -> nested_key = ${name} AND ${isFurther}, mapValues(${map}), ${keysAndTypes})))`,
    },
  };
};

const buildFurtherResourceValues = (name: string, { text, type }: AttributeExpressions): FurtherValues => ({
  mayExist: `has(nested_keys, ${name})`,
  mayHaveValuesWithin: 'notEmpty(nested_keys)',
  hasAny: (test) =>
    `arrayExists((nested_key, nested_type, nested_text) -> nested_key = ${name} AND ${test('nested_text', 'nested_type')}, nested_keys, splitByString('', nested_types), nested_values)`,
  hasValuesWithin: `arrayExists(nested_key -> nested_key = ${name} OR startsWith(nested_key, concat(${name}, '.')), nested_keys)`,
  texts: `arrayDistinct(arrayConcat(if(${type} IN ('', 'j'), [], [${text}]), arrayFilter((nested_text, nested_key) -> nested_key = ${name}, nested_values, nested_keys)))`,
});

/**
 * Returns the expressions for `resources` whose `exists`, `text` and `type` also apply to values inside arrays and maps.
 */
export const buildResourceExpressions = (key: string): AttributeExpressions => {
  const { exists, text, type, further } = buildAttributeExpressions(key, 'resource');
  const position = `indexOf(nested_keys, ${quoteString(key)})`;
  return {
    exists: `(${exists} OR ${position} > 0)`,
    text: `if(${exists}, ${text}, nested_values[${position}])`,
    type: `if(${exists}, ${type}, substring(nested_types, ${position}, 1))`,
    ...(further === undefined ? {} : { further }),
  };
};

/**
 * Returns the expressions for a scope attribute, which tables store as JSON. Numbers, lists and maps are JSON texts,
 * and the type is that of JSON.
 */
export const buildScopeExpressions = (key: string): AttributeExpressions => {
  const name = quoteString(key);
  const type = `JSONType(scope_attributes, ${name})`;
  return {
    exists: `JSONHas(scope_attributes, ${name})`,
    text: `multiIf(${type} = 'String', JSONExtractString(scope_attributes, ${name}), ${type} = 'Null', '', JSONExtractRaw(scope_attributes, ${name}))`,
    type: `if(JSONHas(scope_attributes, ${name}), transform(toString(${type}), ['String', 'Int64', 'UInt64', 'Double', 'Bool', 'Array', 'Object', 'Null'], ['s', 'i', 'i', 'd', 'b', 'j', 'j', 'n'], ''), '')`,
  };
};
