import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-databases.test.ts'));
