import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-logs.test.ts'), { servers: 2 });
