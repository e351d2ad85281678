import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-usage.test.ts'), { servers: 2 });
