import { defineGroup } from '../define-group.ts';

export const slosGroup = defineGroup({
  name: 'slos',
  summary: 'Service level objectives, their error budgets and reports.',
  planned: [
    ['GET /api/slos', 'viewer', 'list with status and budget left'],
    ['POST /api/slos', 'editor', 'create'],
    ['GET /api/slos/{id}', 'viewer', 'one'],
    ['PUT /api/slos/{id}', 'editor', 'update; only fields present are written'],
    ['DELETE /api/slos/{id}', 'editor', 'delete'],
    ['GET /api/slos/{id}/status', 'viewer', 'SLI, budget left, burn rates over the windows'],
    ['GET /api/slos/{id}/burn-rate', 'viewer', 'series'],
    ['GET /api/slos/{id}/forecast', 'viewer', 'when the budget runs out, with an interval'],
    ['GET /api/slos/{id}/policy', 'viewer', 'error-budget policy'],
    ['PUT /api/slos/{id}/policy', 'editor', 'set thresholds and what happens at each'],
    ['GET /api/slos/{id}/report', 'viewer', 'SLA report per calendar period (JSON, CSV)'],
    ['POST /api/slos/import', 'editor', 'OpenSLO YAML'],
    ['GET /api/slos/{id}/export', 'viewer', 'OpenSLO YAML'],
  ],
});
