import { defineOperation } from '../../kernel/operation.ts';
import { Checklist, checklistOf } from './checklist.ts';

export const showOnboarding = defineOperation({
  method: 'GET',
  path: '/api/onboarding',
  operationId: 'getOnboarding',
  summary: 'Get Started checklist: each step’s state, derived from what really happened',
  role: 'viewer',
  response: Checklist,
  handler: ({ caller }, ports) => checklistOf(caller, ports),
});
