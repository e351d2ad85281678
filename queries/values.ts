/**
 * SQL of the values of records by name: fields, attributes, and resource attributes, which are in a separate table. The
 * subquery of a statement computes each value once. Resources are joined by id if a name may refer to one of their
 * attributes.
 */
import {
  buildAttributeExpressions,
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

interface ResourceValue {
  readonly exists: string;
  readonly text: string;
  readonly type: string;
}

/** Collects the values that a statement needs. */
export class ValueReader {
  readonly #signal: QuerySignal;
  readonly #columns = new Map<string, string>();
  readonly #resourceKeys = new Map<string, ResourceValue>();
  readonly #values = new Map<string, Value>();

  constructor(signal: QuerySignal) {
    this.#signal = signal;
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

  /** As `value`, with one row for each of a record's values, for grouping. */
  getEachValue(name: string): Value {
    const reference = resolveReference(signalDefinitions[this.#signal].fields, name) as Reference;
    if (reference.kind !== 'field') return this.getValue(name);
    const { elements, areOneThing: isSingleValue } = reference.field;
    if (elements === undefined || isSingleValue === true) return this.getValue(name);
    return this.#resolveField(reference, {
      ...reference.field,
      expression: `arrayJoin(if(empty(${elements}), [''], arrayMap(each -> toString(each), ${elements})))`,
    });
  }

  #resolve(name: string): Value {
    const reference = resolveReference(signalDefinitions[this.#signal].fields, name) as Reference;
    switch (reference.kind) {
      case 'field':
        return this.#resolveField(reference, reference.field);
      case 'scope': {
        const { exists, text, type } = buildScopeExpressions(reference.key);
        return this.#createAttributeValue(
          reference,
          this.addColumn(exists),
          this.addColumn(text),
          this.addColumn(type),
        );
      }
      case 'attribute': {
        const { exists, text, type } = buildAttributeExpressions(reference.key);
        return this.#createAttributeValue(
          reference,
          this.addColumn(exists),
          this.addColumn(text),
          this.addColumn(type),
        );
      }
      case 'resource': {
        const { exists, text, type } = this.#addResourceValue(reference.key);
        return this.#createAttributeValue(reference, exists, text, type);
      }
      default: {
        const recordAttribute = buildAttributeExpressions(reference.key);
        const ownExists = this.addColumn(recordAttribute.exists);
        const { exists, text, type } = this.#addResourceValue(reference.key);
        return this.#createAttributeValue(
          reference,
          `(${ownExists} OR ${exists})`,
          `if(${ownExists}, ${this.addColumn(recordAttribute.text)}, ${text})`,
          `if(${ownExists}, ${this.addColumn(recordAttribute.type)}, ${type})`,
        );
      }
    }
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

  #addResourceValue(key: string): ResourceValue {
    const number = this.#resourceKeys.size + 1;
    const known = this.#resourceKeys.get(key) ?? { exists: `r${number}e`, text: `r${number}`, type: `r${number}t` };
    this.#resourceKeys.set(key, known);
    return known;
  }

  /**
   * Returns the source for a FROM clause: the records of the tenant within `{from:Int64}` and `{to:Int64}` that match a
   * condition, with all values requested so far, and at most `maxRecords` records if given.
   */
  buildSource(condition: string, maxRecords?: number): string {
    const { table, from = table } = getSignalRecords(this.#signal);
    const recordColumns = [...this.#columns].map(([expression, name]) => `${expression} AS ${name}`);
    const columns = this.#resourceKeys.size === 0 ? recordColumns : [...recordColumns, 'resource_id'];
    const records = `(SELECT ${columns.length === 0 ? '1 AS one' : columns.join(', ')} FROM ${from}
      WHERE tenant_id = {tenant:String} AND ${buildRangeCondition(this.#signal)} AND ${condition}${maxRecords === undefined ? '' : ` LIMIT ${maxRecords}`})`;
    if (this.#resourceKeys.size === 0) return records;
    const keys = [...this.#resourceKeys].map(([key, names]) => ({
      names,
      expressions: buildAttributeExpressions(key),
    }));
    return `${records} AS records LEFT ANY JOIN (
      SELECT resource_id, ${keys
        .map(
          ({ names, expressions }) =>
            `any(${expressions.exists}) AS ${names.exists}, any(${expressions.text}) AS ${names.text}, any(${expressions.type}) AS ${names.type}`,
        )
        .join(', ')}
      FROM resources WHERE tenant_id = {tenant:String} AND (${keys.map(({ expressions }) => expressions.exists).join(' OR ')})
      GROUP BY resource_id) AS resources_by_id USING (resource_id)`;
  }
}

const buildNumberSql = (text: string): string =>
  `if(match(${text}, ${numberPattern}) AND isFinite(toFloat64OrZero(${text})), toFloat64OrNull(${text}), NULL)`;
