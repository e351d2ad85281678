import { z } from 'zod';
import { defineDerivedTopic } from '../../../schemas/topic.ts';

export const errorCountsTopic = defineDerivedTopic({
  name: 'newcomer-error-counts',
  summary: 'Error logs by service and minute',
  item: z.strictObject({ tenantId: z.string(), service: z.string(), minute: z.int(), errors: z.int() }),
  timeOf: ({ minute }) => minute,
});
