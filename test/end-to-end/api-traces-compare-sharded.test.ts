import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-traces-compare.test.ts'), { servers: 2 });
