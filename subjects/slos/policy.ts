/** Error budget policies: actions of a team when little of a budget remains, or the burn rate is high */
import { z } from 'zod';
import { alertSeverities } from '../../schemas/alerts.ts';
import { durationSchema, parseDurationMs } from '../alerts/durations.ts';
import type { SloFields } from './document.ts';
import { type Budget, computeBurnRate, type Objective, type Sums } from './slices/error-budget.ts';
import { compare, createFraction, decimalToFraction, divide } from './slices/fraction.ts';

const hundred = createFraction(100n);

const Step = z.strictObject({
  name: z.string().min(1).max(64),
  budgetRemainingBelow: z
    .number()
    .min(-1000)
    .max(100)
    .optional()
    .describe('Percentage; the step is active while less of the budget remains. Mutually exclusive with `burnRate`'),
  burnRate: z.number().positive().max(1_000_000).optional().describe('Minimum burn rate at which the step is active'),
  window: durationSchema('1m', '30d').optional().describe('Window of the burn rate, in full slices; required with it'),
  severity: z.enum(alertSeverities).default('warning').describe("Severity of the step's alert"),
  labels: z
    .record(z.string().regex(/^[A-Za-z_][\w.]{0,255}$/), z.string().max(2048))
    .default({})
    .describe("Labels of the step's alert, for routing: a receiver with an escalation policy opens an incident"),
  freeze: z
    .boolean()
    .default(false)
    .describe('Whether deployments are frozen while the step is active: `oiq slo gate`'),
});

/** Writable fields of a policy */
export const SloPolicyFields = z.strictObject({
  steps: z
    .array(Step)
    .max(16)
    .default([])
    .describe('Independent steps; the alert of a step fires while the step is active'),
});
export type SloPolicyFields = z.output<typeof SloPolicyFields>;
export type SloPolicyStep = SloPolicyFields['steps'][number];

/** Parses a stored policy; returns `undefined` if there is none, or if a later version wrote it. */
export const readPolicy = (stored: object | undefined): SloPolicyFields | undefined =>
  stored === undefined ? undefined : SloPolicyFields.safeParse({ steps: (stored as { steps?: unknown }).steps }).data;

/** Returns the problems of a policy for an SLO, each with its path. */
export const findPolicyProblems = ({ steps }: SloPolicyFields, { query: { slice } }: Pick<SloFields, 'query'>) =>
  steps.flatMap(({ name, budgetRemainingBelow, burnRate, window }, index) => {
    const checks: readonly (readonly [field: string, isWrong: boolean, message: string])[] = [
      ['name', steps.findIndex((step) => step.name === name) < index, 'is the name of another step'],
      [
        'burnRate',
        budgetRemainingBelow === undefined && burnRate === undefined,
        'is required, unless budgetRemainingBelow is set',
      ],
      [
        'burnRate',
        budgetRemainingBelow !== undefined && burnRate !== undefined,
        'must not be set together with budgetRemainingBelow',
      ],
      ['window', burnRate !== undefined && window === undefined, 'is required together with burnRate'],
      ['window', burnRate === undefined && window !== undefined, 'is for burnRate only'],
      [
        'window',
        window !== undefined && parseDurationMs(window) % parseDurationMs(slice) !== 0,
        `must be a multiple of the slice of ${slice}`,
      ],
    ];
    return checks.flatMap(([field, isWrong, message]) =>
      isWrong ? [{ path: `steps.${index}.${field}`, message }] : [],
    );
  });

/** Returns the lengths of the windows in which steps evaluate burn rates, in milliseconds. */
export const listBurnRateWindows = ({ steps }: SloPolicyFields): number[] =>
  steps.flatMap(({ window }) => (window === undefined ? [] : [parseDurationMs(window)]));

/** Returns whether a step is active; `null` if unknown. */
const isStepActive = (
  { budgetRemainingBelow, burnRate, window }: SloPolicyStep,
  { budget, sumBurnWindow, objective }: { budget: Budget; sumBurnWindow: (ms: number) => Sums; objective: Objective },
): boolean | null => {
  if (budgetRemainingBelow !== undefined)
    return budget.remainingShare === undefined
      ? null
      : compare(budget.remainingShare, divide(decimalToFraction(budgetRemainingBelow), hundred)) < 0;
  const rate = computeBurnRate(sumBurnWindow(parseDurationMs(window ?? '0s')), objective);
  return rate === undefined ? null : compare(rate, decimalToFraction(burnRate ?? 0)) >= 0;
};

/** Returns the status of a policy. Unknown values do not cause a freeze. */
export const toPolicyStatus = (policy: SloPolicyFields, measurements: Parameters<typeof isStepActive>[1]) => {
  const steps = policy.steps.map((step) => ({
    name: step.name,
    freeze: step.freeze,
    labels: step.labels,
    isMet: isStepActive(step, measurements),
  }));
  return { frozen: steps.some(({ freeze, isMet: isActive }) => freeze && isActive === true), steps };
};
