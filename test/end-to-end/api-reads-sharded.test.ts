import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-reads.test.ts'), { servers: 2 });
