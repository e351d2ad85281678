import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-closing.test.ts'), { servers: 2 });
