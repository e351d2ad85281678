import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-events.test.ts'), { servers: 2 });
