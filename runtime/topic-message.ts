import type { z } from 'zod';
import type { Message } from '../schemas/ports/bus.ts';
import type { DerivedTopic } from '../schemas/topic.ts';

/** A message of one item of a derived topic, for what publishes itself. */
export const topicMessage = <Item extends z.ZodType<{ readonly tenantId: string }>>(
  { name, tenantOf }: DerivedTopic<Item>,
  item: z.output<Item>,
): Message => ({
  topic: name,
  key: tenantOf(item),
  value: Buffer.from(JSON.stringify([item])),
  headers: { tenant: tenantOf(item), records: '1' },
});
