import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-infrastructure.test.ts'), { servers: 2 });
