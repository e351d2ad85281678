import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-kubernetes.test.ts'), { servers: 2 });
