import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-overview.test.ts'), { servers: 2 });
