import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-dependencies.test.ts'), { servers: 2 });
