import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-logs.test.ts'), { servers: 2 });
