import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-errors.test.ts'));
