import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-llm.test.ts'), { servers: 2 });
