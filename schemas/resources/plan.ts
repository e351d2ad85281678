import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

const money = z.number().nonnegative();

/** Price of a plan. A gigabyte is 10^9 bytes of decompressed data in the sender's encoding. */
export const Price = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency of three letters, such as EUR'),
  perMonth: money,
  /** Null: without a price, so that costs are unknown. */
  perGigabyte: z.strictObject({ logs: money.nullable(), metrics: money.nullable(), traces: money.nullable() }),
  /** Gigabytes of each telemetry signal included in the monthly price. */
  includedGigabytes: z
    .strictObject({ logs: money, metrics: money, traces: money })
    .default({ logs: 0, metrics: 0, traces: 0 }),
});
export type Price = z.output<typeof Price>;

/**
 * Limits and entitlements of a plan. Plans are configuration, stored under `platformTenant`. The first start creates
 * `free`, `pro` and `enterprise`.
 */
export const Plan = z.strictObject({
  name: z.string().min(1),
  retentionDays: z.strictObject({ logs: z.int().positive(), metrics: z.int().positive(), traces: z.int().positive() }),
  /** Names of enabled features; `logs`, `metrics` and `traces` permit the telemetry signals. */
  entitlements: z.array(z.string()),
  limits: z.strictObject({
    requestsPerSecond: z.int().positive(),
    requestsBurst: z.int().positive(),
    requestsPerMinute: z.int().positive(),
    /** Decompressed bytes per day; null for no limit. */
    bytesPerDay: z.int().positive().nullable(),
    syntheticRunsPerMonth: z
      .int()
      .positive()
      .nullable()
      .optional()
      .describe('Maximum runs of synthetic checks in 31 days, over all locations; no limit if `null` or absent'),
  }),
  price: Price.nullable().optional().describe('Price; `null` if none is configured'),
  selfService: z.boolean().optional().describe('Whether organizations may select the plan themselves; default: true'),
});
export type Plan = z.output<typeof Plan>;

export const plans = defineCollection<Plan>({ name: 'plans' });
export const plansTenant = platformTenant;

const defaultRateLimits = { requestsPerSecond: 200, requestsBurst: 400, requestsPerMinute: 10_000 };
const allSignals = ['logs', 'metrics', 'traces'];
const extraFeatures = ['rum', 'security', 'siem', 'llm', 'agentsight', 'ai'];

/** Plans of a new installation. */
export const defaultPlans: Readonly<Record<string, Plan>> = {
  free: {
    name: 'Free',
    retentionDays: { logs: 3, metrics: 7, traces: 3 },
    entitlements: ['logs', 'metrics'],
    limits: { ...defaultRateLimits, bytesPerDay: 1024 ** 3, syntheticRunsPerMonth: 1_000_000 },
  },
  pro: {
    name: 'Pro',
    retentionDays: { logs: 30, metrics: 90, traces: 15 },
    entitlements: allSignals,
    limits: { ...defaultRateLimits, bytesPerDay: 100 * 1024 ** 3, syntheticRunsPerMonth: 50_000_000 },
  },
  enterprise: {
    name: 'Enterprise',
    retentionDays: { logs: 90, metrics: 395, traces: 30 },
    entitlements: [...allSignals, ...extraFeatures],
    limits: { ...defaultRateLimits, bytesPerDay: null, syntheticRunsPerMonth: null },
  },
};
