import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-log-patterns.test.ts'), { servers: 2 });
