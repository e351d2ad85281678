import { z } from 'zod';
import { signals } from '../../../schemas/telemetry-signals.ts';

/** How long usage responses are cached. */
export const usageCache = { ttlMs: 300_000 };

export const SignalName = z.enum(signals);
export const PlanRef = z.strictObject({ id: z.string(), name: z.string() });
export const Period = z.strictObject({
  from: z.string(),
  to: z.string().describe('Start of the next period'),
});
