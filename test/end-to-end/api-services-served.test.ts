import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-services.test.ts'));
