import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-log-patterns.test.ts'));
