import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-saved-queries.test.ts'), { servers: 2 });
