import { runOnClickhouse } from '../end-to-end/served-columns.ts';

await runOnClickhouse(() => import('./llm-hours.test.ts'), { servers: 2 });
