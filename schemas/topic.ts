/** What a topic is: how one is declared. `topics.ts` has all of them. */
import { z } from 'zod';

/** What a topic promises. Retention is by age and by size of each partition, whichever comes first. */
export interface Topic {
  readonly name: string;
  /** What lies in it, for people. */
  readonly summary: string;
  /** What the message key is made of. */
  readonly key: string;
  /** `undefined` for raw wire bytes; a zod schema for JSON values of derived topics. */
  readonly value: z.ZodType | undefined;
  /** Partitions in a cluster; the embedded log has one per topic unless `embeddedPartitions` says otherwise. */
  readonly partitions: number;
  readonly embeddedPartitions: number;
  readonly retentionHours: number;
  /** Bytes a partition keeps at most. */
  readonly retentionBytes: number;
  /** Largest value of one message, in bytes. */
  readonly maxMessageBytes: number;
}

const gibibyte = 1024 ** 3;

/** Fills in what most topics share. */
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

/** A message but for where it goes. */
export interface EmittedBody {
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A topic of values that processors emit. A message holds several values of one tenant as a JSON array; `emitter` and `position` in
 * its headers identify it, so that consumers take it once.
 */
export interface DerivedTopic<Item extends z.ZodType = z.ZodType> extends Topic {
  /** Of a message: the array. */
  readonly value: z.ZodArray<Item>;
  /** Of one value. */
  readonly item: Item;
  tenantOf(value: z.output<Item>): string;
  /** What must lie in one partition, beside the tenant. Values of one key stay in order. */
  keyOf(value: z.output<Item>): string;
  /** The time that a value is about, epoch milliseconds: it moves the watermark of its readers. */
  timeOf?(value: z.output<Item>): number;
  /** How values lie on the bus where that is not as a JSON array: bodies with the headers that describe them. A function of the values alone. */
  messagesOf?(values: readonly z.output<Item>[]): readonly EmittedBody[];
}

/** Declares a derived topic by the schema of one value, which names its tenant. */
export const defineDerivedTopic = <Item extends z.ZodType<{ readonly tenantId: string }>>({
  item,
  keyOf = () => '',
  timeOf,
  ...topic
}: Pick<Topic, 'name' | 'summary'> &
  Partial<Omit<Topic, 'value' | 'key'>> & {
    readonly item: Item;
    readonly keyOf?: (value: z.output<Item>) => string;
    readonly timeOf?: (value: z.output<Item>) => number;
  }): DerivedTopic<Item> => ({
  ...defineTopic({ key: 'tenant and bucket of the key', ...topic, value: z.array(item) }),
  item,
  tenantOf: ({ tenantId }) => tenantId,
  keyOf,
  ...(timeOf !== undefined && { timeOf }),
});
