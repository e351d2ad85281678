/** The part of OTLP/JSON that the demo needs. */
import { randomBytes } from 'node:crypto';

export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Nanoseconds since the epoch, in OTLP/JSON form. */
export const toNanosecondText = (milliseconds: number): string =>
  String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n);
export const createTraceId = (): string => randomBytes(16).toString('hex');
export const createSpanId = (): string => randomBytes(8).toString('hex');

export const toKeyValues = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: toAnyValue(value) }));

const toAnyValue = (value: AttributeValue) => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

/** Records of one telemetry signal by resource, collected between two sends. */
export class Outbox {
  readonly #byResource = new Map<Attributes, object[]>();
  #count = 0;

  add(resource: Attributes, record: object): void {
    const records = this.#byResource.get(resource) ?? [];
    records.push(record);
    this.#byResource.set(resource, records);
    this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Removes all records and returns the body of an export request. The parameters are the field names of the signal.
   */
  drain(resourceField: string, scopeField: string, recordField: string): string {
    const groups = [...this.#byResource].map(([resource, records]) => ({
      resource: { attributes: toKeyValues(resource) },
      [scopeField]: [{ scope: { name: 'oiq.demo', version: '1.0.0' }, [recordField]: records }],
    }));
    this.#byResource.clear();
    this.#count = 0;
    return JSON.stringify({ [resourceField]: groups });
  }
}
