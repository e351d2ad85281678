import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-services-detail.test.ts'), { servers: 2 });
