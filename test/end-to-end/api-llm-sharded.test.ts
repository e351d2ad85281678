import { runOnClickhouse } from './served-columns.ts';

await runOnClickhouse(() => import('./api-llm.test.ts'), { servers: 2 });
