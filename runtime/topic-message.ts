import type { z } from 'zod';
import type { Message } from '../schemas/ports/bus.ts';
import type { DerivedTopic } from '../schemas/topic.ts';

/** Builds the message of one item of a derived topic, for components that publish it themselves. */
export const topicMessage = <Item extends z.ZodType<{ readonly tenantId: string }>>(
  { name, tenantOf }: DerivedTopic<Item>,
  item: z.output<Item>,
): Message => ({
  topic: name,
  key: tenantOf(item),
  value: Buffer.from(JSON.stringify([item])),
  headers: { tenant: tenantOf(item), records: '1' },
});
