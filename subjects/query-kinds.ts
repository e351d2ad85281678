/** Registers all kinds of queries. Modules that run, validate or describe queries import this file. */
import { telemetryKinds } from '../queries/kinds/index.ts';
import { registerQueryKinds } from '../queries/query-kind.ts';
import { setWorkerSetupModule } from '../queries/worker.ts';
import { anomaly } from './anomalies/query-kind.ts';
import { slo } from './slos/query-kind.ts';
import { check } from './synthetics/query-kind.ts';

registerQueryKinds({
  ...telemetryKinds,
  slo,
  check,
  anomaly,
});
setWorkerSetupModule(import.meta.url);
