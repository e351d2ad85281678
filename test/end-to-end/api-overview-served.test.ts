import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-overview.test.ts'));
