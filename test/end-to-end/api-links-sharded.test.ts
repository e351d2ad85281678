import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-links.test.ts'), { servers: 2 });
