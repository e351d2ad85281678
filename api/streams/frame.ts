/** What live tail sends. */
import { z } from 'zod';
import { LogRecord } from '../../queries/signals/log-record.ts';
import { Span } from '../../queries/signals/span-record.ts';

const count = z.int().nonnegative();

/** Fields of every frame. */
const state = {
  dropped: count.describe(
    'Matching records that were left out since the frame before: the client reads too slowly, or they are too large',
  ),
  skipped: count.describe(
    'Records that were not compared with the filter since the frame before: there are more than the instance can look at',
  ),
  gap: z.boolean().describe('Whether records before this frame may be missing: they are no longer kept, or too many'),
  live: z.boolean().describe('False while records from before the connection are being sent'),
  position: z.string().describe('Connect with resume=<position> to go on after this frame'),
};

const frameOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ type: z.literal('records'), records: z.array(item).min(1), ...state });

/** Log records, each as `GET /api/logs` answers it. */
export const LogsFrame = frameOf(LogRecord);
/** Spans, each as `GET /api/traces/{id}` answers it. */
export const SpansFrame = frameOf(Span);
/** Without records: the filter matched nothing for a while, or only the state changed. */
export const HeartbeatFrame = z.strictObject({ type: z.literal('heartbeat'), ...state });
