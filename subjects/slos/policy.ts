/** Error-budget policies: what a team does when little of a budget is left, or when it burns. */
import { z } from 'zod';
import { type Budget, burnRateOf, type Objective, type Sums } from '../../queries/slos/figures.ts';
import { compared, decimal, dividedBy, fraction } from '../../queries/slos/fraction.ts';
import { alertSeverities } from '../../schemas/alerts.ts';
import { duration, msOf } from '../alerts/durations.ts';
import type { SloFields } from './document.ts';

const hundred = fraction(100n);

const Step = z.strictObject({
  name: z.string().min(1).max(64),
  budgetRemainingBelow: z
    .number()
    .min(-1000)
    .max(100)
    .optional()
    .describe('In percent: the step holds while less of the budget is left. This, or burnRate'),
  burnRate: z.number().positive().max(1_000_000).optional().describe('The step holds at this rate or above'),
  window: duration('1m', '30d').optional().describe('Of the burn rate, in whole slices; required beside it'),
  severity: z.enum(alertSeverities).default('warning').describe('Of its alert'),
  labels: z
    .record(z.string().regex(/^[A-Za-z_][\w.]{0,255}$/), z.string().max(2048))
    .default({})
    .describe('Of its alert, for routing: a receiver with an escalation policy opens an incident'),
  freeze: z.boolean().default(false).describe('Whether nothing is to be deployed while it holds: `oiq slo gate`'),
});

/** What callers write of a policy. */
export const SloPolicyFields = z.strictObject({
  steps: z.array(Step).max(16).default([]).describe('Each holds for itself; while one does, its alert fires'),
});
export type SloPolicyFields = z.output<typeof SloPolicyFields>;
export type SloPolicyStep = SloPolicyFields['steps'][number];

/** A stored policy; undefined where there is none, or where it is of a later version. */
export const readPolicy = (stored: object | undefined): SloPolicyFields | undefined =>
  stored === undefined ? undefined : SloPolicyFields.safeParse({ steps: (stored as { steps?: unknown }).steps }).data;

/** What is wrong with a policy for an objective, each with its path. */
export const policyProblems = ({ steps }: SloPolicyFields, { query: { slice } }: Pick<SloFields, 'query'>) =>
  steps.flatMap(({ name, budgetRemainingBelow: budgetRemainingBelow, burnRate, window }, index) => {
    const checks: readonly (readonly [field: string, isWrong: boolean, message: string])[] = [
      ['name', steps.findIndex((step) => step.name === name) < index, 'is the name of another step'],
      ['burnRate', budgetRemainingBelow === undefined && burnRate === undefined, 'is required, or budgetRemainingBelow'],
      ['burnRate', budgetRemainingBelow !== undefined && burnRate !== undefined, 'must be left out beside budgetRemainingBelow'],
      ['window', burnRate !== undefined && window === undefined, 'is required beside burnRate'],
      ['window', burnRate === undefined && window !== undefined, 'is for burnRate only'],
      ['window', window !== undefined && msOf(window) % msOf(slice) !== 0, `must be whole slices, of ${slice} each`],
    ];
    return checks.flatMap(([field, isWrong, message]) =>
      isWrong ? [{ path: `steps.${index}.${field}`, message }] : [],
    );
  });

/** Lengths of windows in which steps look at burn rates, in milliseconds. */
export const windowsOfPolicy = ({ steps }: SloPolicyFields): number[] =>
  steps.flatMap(({ window }) => (window === undefined ? [] : [msOf(window)]));

/** Whether a step holds: null where nothing is known. */
const holdsOf = (
  { budgetRemainingBelow: budgetRemainingBelow, burnRate, window }: SloPolicyStep,
  { budget, burning, objective }: { budget: Budget; burning: (ms: number) => Sums; objective: Objective },
): boolean | null => {
  if (budgetRemainingBelow !== undefined)
    return budget.leftShare === undefined
      ? null
      : compared(budget.leftShare, dividedBy(decimal(budgetRemainingBelow), hundred)) < 0;
  const rate = burnRateOf(burning(msOf(window ?? '0s')), objective);
  return rate === undefined ? null : compared(rate, decimal(burnRate ?? 0)) >= 0;
};

/** How a policy stands. Nothing is frozen by what is not known. */
export const toPolicyStatus = (policy: SloPolicyFields, known: Parameters<typeof holdsOf>[1]) => {
  const steps = policy.steps.map((step) => ({
    name: step.name,
    freeze: step.freeze,
    labels: step.labels,
    isMet: holdsOf(step, known),
  }));
  return { frozen: steps.some(({ freeze, isMet: holds }) => freeze && holds === true), steps };
};
