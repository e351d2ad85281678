import { z } from 'zod';
import { alertRules } from '../../../schemas/resources/alert-rule.ts';
import { dashboardSummaries } from '../../../schemas/resources/dashboard.ts';
import { licenseKeys } from '../../../schemas/resources/license-key.ts';
import { type OnboardingStep, onboardingStateId, onboardingSteps } from '../../../schemas/resources/onboarding.ts';
import { memberships } from '../../../schemas/resources/user.ts';
import type { Signal } from '../../../schemas/telemetry-signals.ts';
import type { Caller } from '../../callers/caller.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { updateFirstSeen } from './first-seen.ts';
import { readState, updateState } from './state.ts';

const Step = z.strictObject({
  id: z.enum(onboardingSteps),
  title: z.string(),
  isDone: z.boolean(),
  completedAt: z.iso
    .datetime()
    .nullable()
    .describe('When the step was first done; null if it is not done or the time is unknown'),
  dismissed: z.boolean(),
  next: z.string().describe('What to do next, as text'),
  operation: z.string().nullable().describe('The operation that does the step, as method and path'),
  problem: z
    .string()
    .nullable()
    .describe('Why the newest refused data of the last day cannot be read; null without such data'),
});

export const Checklist = z.strictObject({
  steps: z.array(Step),
  dismissed: z.array(z.enum(onboardingSteps)),
  complete: z.boolean().describe('Whether every step is done or dismissed'),
});

interface StepText {
  readonly title: string;
  readonly next: string;
  readonly operation: string | null;
}

const texts: Readonly<Record<OnboardingStep, StepText>> = {
  'create-key': {
    title: 'Create a license key',
    next: 'Create a license key; it is shown once. Senders send it as X-License-Key.',
    operation: 'POST /api/license-keys',
  },
  'send-logs': {
    title: 'Send the first log',
    next: 'Copy a snippet for your language or collector; if no data arrives, run the doctor to find out why.',
    operation: 'GET /api/onboarding/snippets',
  },
  'send-metrics': {
    title: 'Send the first metric',
    next: 'Export metrics over OTLP, or point Prometheus’ remote_write here.',
    operation: 'GET /api/onboarding/snippets',
  },
  'send-traces': {
    title: 'Send the first trace',
    next: 'Auto-instrumentation for your language sends traces without code changes.',
    operation: 'GET /api/onboarding/snippets',
  },
  'create-dashboard': {
    title: 'Create a dashboard',
    next: 'Start with a template, or with the queries that you use most.',
    operation: 'POST /api/dashboards',
  },
  'create-alert': {
    title: 'Create an alert rule',
    next: 'Choose what triggers an alert and who gets it.',
    operation: 'POST /api/alerts/rules',
  },
  'invite-teammate': {
    title: 'Invite a teammate',
    next: 'Invite users by e-mail, with the role that they need.',
    operation: 'POST /api/users/invitations',
  },
};

/** Time when a step was first done; `true` if the time is unknown, `undefined` if it is not done. */
type Completion = string | true | undefined;

/** The entitlement that a step needs. */
const entitlements: Partial<Record<OnboardingStep, Signal>> = {
  'send-logs': 'logs',
  'send-metrics': 'metrics',
  'send-traces': 'traces',
};

const dayMs = 86_400_000;

/** Returns why the newest rejected data of a telemetry signal cannot be read, within the last day; null without any. */
const readSendingProblem = async (
  tenantId: string,
  signal: Signal,
  { deadLetters, clock }: Pick<Ports, 'deadLetters' | 'clock'>,
): Promise<string | null> => {
  const { items } = await deadLetters.list(
    { tenantId, signal, kind: 'refused', state: 'open', fromMs: clock.now() - dayMs },
    { limit: 1 },
  );
  const [newest] = items;
  return newest === undefined ? null : `${signal} were refused at ${newest.receivedAt}: ${newest.message}`;
};

/** Builds the checklist from existing data, without the steps that the plan does not allow. */
const buildChecklist = async (
  { tenantId, plan }: Pick<Caller, 'tenantId' | 'plan'>,
  ports: Pick<Ports, 'documents' | 'columns' | 'deadLetters' | 'clock'>,
): Promise<z.output<typeof Checklist>> => {
  const { documents, columns } = ports;
  const tenantDocuments = documents.forTenant(tenantId);
  const state = await readState(tenantDocuments);
  const [firstSeen, keys, rules, members, dashboardPage] = await Promise.all([
    updateFirstSeen(tenantId, state.firstSeen, { columns, documents }),
    tenantDocuments.collection(licenseKeys).list({ sort: { createdAt: 1 }, limit: 1 }),
    tenantDocuments.collection(alertRules).list({ sort: { createdAt: 1 }, limit: 1 }),
    tenantDocuments.collection(memberships).list({ sort: { createdAt: 1 }, limit: 2 }),
    tenantDocuments.collection(dashboardSummaries).list({ sort: { createdAt: 1 }, limit: 1 }),
  ]);
  const completions: Readonly<Record<OnboardingStep, Completion>> = {
    'create-key': keys.items[0]?.createdAt,
    'send-logs': firstSeen.logs,
    'send-metrics': firstSeen.metrics,
    'send-traces': firstSeen.traces,
    'create-dashboard': dashboardPage.items[0]?.of.createdAt,
    'create-alert': rules.items[0]?.createdAt,
    'invite-teammate': members.items[1]?.createdAt,
  };
  const availableSteps = onboardingSteps.filter(
    (id) => plan.entitlements.includes(entitlements[id] ?? '') || !entitlements[id],
  );
  const readStep = async (id: OnboardingStep) => {
    const completion = completions[id];
    const signal = entitlements[id];
    return {
      id,
      ...texts[id],
      isDone: completion !== undefined,
      dismissed: state.dismissed.includes(id),
      completedAt: typeof completion === 'string' ? completion : null,
      problem: signal === undefined ? null : await readSendingProblem(tenantId, signal, ports),
    };
  };
  const steps = await Promise.all(availableSteps.map(readStep));
  return { steps, dismissed: state.dismissed, complete: steps.every((step) => step.isDone || step.dismissed) };
};

export const showOnboarding = defineOperation({
  method: 'GET',
  path: '/api/onboarding',
  operationId: 'getOnboarding',
  summary: 'Get the Get Started checklist; the state of each step is derived from events',
  role: 'viewer',
  response: Checklist,
  handler: ({ caller }, ports) => buildChecklist(caller, ports),
});

export const dismissOnboardingSteps = defineOperation({
  method: 'PUT',
  path: '/api/onboarding',
  operationId: 'setOnboarding',
  summary: 'Set the dismissed steps; all other steps are restored',
  role: 'editor',
  audit: 'onboarding.update',
  body: z.strictObject({
    dismissed: z.array(z.enum(onboardingSteps)).max(onboardingSteps.length),
    steps: z.unknown().optional().describe('Ignored, so that a response can be sent back'),
    complete: z.unknown().optional().describe('Ignored'),
  }),
  response: Checklist,
  async handler({ caller, body, change }, ports) {
    const dismissed = onboardingSteps.filter((step) => body.dismissed.includes(step));
    await change(async ({ forTenant, record }) => {
      const tenantDocuments = forTenant(caller.tenantId);
      const before = await readState(tenantDocuments);
      await updateState(tenantDocuments, { dismissed });
      record({
        id: onboardingStateId,
        name: 'Get Started',
        before: { dismissed: before.dismissed },
        after: { dismissed },
      });
    });
    return buildChecklist(caller, ports);
  },
});
