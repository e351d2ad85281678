/** Messages of live tail. */
import { z } from 'zod';
import { LogRecord } from '../../queries/signals/log-record.ts';
import { Span } from '../../queries/signals/span-record.ts';

const RecordCount = z.int().nonnegative();

/** Fields of every frame */
const frameStateFields = {
  dropped: RecordCount.describe(
    'Number of matching records that were omitted since the previous frame, because the client reads too slowly or they are too large',
  ),
  skipped: RecordCount.describe(
    'Number of records that were not compared with the filter since the previous frame, because there are more than the instance can process',
  ),
  gap: z
    .boolean()
    .describe('Whether records before this frame may be missing: they are no longer stored, or there were too many'),
  live: z.boolean().describe('false while records from before the connection are being sent'),
  position: z.string().describe('Position of this frame: connect with resume=<position> to continue after it'),
};

const createFrameSchema = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ type: z.literal('records'), records: z.array(item).min(1), ...frameStateFields });

/** Log records, each in the form of `GET /api/logs` */
export const LogsFrame = createFrameSchema(LogRecord);
/** Spans, each in the form of `GET /api/traces/{id}` */
export const SpansFrame = createFrameSchema(Span);
/** A frame without records: no record matched for a while, or only the state changed. */
export const HeartbeatFrame = z.strictObject({ type: z.literal('heartbeat'), ...frameStateFields });
