import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-traces.test.ts'), { servers: 2 });
