import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-services-deployments.test.ts'));
