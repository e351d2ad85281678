import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

const money = z.number().nonnegative();

/** What a plan costs. A gigabyte is 10^9 bytes as senders encoded them, decompressed. */
export const Price = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency of three letters, such as EUR'),
  perMonth: money,
  /** null: not priced, so what it costs is not known. */
  perGigabyte: z.strictObject({ logs: money.nullable(), metrics: money.nullable(), traces: money.nullable() }),
  /** Gigabytes of each signal that the monthly price covers. */
  includedGigabytes: z
    .strictObject({ logs: money, metrics: money, traces: money })
    .default({ logs: 0, metrics: 0, traces: 0 }),
});
export type Price = z.output<typeof Price>;

/** What a plan allows. Plans are configuration, stored under `platformTenant`; ids `free`, `pro`, `enterprise` are made at first start. */
export const Plan = z.strictObject({
  name: z.string().min(1),
  retentionDays: z.strictObject({ logs: z.int().positive(), metrics: z.int().positive(), traces: z.int().positive() }),
  /** Names of what is enabled; `logs`, `metrics` and `traces` admit the signals. */
  entitlements: z.array(z.string()),
  limits: z.strictObject({
    requestsPerSecond: z.int().positive(),
    requestsBurst: z.int().positive(),
    requestsPerMinute: z.int().positive(),
    /** Decompressed bytes a day; null is without limit. */
    bytesPerDay: z.int().positive().nullable(),
    syntheticRunsPerMonth: z
      .int()
      .positive()
      .nullable()
      .optional()
      .describe('Runs that synthetic checks make in 31 days, at all locations; null, or left out: without limit'),
  }),
  price: Price.nullable().optional().describe('null: no price is configured'),
  selfService: z.boolean().optional().describe('Whether organizations may choose the plan themselves; default: true'),
});
export type Plan = z.output<typeof Plan>;

export const plans = defineCollection<Plan>({ name: 'plans' });
export const plansTenant = platformTenant;

const contractLimits = { requestsPerSecond: 200, requestsBurst: 400, requestsPerMinute: 10_000 };
const everything = ['logs', 'metrics', 'traces'];
const beyond = ['rum', 'security', 'siem', 'llm', 'agentsight', 'ai'];

/** The plans of a new installation. */
export const defaultPlans: Readonly<Record<string, Plan>> = {
  free: {
    name: 'Free',
    retentionDays: { logs: 3, metrics: 7, traces: 3 },
    entitlements: ['logs', 'metrics'],
    limits: { ...contractLimits, bytesPerDay: 1024 ** 3, syntheticRunsPerMonth: 1_000_000 },
  },
  pro: {
    name: 'Pro',
    retentionDays: { logs: 30, metrics: 90, traces: 15 },
    entitlements: everything,
    limits: { ...contractLimits, bytesPerDay: 100 * 1024 ** 3, syntheticRunsPerMonth: 50_000_000 },
  },
  enterprise: {
    name: 'Enterprise',
    retentionDays: { logs: 90, metrics: 395, traces: 30 },
    entitlements: [...everything, ...beyond],
    limits: { ...contractLimits, bytesPerDay: null, syntheticRunsPerMonth: null },
  },
};
