import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-log-pages.test.ts'));
