import type { z } from 'zod';
import type { Message } from '../schemas/ports/bus.ts';
import type { DerivedTopic } from '../schemas/topic.ts';

/** Builds the message of one item of a derived topic, for components that publish it themselves. */
export const buildTopicMessage = <Item extends z.ZodType<{ readonly tenantId: string }>>(
  { name, getTenant }: DerivedTopic<Item>,
  item: z.output<Item>,
): Message => ({
  topic: name,
  key: getTenant(item),
  value: Buffer.from(JSON.stringify([item])),
  headers: { tenant: getTenant(item), records: '1' },
});
