import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-traces.test.ts'), { servers: 2 });
