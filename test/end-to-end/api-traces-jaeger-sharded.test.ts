import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-traces-jaeger.test.ts'), { servers: 2 });
