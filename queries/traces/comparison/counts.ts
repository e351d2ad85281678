/** Counts of each value in both sets of a sample. */
import { quoteString } from '../../../schemas/tables/literal.ts';
import { spanKinds } from '../../signals/span-record.ts';
import type { TenantReader } from '../../tenant-reader.ts';
import { statementKeys } from '../statement.ts';
import type { Candidate } from './rank-differences.ts';
import type { Sample } from './sample.ts';

/** Maximum number of tested values per field, most frequent first. */
const maxValues = 100;
/** Maximum number of fields whose numbers are tested by rank. */
const maxRankedFields = 50;
/** Number of values above which a numeric field is tested by rank. */
const minRankedValues = 20;
const bucketCount = 20;

type Kind = Candidate['kind'];

/** Reason why a field is not compared, or only some of its values are. */
export interface OmittedField {
  readonly field: string;
  readonly reason: string;
}

interface FieldRow {
  readonly kind: Kind;
  readonly key: string;
  readonly values: string;
  readonly numbers: string;
  readonly occurrences: string;
  readonly having: readonly [string, string];
  readonly top: readonly (readonly [string, string, string])[];
}

/**
 * Returns SQL of a sample's rows with every field, attribute and resource attribute as `pair`: kind, key, text, type
 * character. Values inside arrays and maps are part of their attribute. Literals are removed from database statements, because they would make each unique.
 */
const buildPairsSql = (sample: Sample): string => {
  const buildAttributePairsSql = (kind: Kind, attributes: string, types: string): string =>
    `arrayMap((k, v, at) -> ('${kind}', toString(k), v, substring(${types}, at, 1)), mapKeys(${attributes}), mapValues(${attributes}), arrayEnumerate(mapKeys(${attributes})))`;
  const fields = ['service', 'name', 'kind'].map((field) => `('field', '${field}', toString(${field}), 's')`);
  const otherAttributesSql = `arrayFilter(pair -> pair.4 >= 'a' AND pair.2 NOT IN (${statementKeys.map(quoteString).join(', ')}), ${buildAttributePairsSql('attribute', 'attributes', 'attribute_types')})`;
  return `(SELECT trace_id, selected, arrayJoin(arrayConcat([${fields.join(', ')}], if(statement = '', [], [('field', 'statement', statement, 's')]), ${otherAttributesSql},
      ${buildAttributePairsSql('resource', 'of_resource', 'resource_types')})) AS pair
    FROM ${buildWithResourcesSql(sample)})`;
};

const buildWithResourcesSql = (sample: Sample): string =>
  `(SELECT * FROM ${sample.rowsSql} AS sampled LEFT JOIN (
      SELECT resource_id, any(attributes) AS of_resource, any(attribute_types) AS resource_types FROM resources
      WHERE tenant_id = {tenant:String} GROUP BY resource_id) AS sender USING (resource_id))`;

/**
 * Returns the values to test, and the fields to omit. The attribute `service.name` is omitted, because it is the field
 * `service`.
 */
export const findCandidates = async (
  reader: TenantReader,
  sample: Sample,
): Promise<{
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly OmittedField[];
  /** Number of units in the sample. */
  readonly sizes: { readonly n: number; readonly m: number };
}> => {
  const [fields, sizes] = await Promise.all([readFields(reader, sample), readSizes(reader, sample)]);
  const excluded: OmittedField[] = [];
  const candidates: Candidate[] = [];
  const numericFields: FieldRow[] = [];
  for (const field of fields) {
    const presence = toCandidate(field, undefined, field.having, sizes);
    const reason = explainOmission(field);
    if (isNumeric(field)) {
      numericFields.push(field);
      candidates.push(presence);
    } else if (reason !== undefined) {
      excluded.push({ field: formatFieldName(field), reason });
      candidates.push(presence);
    } else {
      for (const [value, a, b] of field.top)
        candidates.push(toCandidate(field, formatValue(field, value), [a, b], sizes));
      if (Number(field.values) > maxValues)
        excluded.push({
          field: formatFieldName(field),
          reason: `${field.values} values: the ${maxValues} most frequent are compared`,
        });
    }
  }
  const testedFields = numericFields.slice(0, maxRankedFields);
  for (const field of numericFields.slice(maxRankedFields))
    excluded.push({
      field: formatFieldName(field),
      reason: `there are more than ${maxRankedFields} fields of numbers`,
    });
  candidates.push(...(await readRanks(reader, sample, testedFields)));
  return { candidates, excluded, sizes };
};

const formatFieldName = ({ kind, key }: Pick<FieldRow, 'kind' | 'key'>): string =>
  kind === 'field' ? key : `${kind}.${key}`;

const formatValue = ({ kind, key }: FieldRow, value: string): string =>
  kind === 'field' && key === 'kind' ? (spanKinds[Number(value)] ?? value) : value;

const toCandidate = (
  { kind, key }: FieldRow,
  value: string | undefined,
  [a, b]: readonly [string, string],
  { n, m }: { readonly n: number; readonly m: number },
): Candidate => ({
  kind,
  key,
  counts: { a: Number(a), n, b: Number(b), m },
  ...(value === undefined ? {} : { value }),
});

const isNumeric = ({ values, numbers }: FieldRow): boolean => numbers === values && Number(values) > minRankedValues;

/** Returns why a field is omitted. An id has a unique value nearly everywhere, so none of its values can stand out. */
const explainOmission = ({ values, occurrences }: FieldRow): string | undefined =>
  Number(values) > maxValues && Number(values) > Number(occurrences) / 2
    ? `${values} values in ${occurrences} occurrences: probably an id`
    : undefined;

const readFields = (reader: TenantReader, sample: Sample): Promise<FieldRow[]> => {
  // Fields are counted from the counts of their values, because reading all spans again would be expensive.
  const perValue = `SELECT pair.1 AS kind, pair.2 AS key, pair.3 AS value, any(pair.4) AS type, ${sample.buildCountStateSql('selected')} AS of_selected,
      ${sample.buildCountStateSql('NOT selected')} AS of_others, finalizeAggregation(of_selected) AS a, finalizeAggregation(of_others) AS b
      FROM ${buildPairsSql(sample)} GROUP BY kind, key, value`;
  return reader.columns.query<FieldRow>(
    `SELECT kind, key, toString(count()) AS values, toString(countIf(type IN ('i', 'd'))) AS numbers, toString(sum(a + b)) AS occurrences,
      (toString(${sample.buildCountMergeSql('of_selected')}), toString(${sample.buildCountMergeSql('of_others')})) AS having,
      arrayMap(each -> (each.1, toString(each.2), toString(each.3)), arraySlice(arraySort(each -> (-toInt64(each.2 + each.3), each.1), groupArray((value, a, b))), 1, ${maxValues})) AS top
    FROM (${perValue}) WHERE NOT (kind = 'resource' AND key = 'service.name') GROUP BY kind, key ORDER BY kind, key`,
    sample.parameters,
  );
};

const readSizes = async (reader: TenantReader, sample: Sample): Promise<{ n: number; m: number }> => {
  const [found] = await reader.columns.query<{ n: string; m: string }>(
    `SELECT toString(${sample.buildCountSql('selected')}) AS n, toString(${sample.buildCountSql('NOT selected')}) AS m FROM ${sample.rowsSql}`,
    sample.parameters,
  );
  return { n: Number(found?.n ?? 0), m: Number(found?.m ?? 0) };
};

/** Returns a key in the syntax of the statement. */
const formatKeySql = ({ kind, key }: Pick<FieldRow, 'kind' | 'key'>): string => `('${kind}', ${quoteString(key)})`;

/** Reads numbers in buckets of equal frequency. For a trace, the largest number of a field counts. */
const readRanks = async (reader: TenantReader, sample: Sample, fields: readonly FieldRow[]): Promise<Candidate[]> => {
  if (fields.length === 0) return [];
  const numberSql = sample.by === 'spans' ? 'number' : 'max(number) AS number';
  const numbers = `SELECT kind, key, selected, ${numberSql} FROM (
      SELECT trace_id, selected, pair.1 AS kind, pair.2 AS key, toFloat64OrNull(pair.3) AS number FROM ${buildPairsSql(sample)}
      WHERE (kind, key) IN (${fields.map(formatKeySql).join(', ')}) AND isFinite(number))${
        sample.by === 'spans' ? '' : ' GROUP BY trace_id, selected, kind, key'
      }`;
  const levels = Array.from({ length: bucketCount - 1 }, (_, index) => (index + 1) / bucketCount).join(', ');
  const edges = await reader.columns.query<{ kind: Kind; key: string; edges: readonly number[] }>(
    `SELECT kind, key, arrayDistinct(quantilesExact(${levels})(number)) AS edges FROM (${numbers}) GROUP BY kind, key`,
    sample.parameters,
  );
  const bucketEdgesSql = edges
    .map((each) => `(kind, key) = ${formatKeySql(each)}, [${each.edges.join(', ')}]`)
    .join(', ');
  if (bucketEdgesSql === '') return [];
  const rows = await reader.columns.query<{ kind: Kind; key: string; bucket: number; a: string; b: string }>(
    `SELECT kind, key, arrayCount(edge -> edge < number, multiIf(${bucketEdgesSql}, emptyArrayFloat64())) AS bucket,
      countIf(selected) AS a, countIf(NOT selected) AS b FROM (${numbers}) GROUP BY kind, key, bucket`,
    sample.parameters,
  );
  return edges.map(({ kind, key, edges: bucketEdges }) => {
    const [selected, baseline] = [new Array<number>(bucketCount).fill(0), new Array<number>(bucketCount).fill(0)];
    for (const row of rows.filter((each) => each.kind === kind && each.key === key)) {
      selected[row.bucket] = Number(row.a);
      baseline[row.bucket] = Number(row.b);
    }
    const [n, m] = [selected, baseline].map((counts) => counts.reduce((sum, count) => sum + count, 0)) as [
      number,
      number,
    ];
    return {
      kind,
      key,
      counts: { a: n, n, b: m, m },
      rankCounts: { selected, baseline },
      median: bucketEdges[bucketEdges.length >> 1] ?? 0,
    };
  });
};

/**
 * Counts the units of the sample by their combination of candidates. Each candidate is one bit, so there are at most
 * 60.
 */
export const readUnits = async (
  reader: TenantReader,
  sample: Sample,
  candidates: readonly Candidate[],
): Promise<{ readonly bits: bigint; readonly count: number }[]> => {
  const bits = candidates
    .map((candidate, bit) => `bitShiftLeft(toUInt64(${buildConditionSql(candidate)}), ${bit})`)
    .join(' + ');
  const rows = await reader.columns.query<{ bits: string; units: string }>(
    sample.by === 'spans'
      ? `SELECT toString(${bits}) AS bits, count() AS units FROM ${buildWithResourcesSql(sample)} GROUP BY bits`
      : `SELECT toString(bits) AS bits, count() AS units FROM (SELECT trace_id, groupBitOr(${bits}) AS bits FROM ${buildWithResourcesSql(sample)} GROUP BY trace_id) GROUP BY bits`,
    sample.parameters,
  );
  return rows.map(({ bits: text, units }) => ({ bits: BigInt(text), count: Number(units) }));
};

const buildConditionSql = ({ kind, key, value, median }: Candidate): string => {
  if (kind === 'field') {
    const number = key === 'kind' ? spanKinds.findIndex((each) => each === value) : -1;
    if (number >= 0) return `kind = ${number}`;
    return value === undefined ? `${key} != ''` : `${key} = ${quoteString(value)}`;
  }
  const attributes = kind === 'attribute' ? 'attributes' : 'of_resource';
  const exists = `mapContains(${attributes}, ${quoteString(key)})`;
  if (median !== undefined) return `(${exists} AND toFloat64OrZero(${attributes}[${quoteString(key)}]) > ${median})`;
  return value === undefined ? exists : `(${exists} AND ${attributes}[${quoteString(key)}] = ${quoteString(value)})`;
};
