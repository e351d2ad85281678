import { defineOperation } from '../../kernel/operation.ts';
import { Checklist, checklistOf } from './checklist.ts';

export const showOnboarding = defineOperation({
  method: 'GET',
  path: '/api/onboarding',
  operationId: 'getOnboarding',
  summary: 'Get the Get Started checklist; the state of each step is derived from what happened',
  role: 'viewer',
  response: Checklist,
  handler: ({ caller }, ports) => checklistOf(caller, ports),
});
