import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-reads.test.ts'), { servers: 2 });
