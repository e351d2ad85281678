/** Suites over several shards that do not need to run each time: a run draws one, or runs the one that is named. */
import { runSeed } from '../parts.ts';
import { runOnClickhouse } from './served-columns.ts';

const suites = [
  'api-ai-root-cause',
  'api-alerts',
  'api-dashboard-query',
  'api-dead-letter',
  'api-incidents',
  'api-kubeletstats',
  'api-onboarding',
  'api-overview-attention',
  'api-prometheus-tenants',
  'api-siem-fim',
  'api-siem-signals',
  'api-siem-threat-matches',
  'api-slo-report',
  'api-slos-measured',
  'api-suggestions',
  'api-templates',
];

const suite = process.env['TEST_SHARDED_SUITE'] ?? suites[runSeed % suites.length];
await runOnClickhouse(() => import(`./${suite}.test.ts`), { servers: 2 });
