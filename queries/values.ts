/**
 * SQL of the values of records by name: fields, attributes, and resource attributes, which are in a separate table. The
 * subquery of a statement computes each value once. Resources are joined by id if a name may refer to one of their
 * attributes.
 */
import {
  type AttributeExpressions,
  buildAttributeExpressions,
  buildResourceExpressions,
  buildScopeExpressions,
  type Field,
  type Reference,
  resolveReference,
} from '../schemas/fields.ts';
import { quoteString } from '../schemas/tables/literal.ts';
import { buildRangeCondition } from './records.ts';
import { getSignalRecords, type QuerySignal, signalDefinitions } from './signals/index.ts';

/** Matches JSON numbers, so that the same values count as numbers as in the search language. */
const numberPattern = quoteString('^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$');

/** SQL of one value, in terms of the columns of `ValueReader.from`. */
export interface Value {
  readonly reference: Reference;
  /** Whether a record has the value; a text field exists if it is not empty. */
  readonly exists: string;
  /** Text of the value, empty if a record has none. Numbers with names are their names. */
  readonly text: string;
  /** `Nullable(Float64)`, or `Nullable(Int64)` for a time; NULL if it is not a finite number. */
  readonly number: string;
  /** Type character of an attribute (`schemas/tables/parts.ts`); empty for a field. */
  readonly type: string;
}

/** Columns of a resource attribute. */
interface ResourceValue {
  readonly key: string;
  readonly exists: string;
  readonly text: string;
  readonly type: string;
  /** For one row per value: the number of the value. */
  readonly number?: string;
}

/** A column with one row per value of a record, for records that may have several. */
interface EachColumn {
  readonly name: string;
  readonly expressions: AttributeExpressions;
}

/** Collects the values that a statement needs. */
export class ValueReader {
  readonly #signal: QuerySignal;
  readonly #from: string | undefined;
  readonly #columns = new Map<string, string>();
  readonly #eachColumns = new Map<string, EachColumn>();
  readonly #resourceValues = new Map<string, ResourceValue>();
  /** Conditions of joined rows: further values of a resource do not count if the record has the attribute. */
  readonly #joinConditions = new Set<string>();
  readonly #values = new Map<string, Value>();

  /** `from` replaces the FROM clause of the data source. */
  constructor(signal: QuerySignal, from?: string) {
    this.#signal = signal;
    this.#from = from;
  }

  /** Returns the name of a subquery column for an expression over the record's own columns. */
  addColumn(expression: string): string {
    const name = this.#columns.get(expression) ?? `v${this.#columns.size + 1}`;
    this.#columns.set(expression, name);
    return name;
  }

  /** Returns the value of a name of the search language. */
  getValue(name: string): Value {
    const value = this.#values.get(name) ?? this.#resolve(name);
    this.#values.set(name, value);
    return value;
  }

  /**
   * As `value`, with one row for each distinct value of a record, for grouping: items of arrays are values. Only for
   * records that may have several, the engine creates arrays of values.
   */
  getEachValue(name: string): Value {
    const reference = resolveReference(signalDefinitions[this.#signal].fields, name) as Reference;
    if (reference.kind !== 'field') return this.#resolveAttribute(reference, true);
    const { elements, areOneThing: isSingleValue } = reference.field;
    if (elements === undefined || isSingleValue === true) return this.getValue(name);
    return this.#resolveField(reference, {
      ...reference.field,
      expression: `arrayJoin(if(empty(${elements}), [''], arrayMap(each -> toString(each), ${elements})))`,
    });
  }

  #resolve(name: string): Value {
    const reference = resolveReference(signalDefinitions[this.#signal].fields, name) as Reference;
    return reference.kind === 'field'
      ? this.#resolveField(reference, reference.field)
      : this.#resolveAttribute(reference, false);
  }

  #resolveAttribute(reference: Exclude<Reference, { kind: 'field' }>, isEach: boolean): Value {
    const { kind, key } = reference;
    if (kind === 'resource') {
      const { exists, text, type } = this.#addResourceValue(key, isEach);
      return this.#createAttributeValue(reference, exists, text, type);
    }
    const expressions =
      kind === 'scope'
        ? buildScopeExpressions(key)
        : buildAttributeExpressions(key, kind === 'body' ? 'body' : 'attribute');
    const exists = this.addColumn(expressions.exists);
    const text = isEach ? this.#addEachColumn(expressions) : this.addColumn(expressions.text);
    const type = this.addColumn(expressions.type);
    if (kind !== 'any') return this.#createAttributeValue(reference, exists, text, type);
    const resource = this.#addResourceValue(key, isEach);
    if (resource.number !== undefined) this.#joinConditions.add(`NOT (${exists} AND ${resource.number} > 1)`);
    return this.#createAttributeValue(
      reference,
      `(${exists} OR ${resource.exists})`,
      `if(${exists}, ${text}, ${resource.text})`,
      `if(${exists}, ${type}, ${resource.type})`,
    );
  }

  #addEachColumn(expressions: AttributeExpressions): string {
    if (expressions.further === undefined) return this.addColumn(expressions.text);
    const known = this.#eachColumns.get(expressions.text);
    if (known !== undefined) return known.name;
    const name = `e${this.#eachColumns.size + 1}`;
    this.#eachColumns.set(expressions.text, { name, expressions });
    return name;
  }

  #resolveField(reference: Reference, field: Field): Value {
    const value = this.addColumn(field.expression);
    const isText = !['number', 'time', 'duration'].includes(field.type);
    if (isText)
      return {
        reference,
        exists: `${value} != ''`,
        text: `toString(${value})`,
        number: buildNumberSql(value),
        type: "''",
      };
    const names = field.names?.map(quoteString) ?? [];
    return {
      reference,
      exists: 'true',
      text:
        names.length === 0
          ? `toString(${value})`
          : `if(${value} < ${names.length}, [${names.join(', ')}][${value} + 1], toString(${value}))`,
      number: field.type === 'time' ? `toNullable(${value})` : `toNullable(toFloat64(${value}))`,
      type: "''",
    };
  }

  #createAttributeValue(reference: Reference, exists: string, text: string, type: string): Value {
    return { reference, exists, text: `toString(${text})`, number: buildNumberSql(text), type };
  }

  #addResourceValue(key: string, isEach: boolean): ResourceValue {
    const id = `${isEach} ${key}`;
    const number = this.#resourceValues.size + 1;
    const known = this.#resourceValues.get(id) ?? {
      key,
      exists: `r${number}e`,
      text: `r${number}`,
      type: `r${number}t`,
      ...(isEach ? { number: `r${number}n` } : {}),
    };
    this.#resourceValues.set(id, known);
    return known;
  }

  /**
   * Returns the source for a FROM clause: the records of the tenant within `{from:Int64}` and `{to:Int64}` that match a
   * condition, with all values requested so far, and at most `maxRecords` records if given.
   */
  buildSource(condition: string, maxRecords?: number): string {
    const { table, from: ofSignal = table } = getSignalRecords(this.#signal);
    const from = this.#from ?? ofSignal;
    const columns = [...this.#columns].map(([expression, name]) => `${expression} AS ${name}`);
    if (this.#resourceValues.size > 0) columns.push('resource_id');
    const buildSelect = (eachColumns: readonly string[], filter = ''): string => {
      const selection = [...columns, ...eachColumns];
      return `SELECT ${selection.length === 0 ? '1 AS one' : selection.join(', ')} FROM ${from}
      WHERE tenant_id = {tenant:String} AND ${buildRangeCondition(this.#signal)} AND ${condition}${filter}${maxRecords === undefined ? '' : ` LIMIT ${maxRecords}`}`;
    };
    const eachColumns = [...this.#eachColumns.values()];
    const hasSeveral = [
      ...new Set(eachColumns.flatMap(({ expressions: { further } }) => further?.mayExist ?? [])),
    ].join(' OR ');
    const firstValues = eachColumns.map(({ name, expressions: { text } }) => `${text} AS ${name}`);
    const allValues = eachColumns.map(
      ({ name, expressions: { text, further } }) =>
        `arrayJoin(if(empty(${further?.texts}), [${text}], ${further?.texts})) AS ${name}`,
    );
    const records =
      hasSeveral === ''
        ? `(${buildSelect([])})`
        : `(${buildSelect(firstValues, ` AND NOT (${hasSeveral})`)} UNION ALL ${buildSelect(allValues, ` AND (${hasSeveral})`)})`;
    return this.#resourceValues.size === 0 ? records : this.#joinResources(records);
  }

  #joinResources(records: string): string {
    const resourceValues = [...this.#resourceValues.values()].map((value) => ({
      ...value,
      expressions: buildResourceExpressions(value.key),
    }));
    const selection = resourceValues.flatMap(({ exists, text, type, number, expressions }) => [
      `any(${expressions.exists}) AS ${exists}`,
      `any(${expressions.text}) AS ${number === undefined ? text : `${text}f`}`,
      `any(${expressions.type}) AS ${type}`,
      ...(number === undefined ? [] : [`any(${expressions.further?.texts}) AS ${text}s`]),
    ]);
    const resources = `SELECT resource_id, ${selection.join(', ')}
      FROM resources WHERE tenant_id = {tenant:String} AND (${resourceValues.map(({ expressions }) => expressions.exists).join(' OR ')})
      GROUP BY resource_id`;
    const eachValues = resourceValues.filter(({ number }) => number !== undefined);
    if (eachValues.length === 0)
      return `${records} AS records LEFT ANY JOIN (${resources}) AS resources_by_id USING (resource_id)`;
    const expanded = resourceValues.flatMap(({ exists, text, type, number }) => [
      exists,
      type,
      ...(number === undefined
        ? [text]
        : [
            `arrayJoin(arrayMap((value_text, value_number) -> (value_text, value_number), if(empty(${text}s), [${text}f], ${text}s), arrayEnumerate(if(empty(${text}s), [${text}f], ${text}s)))) AS ${text}p`,
            `${text}p.1 AS ${text}`,
            `${text}p.2 AS ${number}`,
          ]),
    ]);
    const joined = `${records} AS records LEFT JOIN (SELECT resource_id, ${expanded.join(', ')} FROM (${resources})) AS resources_by_id USING (resource_id)`;
    const conditions = [...this.#joinConditions];
    return conditions.length === 0 ? joined : `(SELECT * FROM ${joined} WHERE ${conditions.join(' AND ')})`;
  }
}

const buildNumberSql = (text: string): string =>
  `if(match(${text}, ${numberPattern}) AND isFinite(toFloat64OrZero(${text})), toFloat64OrNull(${text}), NULL)`;
