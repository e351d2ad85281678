/** Declaration of topics. `topics.ts` contains all of them. */
import { z } from 'zod';

/** Properties of a topic. Retention is limited by age and by size of each partition, whichever is reached first. */
export interface Topic {
  readonly name: string;
  /** Description of the contents. */
  readonly summary: string;
  /** Description of the message key. */
  readonly key: string;
  /** `undefined` for raw wire bytes; a zod schema for JSON values of derived topics. */
  readonly value: z.ZodType | undefined;
  /** Number of partitions in a cluster. The embedded log has one per topic unless `embeddedPartitions` is set. */
  readonly partitions: number;
  readonly embeddedPartitions: number;
  readonly retentionHours: number;
  /** Maximum bytes of a partition. */
  readonly retentionBytes: number;
  /** Maximum value size of one message, in bytes. */
  readonly maxMessageBytes: number;
}

const gibibyte = 1024 ** 3;

/** Declares a topic, with defaults for the properties that most topics share. */
export const defineTopic = <Value extends z.ZodType | undefined = undefined>(
  topic: Pick<Topic, 'name' | 'summary' | 'key'> & Partial<Omit<Topic, 'value'>> & { readonly value?: Value },
): Topic & { readonly value: Value } => ({
  partitions: 12,
  embeddedPartitions: 1,
  retentionHours: 72,
  retentionBytes: 16 * gibibyte,
  maxMessageBytes: 1024 * 1024,
  ...topic,
  value: topic.value as Value,
});

/** A message without its destination */
export interface EmittedBody {
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A topic of values that processors emit. A message contains several values of one tenant as a JSON array. `emitter`
 * and `position` in its headers identify it, so that consumers can deduplicate it.
 */
export interface DerivedTopic<Item extends z.ZodType = z.ZodType> extends Topic {
  /** Schema of a message: the array. */
  readonly value: z.ZodArray<Item>;
  /** Schema of one value. */
  readonly item: Item;
  getTenant(value: z.output<Item>): string;
  /** Returns the partition key of a value within the tenant. Values with the same key stay in order. */
  getKey(value: z.output<Item>): string;
  /** Returns the time of a value in epoch milliseconds, which advances the watermark of its readers. */
  getTimeMs?(value: z.output<Item>): number;
  /**
   * Returns the messages of values that are not encoded as a JSON array: bodies with their headers. A pure function of
   * the values.
   */
  buildMessages?(values: readonly z.output<Item>[]): readonly EmittedBody[];
}

/** Declares a derived topic by the schema of one value, which contains its tenant. */
export const defineDerivedTopic = <Item extends z.ZodType<{ readonly tenantId: string }>>({
  item,
  keyOf: getKey = () => '',
  timeOf: getTimeMs,
  ...topic
}: Pick<Topic, 'name' | 'summary'> &
  Partial<Omit<Topic, 'value' | 'key'>> & {
    readonly item: Item;
    readonly keyOf?: (value: z.output<Item>) => string;
    readonly timeOf?: (value: z.output<Item>) => number;
  }): DerivedTopic<Item> => ({
  ...defineTopic({ key: 'tenant and bucket of the key', ...topic, value: z.array(item) }),
  item,
  getTenant: ({ tenantId }) => tenantId,
  getKey,
  ...(getTimeMs !== undefined && { getTimeMs }),
});
