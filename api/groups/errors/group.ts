import { defineGroup } from '../define-group.ts';

export const errorsGroup = defineGroup({
  name: 'errors',
  summary: 'Failures, grouped by their cause.',
  planned: [
    ['GET /api/errors', 'viewer', 'grouped failures: count, users, first/last seen, trend, services, state'],
    ['GET /api/errors/{id}', 'viewer', "one group with its newest occurrence, stack, tags' distribution"],
    ['GET /api/errors/{id}/occurrences', 'viewer', 'occurrences'],
    ['PATCH /api/errors/{id}', 'editor', 'resolve, ignore, assign, reopen; regressions reopen by themselves'],
    ['POST /api/errors/merge', 'editor', 'merge groups'],
  ],
});
