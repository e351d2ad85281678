import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-traces-compare.test.ts'));
