import { z } from 'zod';
import { onboardingStateId, onboardingSteps } from '../../../schemas/resources/onboarding.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { Checklist, checklistOf } from './checklist.ts';
import { remember, stateOf } from './state.ts';

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
    await change(async ({ of, record }) => {
      const own = of(caller.tenantId);
      const before = await stateOf(own);
      await remember(own, { dismissed });
      record({
        ...{ id: onboardingStateId, name: 'Get Started' },
        ...{ before: { dismissed: before.dismissed }, after: { dismissed } },
      });
    });
    return checklistOf(caller, ports);
  },
});
